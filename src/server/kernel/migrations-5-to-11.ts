/** Migrations 5 to 11: records of a workspace, ids, releases of the engine, namespaces and mounts, lifetimes of service tokens. */

export const WORKSPACE_RECORDS = `
ALTER TABLE workspaces ADD COLUMN auto_destroy_status TEXT;
ALTER TABLE workspaces ADD COLUMN readme TEXT;

-- Sent by clients without any change to the state itself, so it is kept as the text that was sent.
ALTER TABLE state_versions ADD COLUMN lineage TEXT NOT NULL DEFAULT '';
ALTER TABLE state_versions ADD COLUMN md5 TEXT;
ALTER TABLE state_versions ADD COLUMN state TEXT;
ALTER TABLE state_versions ADD COLUMN json_state TEXT;
ALTER TABLE state_versions ADD COLUMN resources TEXT NOT NULL DEFAULT '[]';
ALTER TABLE state_versions ADD COLUMN run_id TEXT REFERENCES runs (id) ON DELETE SET NULL;
ALTER TABLE state_versions ADD COLUMN created_by_id TEXT REFERENCES users (id) ON DELETE SET NULL;

CREATE TABLE state_version_outputs (
  id TEXT PRIMARY KEY,
  state_version_id TEXT NOT NULL REFERENCES state_versions (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  detailed_type TEXT NOT NULL,
  value TEXT NOT NULL,
  sensitive INTEGER NOT NULL,
  UNIQUE (state_version_id, name)
) STRICT;

CREATE TABLE configuration_versions (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('pending', 'uploaded', 'errored', 'archived')),
  source TEXT NOT NULL,
  speculative INTEGER NOT NULL,
  provisional INTEGER NOT NULL,
  auto_queue_runs INTEGER NOT NULL,
  error_message TEXT,
  ingress_id TEXT UNIQUE,
  ingress TEXT,
  created_by_id TEXT REFERENCES users (id) ON DELETE SET NULL,
  created_at TEXT NOT NULL,
  CHECK ((ingress_id IS NULL) = (ingress IS NULL))
) STRICT;
CREATE INDEX configuration_versions_by_workspace ON configuration_versions (workspace_id, created_at);

ALTER TABLE runs ADD COLUMN plan_id TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN apply_id TEXT NOT NULL DEFAULT '';
UPDATE runs SET plan_id = 'plan-' || lower(hex(randomblob(8))), apply_id = 'apply-' || lower(hex(randomblob(8)));
CREATE UNIQUE INDEX runs_by_plan ON runs (plan_id);
CREATE UNIQUE INDEX runs_by_apply ON runs (apply_id);
ALTER TABLE runs ADD COLUMN message TEXT;
ALTER TABLE runs ADD COLUMN source TEXT NOT NULL DEFAULT 'api';
ALTER TABLE runs ADD COLUMN is_destroy INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN plan_only INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN auto_apply INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN resource_additions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN resource_changes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN resource_destructions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN status_timestamps TEXT NOT NULL DEFAULT '{}';
ALTER TABLE runs ADD COLUMN configuration_version_id TEXT REFERENCES configuration_versions (id) ON DELETE SET NULL;
ALTER TABLE runs ADD COLUMN created_by_id TEXT REFERENCES users (id) ON DELETE SET NULL;

CREATE TABLE assessment_results (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  drifted INTEGER NOT NULL,
  succeeded INTEGER NOT NULL,
  error_message TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX assessment_results_by_workspace ON assessment_results (workspace_id, created_at);

CREATE TABLE variables (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  description TEXT,
  category TEXT NOT NULL CHECK (category IN ('engine', 'env')),
  hcl INTEGER NOT NULL,
  sensitive INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (workspace_id, category, key)
) STRICT;
`;

/**
 * Ids for what had no id of its own and is now a record: a team's access to a project or a workspace, and the client
 * of an OAuth token.
 */
export const IDS_OF_ACCESS = `
ALTER TABLE team_workspace_access ADD COLUMN id TEXT;
UPDATE team_workspace_access SET id = 'tws-' || lower(hex(randomblob(8)));
CREATE UNIQUE INDEX team_workspace_access_by_id ON team_workspace_access (id);

ALTER TABLE team_project_access ADD COLUMN id TEXT;
UPDATE team_project_access SET id = 'tprj-' || lower(hex(randomblob(8)));
CREATE UNIQUE INDEX team_project_access_by_id ON team_project_access (id);

ALTER TABLE oauth_tokens ADD COLUMN client_id TEXT;
UPDATE oauth_tokens SET client_id = 'oc-' || lower(hex(randomblob(8)));
CREATE UNIQUE INDEX oauth_tokens_by_client ON oauth_tokens (client_id);

ALTER TABLE api_tokens ADD COLUMN is_main INTEGER NOT NULL DEFAULT 0;
-- Who uses a user's token in that user's name.
ALTER TABLE api_tokens ADD COLUMN impersonator_id TEXT REFERENCES users (id) ON DELETE CASCADE;
-- An organization's token that reads its audit trail and may do nothing else.
ALTER TABLE api_tokens ADD COLUMN is_for_audit_trails INTEGER NOT NULL DEFAULT 0;
`;

