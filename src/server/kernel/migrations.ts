/**
 * Migrations from 12 on, and the list of all of them. A released migration never changes: a change of the schema is a new
 * migration at the end of the list, and `npm run schemas` writes `new-database.ts` from all of them.
 */
import { CLUSTER_AUTH, DATA_FILE, FOUNDATIONS, SEEDED_THINGS } from './migrations-1-to-4.ts';
import {
  CLIENT_FIELDS,
  CONFIG_ANNOTATIONS,
  IDS_OF_ACCESS,
  NAMESPACES_AND_MOUNTS,
  RELEASES,
  releasesUpTo,
  SERVICE_TOKEN_LIVES,
  WORKSPACE_RECORDS,
} from './migrations-5-to-11.ts';

const PRE_RELEASES: Readonly<Record<string, string>> = {
  '0.12.0': 'alpha1 alpha2 alpha3 alpha4 beta1 beta2 rc1',
  '0.13.0': 'beta1 beta2 beta3 rc1',
  '0.14.0': 'beta1 beta2 rc1',
  '0.15.0': 'beta1 beta2 rc1 rc2',
  '1.1.0': 'beta1 beta2 rc1',
  '1.2.0': 'beta1 rc1 rc2',
  '1.3.0': 'beta1 rc1',
  '1.4.0': 'beta1 beta2 rc1',
  '1.5.0': 'beta1 beta2 rc1 rc2',
  '1.6.0': 'beta1 beta2 beta3 rc1',
  '1.7.0': 'beta1 beta2 rc1 rc2',
  '1.8.0': 'beta1 rc1 rc2',
  '1.9.0': 'beta1 rc1 rc2 rc3',
  '1.10.0': 'beta1 rc1 rc2 rc3',
  '1.11.0': 'beta1 beta2 rc1 rc2 rc3',
};

const VERSIONS = [
  ...releasesUpTo('0.7.13 0.8.8 0.9.11 0.10.8'),
  ...Object.entries(PRE_RELEASES).flatMap(([version, names]) =>
    names.split(' ').map((name) => `${version}-${name}`),
  ),
];

const OLDER_RELEASES = `
INSERT OR IGNORE INTO releases (version) VALUES ${VERSIONS.map((version) => `('${version}')`).join(', ')};
`;

/** Who made a token of an organization or a team. */
const TOKEN_MAKERS = `
ALTER TABLE api_tokens ADD COLUMN created_by_id TEXT REFERENCES users (id) ON DELETE SET NULL;
`;

/** Settings of teams that clients write and read back: rights over the organization, single sign-on, custom access to a project. */
const RIGHTS_OF_TEAMS = `
-- JSON: the names of the rights that decide nothing here.
ALTER TABLE teams ADD COLUMN kept_rights TEXT NOT NULL DEFAULT '[]';
ALTER TABLE teams ADD COLUMN allow_member_token_management INTEGER NOT NULL DEFAULT 1;
ALTER TABLE teams ADD COLUMN sso_team_id TEXT;

CREATE TABLE new_project_access (
  id TEXT,
  team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  access TEXT NOT NULL CHECK (access IN ('read', 'write', 'maintain', 'admin', 'custom')),
  -- JSON: what a custom access grants.
  custom_permissions TEXT,
  PRIMARY KEY (team_id, project_id)
) STRICT, WITHOUT ROWID;
INSERT INTO new_project_access (id, team_id, project_id, access)
  SELECT id, team_id, project_id, access FROM team_project_access;
DROP TABLE team_project_access;
ALTER TABLE new_project_access RENAME TO team_project_access;
CREATE UNIQUE INDEX team_project_access_by_id ON team_project_access (id);
`;

/**
 * States in parts, so that a whole state is never in memory. A file without a size is still being uploaded, or its upload was aborted.
 */
const STATE_FILES = `
CREATE TABLE state_files (
  id INTEGER PRIMARY KEY,
  state_version_id TEXT NOT NULL REFERENCES state_versions (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('state', 'json-state')),
  size INTEGER,
  md5 TEXT,
  CHECK ((size IS NULL) = (md5 IS NULL))
) STRICT;
CREATE UNIQUE INDEX whole_state_files ON state_files (state_version_id, kind) WHERE size IS NOT NULL;
CREATE INDEX state_files_by_version ON state_files (state_version_id);

CREATE TABLE state_file_parts (
  file_id INTEGER NOT NULL REFERENCES state_files (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (file_id, position)
) STRICT;

INSERT INTO state_files (state_version_id, kind, size, md5)
  SELECT id, 'state', LENGTH(CAST(state AS BLOB)), COALESCE(md5, '') FROM state_versions WHERE state IS NOT NULL
  UNION ALL
  SELECT id, 'json-state', LENGTH(CAST(json_state AS BLOB)), '' FROM state_versions WHERE json_state IS NOT NULL;
INSERT INTO state_file_parts (file_id, position, bytes)
  SELECT f.id, 0, CAST(CASE f.kind WHEN 'state' THEN s.state ELSE s.json_state END AS BLOB)
  FROM state_files f JOIN state_versions s ON s.id = f.state_version_id;
ALTER TABLE state_versions DROP COLUMN state;
ALTER TABLE state_versions DROP COLUMN json_state;
`;

