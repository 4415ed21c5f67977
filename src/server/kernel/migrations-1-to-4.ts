/**
 * Migrations 1 to 4: the first schema, as SQL texts. Booleans are 0 and 1, times are ISO 8601 in UTC, lists and objects that no
 * query reads are JSON text, and tokens are kept as SHA-256 hashes.
 */

export const FOUNDATIONS = `
CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  email TEXT,
  default_execution_mode TEXT NOT NULL DEFAULT 'remote' CHECK (default_execution_mode IN ('remote', 'local', 'agent')),
  default_agent_pool_id TEXT REFERENCES agent_pools (id) ON DELETE SET NULL,
  allow_force_delete_workspaces INTEGER NOT NULL DEFAULT 0,
  assessments_enforced INTEGER NOT NULL DEFAULT 0,
  global_remote_state_default INTEGER NOT NULL DEFAULT 0,
  flags TEXT NOT NULL DEFAULT '{}',
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  is_default INTEGER NOT NULL DEFAULT 0,
  default_execution_mode TEXT CHECK (default_execution_mode IN ('remote', 'local', 'agent')),
  default_agent_pool_id TEXT REFERENCES agent_pools (id) ON DELETE SET NULL,
  auto_destroy_activity_duration TEXT,
  created_at TEXT NOT NULL,
  UNIQUE (organization_id, name)
) STRICT;
CREATE UNIQUE INDEX one_default_project ON projects (organization_id) WHERE is_default = 1;

CREATE TABLE agent_pools (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  organization_scoped INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL,
  UNIQUE (organization_id, name)
) STRICT;

CREATE TABLE ssh_keys (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (organization_id, name)
) STRICT;

CREATE TABLE oauth_tokens (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  client_name TEXT,
  service_provider TEXT NOT NULL,
  http_url TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE vcs_app_installations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  service_provider TEXT NOT NULL,
  http_url TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  username TEXT NOT NULL UNIQUE,
  email TEXT,
  is_service_account INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE organization_memberships (
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE teams (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  manage_workspaces INTEGER NOT NULL DEFAULT 0,
  read_workspaces INTEGER NOT NULL DEFAULT 0,
  manage_projects INTEGER NOT NULL DEFAULT 0,
  visibility TEXT NOT NULL DEFAULT 'organization' CHECK (visibility IN ('organization', 'secret')),
  created_at TEXT NOT NULL,
  UNIQUE (organization_id, name)
) STRICT;

CREATE TABLE team_memberships (
  team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (team_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_memberships_by_user ON team_memberships (user_id);

CREATE TABLE team_project_access (
  team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  access TEXT NOT NULL CHECK (access IN ('read', 'write', 'maintain', 'admin')),
  PRIMARY KEY (team_id, project_id)
) STRICT, WITHOUT ROWID;

-- A user's token has neither team nor organization; those of a team or an organization act as a service account.
CREATE TABLE api_tokens (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  team_id TEXT REFERENCES teams (id) ON DELETE CASCADE,
  organization_id TEXT REFERENCES organizations (id) ON DELETE CASCADE,
  description TEXT,
  created_at TEXT NOT NULL,
  expires_at TEXT,
  CHECK (team_id IS NULL OR organization_id IS NULL)
) STRICT;

CREATE TABLE service_policies (
  name TEXT PRIMARY KEY,
  rules TEXT NOT NULL
) STRICT;

CREATE TABLE service_tokens (
  accessor TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  policies TEXT NOT NULL,
  created_at TEXT NOT NULL,
  expires_at TEXT
) STRICT;

CREATE TABLE mounts (
  path TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

-- execution_mode NULL means inherited from the project or the organization. auto_destroy_at is the explicit time; the
-- one that follows from the activity duration is computed when read.
CREATE TABLE workspaces (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  description TEXT,
  execution_mode TEXT CHECK (execution_mode IN ('remote', 'local', 'agent')),
  agent_pool_id TEXT REFERENCES agent_pools (id),
  agent_pool_overwritten INTEGER NOT NULL,
  allow_destroy_plan INTEGER NOT NULL,
  assessments_enabled INTEGER NOT NULL,
  auto_apply INTEGER NOT NULL,
  auto_apply_run_trigger INTEGER NOT NULL,
  auto_destroy_at TEXT,
  auto_destroy_activity_duration TEXT,
  inherits_project_auto_destroy INTEGER NOT NULL,
  engine_version TEXT NOT NULL,
  file_triggers_enabled INTEGER NOT NULL,
  global_remote_state INTEGER NOT NULL,
  project_remote_state INTEGER NOT NULL DEFAULT 0,
  queue_all_runs INTEGER NOT NULL,
  source_name TEXT,
  source_url TEXT,
  speculative_enabled INTEGER NOT NULL,
  structured_run_output_enabled INTEGER NOT NULL,
  trigger_patterns TEXT NOT NULL,
  trigger_prefixes TEXT NOT NULL,
  vcs_repo TEXT,
  working_directory TEXT,
  ssh_key_id TEXT REFERENCES ssh_keys (id) ON DELETE SET NULL,
  locked_by_type TEXT CHECK (locked_by_type IN ('users', 'teams', 'runs')),
  locked_by_id TEXT,
  locked_reason TEXT,
  resource_count INTEGER NOT NULL DEFAULT 0,
  current_state_version_id TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  latest_change_at TEXT NOT NULL,
  UNIQUE (organization_id, name),
  CHECK ((locked_by_type IS NULL) = (locked_by_id IS NULL))
) STRICT;
CREATE INDEX workspaces_by_project ON workspaces (project_id);

CREATE TABLE team_workspace_access (
  team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  access TEXT NOT NULL CHECK (access IN ('read', 'plan', 'write', 'admin', 'custom')),
  custom_permissions TEXT,
  PRIMARY KEY (team_id, workspace_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_workspace_access_by_workspace ON team_workspace_access (workspace_id);

CREATE TABLE remote_state_consumers (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  consumer_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  PRIMARY KEY (workspace_id, consumer_id),
  CHECK (workspace_id <> consumer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX remote_state_consumers_by_consumer ON remote_state_consumers (consumer_id);

CREATE TABLE tags (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (organization_id, name)
) STRICT;

-- The position keeps the order in which tags were added: it is the order of a workspace's tag-names.
CREATE TABLE workspace_tags (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  tag_id TEXT NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
  UNIQUE (workspace_id, tag_id)
) STRICT;
CREATE INDEX workspace_tags_by_tag ON workspace_tags (tag_id);

CREATE TABLE tag_bindings (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
  project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (workspace_id, key),
  UNIQUE (project_id, key),
  CHECK ((workspace_id IS NULL) <> (project_id IS NULL))
) STRICT;
CREATE INDEX tag_bindings_by_key ON tag_bindings (key, value);

CREATE TABLE data_retention_policies (
  id TEXT PRIMARY KEY,
  organization_id TEXT UNIQUE REFERENCES organizations (id) ON DELETE CASCADE,
  workspace_id TEXT UNIQUE REFERENCES workspaces (id) ON DELETE CASCADE,
  type TEXT NOT NULL CHECK (type IN ('data-retention-policy-delete-olders', 'data-retention-policy-dont-deletes')),
  delete_older_than_n_days INTEGER CHECK (delete_older_than_n_days > 0),
  created_at TEXT NOT NULL,
  CHECK ((workspace_id IS NULL) <> (organization_id IS NULL))
) STRICT;

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  plan_duration_ms INTEGER,
  apply_duration_ms INTEGER,
  failed_policy_check INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_workspace ON runs (workspace_id, created_at);

CREATE TABLE state_versions (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  serial INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'finalized')),
  intermediate INTEGER NOT NULL,
  resource_count INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX state_versions_by_workspace ON state_versions (workspace_id, serial);

-- The trail outlives its organization: the last event tells who deleted it.
CREATE TABLE audit_events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  organization_id TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  actor_type TEXT NOT NULL CHECK (actor_type IN ('Client', 'Impersonated', 'System')),
  impersonator_id TEXT,
  request_id TEXT,
  resource_id TEXT NOT NULL,
  resource_type TEXT NOT NULL,
  resource_action TEXT NOT NULL,
  meta TEXT
) STRICT;
CREATE INDEX audit_events_by_organization ON audit_events (organization_id, timestamp);
CREATE INDEX audit_events_by_time ON audit_events (timestamp);
`;