/** The last patch of each minor version of the engine. Workspaces may use all patches from 0 on; a seed adds other releases. */
const LAST_PATCHES =
  '0.11.15 0.12.31 0.13.7 0.14.11 0.15.5 1.0.11 1.1.9 1.2.9 1.3.10 1.4.7 1.5.7 1.6.6 1.7.5 1.8.5 1.9.8 1.10.5 1.11.4';

/** All releases of some minor versions, each from patch 0 to its last. */
export function releasesUpTo(lastPatches: string): string[] {
  return lastPatches.split(' ').flatMap((last) => {
    const [line, patch] = [last.slice(0, last.lastIndexOf('.')), Number(last.split('.').at(-1))];
    return Array.from({ length: patch + 1 }, (_, number) => `${line}.${number}`);
  });
}

const VERSIONS = [...releasesUpTo(LAST_PATCHES), '1.10.0-beta1', '1.10.0-rc1', '1.11.0-beta1', '1.11.0-rc1'];

export const RELEASES = `
CREATE TABLE releases (
  version TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
INSERT INTO releases (version) VALUES ${VERSIONS.map((version) => `('${version}')`).join(', ')};
`;

/** Whether annotations of an account become metadata of its alias: a field of a config that only some services have. */
export const CONFIG_ANNOTATIONS = `
ALTER TABLE cluster_auth_configs ADD COLUMN use_annotations_as_alias_metadata INTEGER NOT NULL DEFAULT 0;
`;

/**
 * Namespaces of the secrets service, each with mounts and policies of its own, and the settings of a mount.
 * Config and roles refer to a mount's id: two namespaces may have a mount at the same path, and a mount that
 * is disabled and enabled again is a new one. The root namespace is the empty path and has no row.
 */
export const NAMESPACES_AND_MOUNTS = `
CREATE TABLE service_namespaces (
  path TEXT PRIMARY KEY CHECK (path <> ''),
  id TEXT NOT NULL,
  uuid TEXT NOT NULL,
  custom_metadata TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE mounts RENAME COLUMN path TO id;
ALTER TABLE mounts ADD COLUMN namespace TEXT NOT NULL DEFAULT '';
ALTER TABLE mounts ADD COLUMN path TEXT NOT NULL DEFAULT '';
ALTER TABLE mounts ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
ALTER TABLE mounts ADD COLUMN uuid TEXT NOT NULL DEFAULT '';
UPDATE mounts SET path = id, uuid = lower(hex(randomblob(16)));
CREATE UNIQUE INDEX mounts_by_place ON mounts (namespace, path);

CREATE TABLE policies_of_namespaces (
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  rules TEXT NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;
INSERT INTO policies_of_namespaces SELECT '', name, rules, '' FROM service_policies;
DROP TABLE service_policies;
ALTER TABLE policies_of_namespaces RENAME TO service_policies;
`;

/**
 * The limits of a service token: its type, how long it lives, how often and from where it may be used, and the login that
 * created it. Durations are in seconds, 0 means none.
 * A token that a login created is deleted with its mount. An entity is an account that logged in: one for each alias.
 */
export const SERVICE_TOKEN_LIVES = `
ALTER TABLE service_tokens ADD COLUMN namespace TEXT NOT NULL DEFAULT '';
ALTER TABLE service_tokens ADD COLUMN type TEXT NOT NULL DEFAULT 'service' CHECK (type IN ('service', 'batch'));
ALTER TABLE service_tokens ADD COLUMN path TEXT NOT NULL DEFAULT 'auth/token/create';
ALTER TABLE service_tokens ADD COLUMN meta TEXT NOT NULL DEFAULT 'null';
ALTER TABLE service_tokens ADD COLUMN creation_ttl INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN explicit_max_ttl INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN period INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN num_uses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN uses_left INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN bound_cidrs TEXT NOT NULL DEFAULT '[]';
ALTER TABLE service_tokens ADD COLUMN renewable INTEGER NOT NULL DEFAULT 0;
ALTER TABLE service_tokens ADD COLUMN renewed_at TEXT;
ALTER TABLE service_tokens ADD COLUMN entity_id TEXT NOT NULL DEFAULT '';
ALTER TABLE service_tokens ADD COLUMN role TEXT NOT NULL DEFAULT '';
ALTER TABLE service_tokens ADD COLUMN mount TEXT REFERENCES mounts (id) ON DELETE CASCADE;
ALTER TABLE service_tokens ADD COLUMN parent TEXT REFERENCES service_tokens (accessor) ON DELETE CASCADE;

CREATE TABLE service_entities (
  id TEXT PRIMARY KEY,
  mount TEXT NOT NULL REFERENCES mounts (id) ON DELETE CASCADE,
  alias_name TEXT NOT NULL,
  alias_metadata TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (mount, alias_name)
) STRICT;
`;

/** Fields that clients of the real service read back: whether a state version was forced, and settings of an OAuth client. */
export const CLIENT_FIELDS = `
ALTER TABLE state_versions ADD COLUMN forced INTEGER NOT NULL DEFAULT 0;
ALTER TABLE oauth_tokens ADD COLUMN api_url TEXT;
ALTER TABLE oauth_tokens ADD COLUMN organization_scoped INTEGER NOT NULL DEFAULT 1;
`;
