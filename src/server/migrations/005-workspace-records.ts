/**
 * What stands around a workspace: state versions with their outputs, configuration versions, runs with plan and apply,
 * variables, assessment results. Rows that were there before get ids of their own where the API shows one now.
 */

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