/**
 * Runs that the service creates itself, and the engine version of each run; tokens for the audit trail of a deleted organization.
 */
const AUTOMATIC_RUNS = `
-- The release that the workspace's version chose when the run was made.
ALTER TABLE runs ADD COLUMN engine_version TEXT;
CREATE INDEX pending_runs ON runs (workspace_id) WHERE status = 'pending';

-- The time for which the last destroy run was made that nobody asked for.
ALTER TABLE workspaces ADD COLUMN destroyed_for TEXT;
CREATE INDEX workspaces_by_destroy_time ON workspaces (auto_destroy_at) WHERE auto_destroy_at IS NOT NULL;
CREATE INDEX workspaces_with_duration ON workspaces (id) WHERE auto_destroy_activity_duration IS NOT NULL;

-- No reference: the organization is no more.
ALTER TABLE api_tokens ADD COLUMN deleted_organization_id TEXT;
`;

/** Variable sets, whose variables are like those of workspaces, and run triggers. */
const VARIABLE_SETS = `
CREATE TABLE variable_sets (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  -- The project that owns it; NULL where the organization does.
  project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  global INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (organization_id, name)
) STRICT;

CREATE TABLE variable_set_workspaces (
  variable_set_id TEXT NOT NULL REFERENCES variable_sets (id) ON DELETE CASCADE,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  PRIMARY KEY (variable_set_id, workspace_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX variable_sets_of_workspace ON variable_set_workspaces (workspace_id);

CREATE TABLE variable_set_projects (
  variable_set_id TEXT NOT NULL REFERENCES variable_sets (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  PRIMARY KEY (variable_set_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX variable_sets_of_project ON variable_set_projects (project_id);

CREATE TABLE new_variables (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
  variable_set_id TEXT REFERENCES variable_sets (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  description TEXT,
  category TEXT NOT NULL CHECK (category IN ('engine', 'env')),
  hcl INTEGER NOT NULL,
  sensitive INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (workspace_id, category, key),
  UNIQUE (variable_set_id, category, key),
  CHECK ((workspace_id IS NULL) <> (variable_set_id IS NULL))
) STRICT;
INSERT INTO new_variables
    (position, id, workspace_id, key, value, description, category, hcl, sensitive, created_at)
  SELECT position, id, workspace_id, key, value, description, category, hcl, sensitive, created_at FROM variables;
DROP TABLE variables;
ALTER TABLE new_variables RENAME TO variables;

CREATE TABLE run_triggers (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- The workspace whose runs begin those of the other one.
  sourceable_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  created_at TEXT NOT NULL,
  UNIQUE (workspace_id, sourceable_id)
) STRICT;
CREATE INDEX run_triggers_by_source ON run_triggers (sourceable_id);
`;

// A list without a sort is in the order of creation. SQLite adds the row number to each index, so the rows of an organization are
// read in that order. Without this index, each page sorts all workspaces of the organization.
const WORKSPACES_BY_AGE = `
CREATE INDEX workspaces_by_organization ON workspaces (organization_id);
`;

// The schema's history, in order. After the first n of these, `user_version` of a database is n.
// Invariant: a released migration never changes; a change of the schema is a new text at the end of this list.

export const MIGRATIONS: readonly string[] = [
  FOUNDATIONS,
  CLUSTER_AUTH,
  SEEDED_THINGS,
  DATA_FILE,
  WORKSPACE_RECORDS,
  IDS_OF_ACCESS,
  RELEASES,
  CONFIG_ANNOTATIONS,
  NAMESPACES_AND_MOUNTS,
  SERVICE_TOKEN_LIVES,
  CLIENT_FIELDS,
  OLDER_RELEASES,
  TOKEN_MAKERS,
  RIGHTS_OF_TEAMS,
  STATE_FILES,
  AUTOMATIC_RUNS,
  VARIABLE_SETS,
  WORKSPACES_BY_AGE,
];
