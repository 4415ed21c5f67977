/** Written by "npm run schemas" from the migrations: what they make of an empty database. */
export const NEW_DATABASE = `
CREATE TABLE organizations (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, email TEXT, default_execution_mode TEXT NOT NULL DEFAULT 'remote' CHECK (default_execution_mode IN ('remote', 'local', 'agent')), default_agent_pool_id TEXT REFERENCES agent_pools (id) ON DELETE SET NULL, allow_force_delete_workspaces INTEGER NOT NULL DEFAULT 0, assessments_enforced INTEGER NOT NULL DEFAULT 0, global_remote_state_default INTEGER NOT NULL DEFAULT 0, flags TEXT NOT NULL DEFAULT '{}', created_at TEXT NOT NULL) STRICT;
CREATE TABLE projects (id TEXT PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE, name TEXT NOT NULL, description TEXT, is_default INTEGER NOT NULL DEFAULT 0, default_execution_mode TEXT CHECK (default_execution_mode IN ('remote', 'local', 'agent')), default_agent_pool_id TEXT REFERENCES agent_pools (id) ON DELETE SET NULL, auto_destroy_activity_duration TEXT, created_at TEXT NOT NULL, UNIQUE (organization_id, name)) STRICT;
CREATE UNIQUE INDEX one_default_project ON projects (organization_id) WHERE is_default = 1;
CREATE TABLE agent_pools (id TEXT PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE, name TEXT NOT NULL, organization_scoped INTEGER NOT NULL DEFAULT 1, created_at TEXT NOT NULL, UNIQUE (organization_id, name)) STRICT;
CREATE TABLE ssh_keys (id TEXT PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE, name TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE (organization_id, name)) STRICT;
CREATE TABLE oauth_tokens (id TEXT PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE, client_name TEXT, service_provider TEXT NOT NULL, http_url TEXT NOT NULL, created_at TEXT NOT NULL , client_id TEXT, api_url TEXT, organization_scoped INTEGER NOT NULL DEFAULT 1) STRICT;
CREATE TABLE vcs_app_installations (id TEXT PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE, service_provider TEXT NOT NULL, http_url TEXT NOT NULL, created_at TEXT NOT NULL) STRICT;
CREATE TABLE users (id TEXT PRIMARY KEY, username TEXT NOT NULL UNIQUE, email TEXT, is_service_account INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL) STRICT;
CREATE TABLE organization_memberships (organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE, user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE, PRIMARY KEY (organization_id, user_id)) STRICT, WITHOUT ROWID;
CREATE TABLE teams (id TEXT PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE, name TEXT NOT NULL, manage_workspaces INTEGER NOT NULL DEFAULT 0, read_workspaces INTEGER NOT NULL DEFAULT 0, manage_projects INTEGER NOT NULL DEFAULT 0, visibility TEXT NOT NULL DEFAULT 'organization' CHECK (visibility IN ('organization', 'secret')), created_at TEXT NOT NULL, kept_rights TEXT NOT NULL DEFAULT '[]', allow_member_token_management INTEGER NOT NULL DEFAULT 1, sso_team_id TEXT, UNIQUE (organization_id, name)) STRICT;
CREATE TABLE team_memberships (team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE, user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE, PRIMARY KEY (team_id, user_id)) STRICT, WITHOUT ROWID;
CREATE INDEX team_memberships_by_user ON team_memberships (user_id);
CREATE TABLE api_tokens (id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE, team_id TEXT REFERENCES teams (id) ON DELETE CASCADE, organization_id TEXT REFERENCES organizations (id) ON DELETE CASCADE, description TEXT, created_at TEXT NOT NULL, expires_at TEXT, is_main INTEGER NOT NULL DEFAULT 0, impersonator_id TEXT REFERENCES users (id) ON DELETE CASCADE, is_for_audit_trails INTEGER NOT NULL DEFAULT 0, created_by_id TEXT REFERENCES users (id) ON DELETE SET NULL, deleted_organization_id TEXT, CHECK (team_id IS NULL OR organization_id IS NULL)) STRICT;
CREATE TABLE service_tokens (accessor TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, display_name TEXT NOT NULL, policies TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT , namespace TEXT NOT NULL DEFAULT '', type TEXT NOT NULL DEFAULT 'service' CHECK (type IN ('service', 'batch')), path TEXT NOT NULL DEFAULT 'auth/token/create', meta TEXT NOT NULL DEFAULT 'null', creation_ttl INTEGER NOT NULL DEFAULT 0, explicit_max_ttl INTEGER NOT NULL DEFAULT 0, period INTEGER NOT NULL DEFAULT 0, num_uses INTEGER NOT NULL DEFAULT 0, uses_left INTEGER NOT NULL DEFAULT 0, bound_cidrs TEXT NOT NULL DEFAULT '[]', renewable INTEGER NOT NULL DEFAULT 0, renewed_at TEXT, entity_id TEXT NOT NULL DEFAULT '', role TEXT NOT NULL DEFAULT '', mount TEXT REFERENCES mounts (id) ON DELETE CASCADE, parent TEXT REFERENCES service_tokens (accessor) ON DELETE CASCADE) STRICT;
CREATE TABLE mounts (id TEXT PRIMARY KEY, type TEXT NOT NULL, created_at TEXT NOT NULL , namespace TEXT NOT NULL DEFAULT '', path TEXT NOT NULL DEFAULT '', settings TEXT NOT NULL DEFAULT '{}', uuid TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE workspaces (id TEXT PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE, project_id TEXT NOT NULL REFERENCES projects (id), name TEXT NOT NULL, description TEXT, execution_mode TEXT CHECK (execution_mode IN ('remote', 'local', 'agent')), agent_pool_id TEXT REFERENCES agent_pools (id), agent_pool_overwritten INTEGER NOT NULL, allow_destroy_plan INTEGER NOT NULL, assessments_enabled INTEGER NOT NULL, auto_apply INTEGER NOT NULL, auto_apply_run_trigger INTEGER NOT NULL, auto_destroy_at TEXT, auto_destroy_activity_duration TEXT, inherits_project_auto_destroy INTEGER NOT NULL, engine_version TEXT NOT NULL, file_triggers_enabled INTEGER NOT NULL, global_remote_state INTEGER NOT NULL, project_remote_state INTEGER NOT NULL DEFAULT 0, queue_all_runs INTEGER NOT NULL, source_name TEXT, source_url TEXT, speculative_enabled INTEGER NOT NULL, structured_run_output_enabled INTEGER NOT NULL, trigger_patterns TEXT NOT NULL, trigger_prefixes TEXT NOT NULL, vcs_repo TEXT, working_directory TEXT, ssh_key_id TEXT REFERENCES ssh_keys (id) ON DELETE SET NULL, locked_by_type TEXT CHECK (locked_by_type IN ('users', 'teams', 'runs')), locked_by_id TEXT, locked_reason TEXT, resource_count INTEGER NOT NULL DEFAULT 0, current_state_version_id TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, latest_change_at TEXT NOT NULL, auto_destroy_status TEXT, readme TEXT, destroyed_for TEXT, UNIQUE (organization_id, name), CHECK ((locked_by_type IS NULL) = (locked_by_id IS NULL))) STRICT;
CREATE INDEX workspaces_by_project ON workspaces (project_id);
CREATE TABLE team_workspace_access (team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE, workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, access TEXT NOT NULL CHECK (access IN ('read', 'plan', 'write', 'admin', 'custom')), custom_permissions TEXT, id TEXT, PRIMARY KEY (team_id, workspace_id)) STRICT, WITHOUT ROWID;
CREATE INDEX team_workspace_access_by_workspace ON team_workspace_access (workspace_id);
CREATE TABLE remote_state_consumers (workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, consumer_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, PRIMARY KEY (workspace_id, consumer_id), CHECK (workspace_id <> consumer_id)) STRICT, WITHOUT ROWID;
CREATE INDEX remote_state_consumers_by_consumer ON remote_state_consumers (consumer_id);
CREATE TABLE tags (id TEXT PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE, name TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE (organization_id, name)) STRICT;
CREATE TABLE workspace_tags (position INTEGER PRIMARY KEY AUTOINCREMENT, workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, tag_id TEXT NOT NULL REFERENCES tags (id) ON DELETE CASCADE, UNIQUE (workspace_id, tag_id)) STRICT;
CREATE INDEX workspace_tags_by_tag ON workspace_tags (tag_id);
CREATE TABLE tag_bindings (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE, project_id TEXT REFERENCES projects (id) ON DELETE CASCADE, key TEXT NOT NULL, value TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE (workspace_id, key), UNIQUE (project_id, key), CHECK ((workspace_id IS NULL) <> (project_id IS NULL))) STRICT;
CREATE INDEX tag_bindings_by_key ON tag_bindings (key, value);
CREATE TABLE data_retention_policies (id TEXT PRIMARY KEY, organization_id TEXT UNIQUE REFERENCES organizations (id) ON DELETE CASCADE, workspace_id TEXT UNIQUE REFERENCES workspaces (id) ON DELETE CASCADE, type TEXT NOT NULL CHECK (type IN ('data-retention-policy-delete-olders', 'data-retention-policy-dont-deletes')), delete_older_than_n_days INTEGER CHECK (delete_older_than_n_days > 0), created_at TEXT NOT NULL, CHECK ((workspace_id IS NULL) <> (organization_id IS NULL))) STRICT;
CREATE TABLE runs (id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, status TEXT NOT NULL, plan_duration_ms INTEGER, apply_duration_ms INTEGER, failed_policy_check INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL , plan_id TEXT NOT NULL DEFAULT '', apply_id TEXT NOT NULL DEFAULT '', message TEXT, source TEXT NOT NULL DEFAULT 'api', is_destroy INTEGER NOT NULL DEFAULT 0, plan_only INTEGER NOT NULL DEFAULT 0, auto_apply INTEGER NOT NULL DEFAULT 0, resource_additions INTEGER NOT NULL DEFAULT 0, resource_changes INTEGER NOT NULL DEFAULT 0, resource_destructions INTEGER NOT NULL DEFAULT 0, status_timestamps TEXT NOT NULL DEFAULT '{}', configuration_version_id TEXT REFERENCES configuration_versions (id) ON DELETE SET NULL, created_by_id TEXT REFERENCES users (id) ON DELETE SET NULL, engine_version TEXT) STRICT;
CREATE INDEX runs_by_workspace ON runs (workspace_id, created_at);
CREATE TABLE state_versions (id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, serial INTEGER NOT NULL, status TEXT NOT NULL CHECK (status IN ('pending', 'finalized')), intermediate INTEGER NOT NULL, resource_count INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL , lineage TEXT NOT NULL DEFAULT '', md5 TEXT, resources TEXT NOT NULL DEFAULT '[]', run_id TEXT REFERENCES runs (id) ON DELETE SET NULL, created_by_id TEXT REFERENCES users (id) ON DELETE SET NULL, forced INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX state_versions_by_workspace ON state_versions (workspace_id, serial);
CREATE TABLE audit_events (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, organization_id TEXT NOT NULL, timestamp TEXT NOT NULL, actor_id TEXT NOT NULL, actor_name TEXT NOT NULL, actor_type TEXT NOT NULL CHECK (actor_type IN ('Client', 'Impersonated', 'System')), impersonator_id TEXT, request_id TEXT, resource_id TEXT NOT NULL, resource_type TEXT NOT NULL, resource_action TEXT NOT NULL, meta TEXT) STRICT;
CREATE INDEX audit_events_by_organization ON audit_events (organization_id, timestamp);
CREATE INDEX audit_events_by_time ON audit_events (timestamp);
CREATE TABLE cluster_auth_configs (mount TEXT PRIMARY KEY REFERENCES mounts (id) ON DELETE CASCADE, cluster_host TEXT NOT NULL CHECK (cluster_host <> ''), cluster_ca_cert TEXT NOT NULL, token_reviewer_jwt TEXT NOT NULL, pem_keys TEXT NOT NULL, disable_local_ca_jwt INTEGER NOT NULL, disable_iss_validation INTEGER NOT NULL, issuer TEXT NOT NULL, updated_at TEXT NOT NULL , use_annotations_as_alias_metadata INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE cluster_auth_roles (mount TEXT NOT NULL REFERENCES mounts (id) ON DELETE CASCADE, name TEXT NOT NULL CHECK (name = lower(name)), fields TEXT NOT NULL, updated_at TEXT NOT NULL, PRIMARY KEY (mount, name)) STRICT, WITHOUT ROWID;
CREATE TABLE seeded_things (thing TEXT PRIMARY KEY, seeded_at TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE data_file (proof_key TEXT NOT NULL, served_by_pid INTEGER) STRICT;
CREATE TABLE state_version_outputs (id TEXT PRIMARY KEY, state_version_id TEXT NOT NULL REFERENCES state_versions (id) ON DELETE CASCADE, name TEXT NOT NULL, detailed_type TEXT NOT NULL, value TEXT NOT NULL, sensitive INTEGER NOT NULL, UNIQUE (state_version_id, name)) STRICT;
CREATE TABLE configuration_versions (id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, status TEXT NOT NULL CHECK (status IN ('pending', 'uploaded', 'errored', 'archived')), source TEXT NOT NULL, speculative INTEGER NOT NULL, provisional INTEGER NOT NULL, auto_queue_runs INTEGER NOT NULL, error_message TEXT, ingress_id TEXT UNIQUE, ingress TEXT, created_by_id TEXT REFERENCES users (id) ON DELETE SET NULL, created_at TEXT NOT NULL, CHECK ((ingress_id IS NULL) = (ingress IS NULL))) STRICT;
CREATE INDEX configuration_versions_by_workspace ON configuration_versions (workspace_id, created_at);
CREATE UNIQUE INDEX runs_by_plan ON runs (plan_id);
CREATE UNIQUE INDEX runs_by_apply ON runs (apply_id);
CREATE TABLE assessment_results (id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, drifted INTEGER NOT NULL, succeeded INTEGER NOT NULL, error_message TEXT, created_at TEXT NOT NULL) STRICT;
CREATE INDEX assessment_results_by_workspace ON assessment_results (workspace_id, created_at);
CREATE UNIQUE INDEX team_workspace_access_by_id ON team_workspace_access (id);
CREATE UNIQUE INDEX oauth_tokens_by_client ON oauth_tokens (client_id);
CREATE TABLE releases (version TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE service_namespaces (path TEXT PRIMARY KEY CHECK (path <> ''), id TEXT NOT NULL, uuid TEXT NOT NULL, custom_metadata TEXT NOT NULL, created_at TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX mounts_by_place ON mounts (namespace, path);
CREATE TABLE "service_policies" (namespace TEXT NOT NULL, name TEXT NOT NULL, rules TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (namespace, name)) STRICT, WITHOUT ROWID;
CREATE TABLE service_entities (id TEXT PRIMARY KEY, mount TEXT NOT NULL REFERENCES mounts (id) ON DELETE CASCADE, alias_name TEXT NOT NULL, alias_metadata TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE (mount, alias_name)) STRICT;
CREATE TABLE "team_project_access" (id TEXT, team_id TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE, project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, access TEXT NOT NULL CHECK (access IN ('read', 'write', 'maintain', 'admin', 'custom')), custom_permissions TEXT, PRIMARY KEY (team_id, project_id)) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX team_project_access_by_id ON team_project_access (id);
CREATE TABLE state_files (id INTEGER PRIMARY KEY, state_version_id TEXT NOT NULL REFERENCES state_versions (id) ON DELETE CASCADE, kind TEXT NOT NULL CHECK (kind IN ('state', 'json-state')), size INTEGER, md5 TEXT, CHECK ((size IS NULL) = (md5 IS NULL))) STRICT;
CREATE UNIQUE INDEX whole_state_files ON state_files (state_version_id, kind) WHERE size IS NOT NULL;
CREATE INDEX state_files_by_version ON state_files (state_version_id);
CREATE TABLE state_file_parts (file_id INTEGER NOT NULL REFERENCES state_files (id) ON DELETE CASCADE, position INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (file_id, position)) STRICT;
CREATE INDEX pending_runs ON runs (workspace_id) WHERE status = 'pending';
CREATE INDEX workspaces_by_destroy_time ON workspaces (auto_destroy_at) WHERE auto_destroy_at IS NOT NULL;
CREATE INDEX workspaces_with_duration ON workspaces (id) WHERE auto_destroy_activity_duration IS NOT NULL;
CREATE TABLE variable_sets (id TEXT PRIMARY KEY, organization_id TEXT NOT NULL REFERENCES organizations (id) ON DELETE CASCADE, project_id TEXT REFERENCES projects (id) ON DELETE CASCADE, name TEXT NOT NULL, description TEXT, global INTEGER NOT NULL, priority INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, UNIQUE (organization_id, name)) STRICT;
CREATE TABLE variable_set_workspaces (variable_set_id TEXT NOT NULL REFERENCES variable_sets (id) ON DELETE CASCADE, workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, PRIMARY KEY (variable_set_id, workspace_id)) STRICT, WITHOUT ROWID;
CREATE INDEX variable_sets_of_workspace ON variable_set_workspaces (workspace_id);
CREATE TABLE variable_set_projects (variable_set_id TEXT NOT NULL REFERENCES variable_sets (id) ON DELETE CASCADE, project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE, PRIMARY KEY (variable_set_id, project_id)) STRICT, WITHOUT ROWID;
CREATE INDEX variable_sets_of_project ON variable_set_projects (project_id);
CREATE TABLE "variables" (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE, variable_set_id TEXT REFERENCES variable_sets (id) ON DELETE CASCADE, key TEXT NOT NULL, value TEXT NOT NULL, description TEXT, category TEXT NOT NULL CHECK (category IN ('engine', 'env')), hcl INTEGER NOT NULL, sensitive INTEGER NOT NULL, created_at TEXT NOT NULL, UNIQUE (workspace_id, category, key), UNIQUE (variable_set_id, category, key), CHECK ((workspace_id IS NULL) <> (variable_set_id IS NULL))) STRICT;
CREATE TABLE run_triggers (id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, sourceable_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE, created_at TEXT NOT NULL, UNIQUE (workspace_id, sourceable_id)) STRICT;
CREATE INDEX run_triggers_by_source ON run_triggers (sourceable_id);
CREATE INDEX workspaces_by_organization ON workspaces (organization_id);
INSERT INTO data_file (proof_key) VALUES (lower(hex(randomblob(32))));
INSERT INTO releases (version) VALUES
('0.10.0'), ('0.10.1'), ('0.10.2'), ('0.10.3'), ('0.10.4'), ('0.10.5'), ('0.10.6'), ('0.10.7'),
('0.10.8'), ('0.11.0'), ('0.11.1'), ('0.11.10'), ('0.11.11'), ('0.11.12'), ('0.11.13'), ('0.11.14'),
('0.11.15'), ('0.11.2'), ('0.11.3'), ('0.11.4'), ('0.11.5'), ('0.11.6'), ('0.11.7'), ('0.11.8'),
('0.11.9'), ('0.12.0'), ('0.12.0-alpha1'), ('0.12.0-alpha2'), ('0.12.0-alpha3'), ('0.12.0-alpha4'),
('0.12.0-beta1'), ('0.12.0-beta2'), ('0.12.0-rc1'), ('0.12.1'), ('0.12.10'), ('0.12.11'), ('0.12.12'),
('0.12.13'), ('0.12.14'), ('0.12.15'), ('0.12.16'), ('0.12.17'), ('0.12.18'), ('0.12.19'), ('0.12.2'),
('0.12.20'), ('0.12.21'), ('0.12.22'), ('0.12.23'), ('0.12.24'), ('0.12.25'), ('0.12.26'),
('0.12.27'), ('0.12.28'), ('0.12.29'), ('0.12.3'), ('0.12.30'), ('0.12.31'), ('0.12.4'), ('0.12.5'),
('0.12.6'), ('0.12.7'), ('0.12.8'), ('0.12.9'), ('0.13.0'), ('0.13.0-beta1'), ('0.13.0-beta2'),
('0.13.0-beta3'), ('0.13.0-rc1'), ('0.13.1'), ('0.13.2'), ('0.13.3'), ('0.13.4'), ('0.13.5'),
('0.13.6'), ('0.13.7'), ('0.14.0'), ('0.14.0-beta1'), ('0.14.0-beta2'), ('0.14.0-rc1'), ('0.14.1'),
('0.14.10'), ('0.14.11'), ('0.14.2'), ('0.14.3'), ('0.14.4'), ('0.14.5'), ('0.14.6'), ('0.14.7'),
('0.14.8'), ('0.14.9'), ('0.15.0'), ('0.15.0-beta1'), ('0.15.0-beta2'), ('0.15.0-rc1'),
('0.15.0-rc2'), ('0.15.1'), ('0.15.2'), ('0.15.3'), ('0.15.4'), ('0.15.5'), ('0.7.0'), ('0.7.1'),
('0.7.10'), ('0.7.11'), ('0.7.12'), ('0.7.13'), ('0.7.2'), ('0.7.3'), ('0.7.4'), ('0.7.5'), ('0.7.6'),
('0.7.7'), ('0.7.8'), ('0.7.9'), ('0.8.0'), ('0.8.1'), ('0.8.2'), ('0.8.3'), ('0.8.4'), ('0.8.5'),
('0.8.6'), ('0.8.7'), ('0.8.8'), ('0.9.0'), ('0.9.1'), ('0.9.10'), ('0.9.11'), ('0.9.2'), ('0.9.3'),
('0.9.4'), ('0.9.5'), ('0.9.6'), ('0.9.7'), ('0.9.8'), ('0.9.9'), ('1.0.0'), ('1.0.1'), ('1.0.10'),
('1.0.11'), ('1.0.2'), ('1.0.3'), ('1.0.4'), ('1.0.5'), ('1.0.6'), ('1.0.7'), ('1.0.8'), ('1.0.9'),
('1.1.0'), ('1.1.0-beta1'), ('1.1.0-beta2'), ('1.1.0-rc1'), ('1.1.1'), ('1.1.2'), ('1.1.3'),
('1.1.4'), ('1.1.5'), ('1.1.6'), ('1.1.7'), ('1.1.8'), ('1.1.9'), ('1.10.0'), ('1.10.0-beta1'),
('1.10.0-rc1'), ('1.10.0-rc2'), ('1.10.0-rc3'), ('1.10.1'), ('1.10.2'), ('1.10.3'), ('1.10.4'),
('1.10.5'), ('1.11.0'), ('1.11.0-beta1'), ('1.11.0-beta2'), ('1.11.0-rc1'), ('1.11.0-rc2'),
('1.11.0-rc3'), ('1.11.1'), ('1.11.2'), ('1.11.3'), ('1.11.4'), ('1.2.0'), ('1.2.0-beta1'),
('1.2.0-rc1'), ('1.2.0-rc2'), ('1.2.1'), ('1.2.2'), ('1.2.3'), ('1.2.4'), ('1.2.5'), ('1.2.6'),
('1.2.7'), ('1.2.8'), ('1.2.9'), ('1.3.0'), ('1.3.0-beta1'), ('1.3.0-rc1'), ('1.3.1'), ('1.3.10'),
('1.3.2'), ('1.3.3'), ('1.3.4'), ('1.3.5'), ('1.3.6'), ('1.3.7'), ('1.3.8'), ('1.3.9'), ('1.4.0'),
('1.4.0-beta1'), ('1.4.0-beta2'), ('1.4.0-rc1'), ('1.4.1'), ('1.4.2'), ('1.4.3'), ('1.4.4'),
('1.4.5'), ('1.4.6'), ('1.4.7'), ('1.5.0'), ('1.5.0-beta1'), ('1.5.0-beta2'), ('1.5.0-rc1'),
('1.5.0-rc2'), ('1.5.1'), ('1.5.2'), ('1.5.3'), ('1.5.4'), ('1.5.5'), ('1.5.6'), ('1.5.7'), ('1.6.0'),
('1.6.0-beta1'), ('1.6.0-beta2'), ('1.6.0-beta3'), ('1.6.0-rc1'), ('1.6.1'), ('1.6.2'), ('1.6.3'),
('1.6.4'), ('1.6.5'), ('1.6.6'), ('1.7.0'), ('1.7.0-beta1'), ('1.7.0-beta2'), ('1.7.0-rc1'),
('1.7.0-rc2'), ('1.7.1'), ('1.7.2'), ('1.7.3'), ('1.7.4'), ('1.7.5'), ('1.8.0'), ('1.8.0-beta1'),
('1.8.0-rc1'), ('1.8.0-rc2'), ('1.8.1'), ('1.8.2'), ('1.8.3'), ('1.8.4'), ('1.8.5'), ('1.9.0'),
('1.9.0-beta1'), ('1.9.0-rc1'), ('1.9.0-rc2'), ('1.9.0-rc3'), ('1.9.1'), ('1.9.2'), ('1.9.3'),
('1.9.4'), ('1.9.5'), ('1.9.6'), ('1.9.7'), ('1.9.8');
PRAGMA user_version = 18;
`;
