/**
 * Workspaces as the database stores them, and their events. Inherited values (execution mode, agent pool) are resolved only here, in
 * SQL, so that one query reads many workspaces.
 */
import { type EventCause, recordEvent } from '../kernel/audit-events.ts';
import type { Database, SqlParameters } from '../kernel/database.ts';
import { stableId } from '../kernel/identifiers.ts';
import { CURRENT_CONFIGURATION_VERSION } from './configuration-version-record.ts';

export type ExecutionMode = 'remote' | 'local' | 'agent';
export const EXECUTION_MODES: readonly ExecutionMode[] = ['remote', 'local', 'agent'];

/** The link to a repository, kept as JSON in `vcs_repo`. Exactly one of the two connections is set. */
export interface VcsRepo {
  readonly identifier: string;
  /** Empty means the repository's default branch. */
  readonly branch: string;
  readonly ingressSubmodules: boolean;
  readonly oauthTokenId: string | null;
  readonly appInstallationId: string | null;
  readonly tagsRegex: string | null;
}

/** The columns that requests change. Booleans are 0 and 1; lists are JSON text. */
export interface WorkspaceSettings {
  project_id: string;
  name: string;
  description: string | null;
  /** Null: inherited from the project or the organization. */
  execution_mode: ExecutionMode | null;
  agent_pool_id: string | null;
  /** 1: the workspace's own pool (or none) is used, not the inherited one. */
  agent_pool_overwritten: number;
  allow_destroy_plan: number;
  assessments_enabled: number;
  auto_apply: number;
  auto_apply_run_trigger: number;
  /** The explicit time; the time from the activity duration is computed when it is read. */
  auto_destroy_at: string | null;
  auto_destroy_activity_duration: string | null;
  inherits_project_auto_destroy: number;
  engine_version: string;
  file_triggers_enabled: number;
  global_remote_state: number;
  project_remote_state: number;
  queue_all_runs: number;
  source_name: string | null;
  source_url: string | null;
  speculative_enabled: number;
  structured_run_output_enabled: number;
  trigger_patterns: string;
  trigger_prefixes: string;
  vcs_repo: string | null;
  working_directory: string | null;
}

/** A row of the table, joined with its project, its organization and the connection of its repository. */
export interface WorkspaceRecord extends WorkspaceSettings {
  id: string;
  organization_id: string;
  ssh_key_id: string | null;
  locked_by_type: 'users' | 'teams' | 'runs' | null;
  locked_by_id: string | null;
  locked_reason: string | null;
  resource_count: number;
  current_state_version_id: string | null;
  created_at: string;
  updated_at: string;
  latest_change_at: string;
  organization_name: string;
  allow_force_delete_workspaces: number;
  assessments_enforced: number;
  project_auto_destroy_duration: string | null;
  effective_execution_mode: ExecutionMode;
  effective_agent_pool_id: string | null;
  current_run_id: string | null;
  current_configuration_version_id: string | null;
  auto_destroy_status: string | null;
  /** The auto-destroy time of the last automatic destroy run. */
  destroyed_for: string | null;
  readme: string | null;
  vcs_client_name: string | null;
  vcs_service_provider: string | null;
  vcs_http_url: string | null;
  retention_policy_id: string | null;
  retention_policy_type: string | null;
}

/** SQL over `w`, `p`, `o`: the effective mode. */
const EFFECTIVE_EXECUTION_MODE =
  'COALESCE(w.execution_mode, p.default_execution_mode, o.default_execution_mode)';

const SELECT_RECORDS = `
  SELECT w.*, o.name AS organization_name, o.allow_force_delete_workspaces, o.assessments_enforced,
    p.auto_destroy_activity_duration AS project_auto_destroy_duration,
    ${EFFECTIVE_EXECUTION_MODE} AS effective_execution_mode,
    CASE WHEN ${EFFECTIVE_EXECUTION_MODE} <> 'agent' THEN NULL
         WHEN w.agent_pool_overwritten = 1 THEN w.agent_pool_id
         ELSE COALESCE(p.default_agent_pool_id, o.default_agent_pool_id) END AS effective_agent_pool_id,
    (SELECT r.id FROM runs r WHERE r.workspace_id = w.id ORDER BY r.created_at DESC, r.id DESC LIMIT 1)
      AS current_run_id,
    ${CURRENT_CONFIGURATION_VERSION} AS current_configuration_version_id,
    t.client_name AS vcs_client_name,
    COALESCE(t.service_provider, i.service_provider) AS vcs_service_provider,
    COALESCE(t.http_url, i.http_url) AS vcs_http_url,
    d.id AS retention_policy_id, d.type AS retention_policy_type
  FROM workspaces w
  JOIN organizations o ON o.id = w.organization_id
  JOIN projects p ON p.id = w.project_id
  LEFT JOIN oauth_tokens t ON t.id = w.vcs_repo ->> '$.oauthTokenId'
  LEFT JOIN vcs_app_installations i ON i.id = w.vcs_repo ->> '$.appInstallationId'
  LEFT JOIN data_retention_policies d ON d.workspace_id = w.id`;

/** The workspaces with these ids, in this order; unknown ids are left out. */
export function recordsById(database: Database, ids: readonly string[]): WorkspaceRecord[] {
  const found = selectRecords(database, 'w.id IN (SELECT value FROM json_each(:ids))', {
    ids: JSON.stringify(ids),
  });
  const byId = new Map(found.map((record) => [record.id, record]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export function recordById(database: Database, id: string): WorkspaceRecord | undefined {
  return selectRecords(database, 'w.id = :id', { id })[0];
}

export function recordByName(
  database: Database,
  organizationName: string,
  name: string,
): WorkspaceRecord | undefined {
  return selectRecords(database, 'o.name = :organization_name AND w.name = :name', {
    organization_name: organizationName,
    name,
  })[0];
}

function selectRecords(database: Database, condition: string, parameters: SqlParameters): WorkspaceRecord[] {
  return database.all<WorkspaceRecord>(`${SELECT_RECORDS} WHERE ${condition}`, parameters);
}

export function vcsRepoOf(settings: Pick<WorkspaceSettings, 'vcs_repo'>): VcsRepo | null {
  return settings.vcs_repo === null ? null : (JSON.parse(settings.vcs_repo) as VcsRepo);
}

/** Records an event if the workspace gets its first or another repository. Call it in the transaction of the change. */
export function recordNewRepository(
  cause: EventCause,
  workspace: Pick<WorkspaceRecord, 'id' | 'organization_id' | 'vcs_repo'>,
  settings: Pick<WorkspaceSettings, 'vcs_repo'>,
): void {
  const [before, after] = [vcsRepoOf(workspace), vcsRepoOf(settings)];
  if (after === null || after.identifier === before?.identifier) return;
  const id = stableId('vcs', workspace.id, after.identifier);
  recordEvent(cause, 'vcs_repo.create', { id, organization_id: workspace.organization_id });
}