/**
 * The cluster authentication method: one config and any number of roles for each mount.
 * The reviewer JWT has its own column, so that no other query can return it by accident. A role is one JSON text with the
 * field names of the wire: every write replaces the whole text, and no query reads its members. NOCASE is not needed: names
 * are in lower case before they are stored.
 */
export const CLUSTER_AUTH = `
CREATE TABLE cluster_auth_configs (
  mount TEXT PRIMARY KEY REFERENCES mounts (path) ON DELETE CASCADE,
  cluster_host TEXT NOT NULL CHECK (cluster_host <> ''),
  cluster_ca_cert TEXT NOT NULL,
  token_reviewer_jwt TEXT NOT NULL,
  pem_keys TEXT NOT NULL,
  disable_local_ca_jwt INTEGER NOT NULL,
  disable_iss_validation INTEGER NOT NULL,
  issuer TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

CREATE TABLE cluster_auth_roles (
  mount TEXT NOT NULL REFERENCES mounts (path) ON DELETE CASCADE,
  name TEXT NOT NULL CHECK (name = lower(name)),
  fields TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (mount, name)
) STRICT, WITHOUT ROWID;
`;

/**
 * The things that seeds have created in this file, each by its identity in the seed, as JSON text. A seed never creates or
 * changes them again, even if requests have changed or deleted them since.
 */
export const SEEDED_THINGS = `
CREATE TABLE seeded_things (
  thing TEXT PRIMARY KEY,
  seeded_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/**
 * What a data file records about itself: the key with which a server proves that it serves the file, and the process of the last
 * server. The key is stored nowhere else, and only the file's owner can read it.
 */
export const DATA_FILE = `
CREATE TABLE data_file (
  proof_key TEXT NOT NULL,
  served_by_pid INTEGER
) STRICT;
INSERT INTO data_file (proof_key) VALUES (lower(hex(randomblob(32))));
`;
