/**
 * Runs as the database stores them, and as the API shows them with their plan and their apply.
 * Invariant: plan and apply are not stored; their documents are computed from the run.
 */
import type { Database } from '../kernel/database.ts';
import type { WorkspacePermissions } from './permissions.ts';
import { type Resource, related } from '../kernel/documents.ts';
import type { WorkspacesDialect } from '../kernel/workspaces-dialects.ts';
import { inWireNames } from './workspace-request.ts';

/** All statuses of a run. Runs of this service have only a few of them; a seed may use any. */
export const RUN_STATUSES = [
  'pending',
  'fetching',
  'fetching_completed',
  'pre_plan_running',
  'pre_plan_completed',
  'queuing',
  'plan_queued',
  'planning',
  'planned',
  'cost_estimating',
  'cost_estimated',
  'policy_checking',
  'policy_override',
  'policy_soft_failed',
  'policy_checked',
  'confirmed',
  'post_plan_running',
  'post_plan_completed',
  'post_plan_awaiting_decision',
  'planned_and_finished',
  'planned_and_saved',
  'apply_queued',
  'queuing_apply',
  'pre_apply_running',
  'pre_apply_completed',
  'applying',
  'applied',
  'discarded',
  'errored',
  'canceled',
  'force_canceled',
] as const;

export interface RunRow {
  id: string;
  workspace_id: string;
  status: string;
  plan_duration_ms: number | null;
  apply_duration_ms: number | null;
  failed_policy_check: number;
  created_at: string;
  plan_id: string;
  apply_id: string;
  message: string | null;
  source: string;
  is_destroy: number;
  plan_only: number;
  auto_apply: number;
  resource_additions: number;
  resource_changes: number;
  resource_destructions: number;
  /** JSON: when each status was reached, `planned-at` and so on. */
  status_timestamps: string;
  configuration_version_id: string | null;
  created_by_id: string | null;
  /** The engine release that it uses; null for a run of a seed or of an earlier version of the service. */
  engine_version: string | null;
}

export function runById(database: Database, id: string): RunRow | undefined {
  return runsById(database, [id])[0];
}

export function runsById(database: Database, ids: readonly string[]): RunRow[] {
  return database.byIds<RunRow>('runs', ids);
}

/** The actions that the status of a run allows, for callers with the right. */
export function possibleActions({ status }: Pick<RunRow, 'status'>): Record<string, boolean> {
  return {
    'is-confirmable': status === 'planned',
    'is-discardable': status === 'planned',
    'is-cancelable': ['pending', 'planning', 'applying'].includes(status),
    'is-force-cancelable': false,
  };
}

export function runResource(
  row: RunRow,
  permissions: WorkspacePermissions | undefined,
  dialect: WorkspacesDialect,
): Resource {
  const mayApply = permissions?.['can-queue-apply'] === true;
  return {
    id: row.id,
    type: 'runs',
    attributes: {
      actions: possibleActions(row),
      'auto-apply': row.auto_apply === 1,
      'created-at': row.created_at,
      'has-changes': row.resource_additions + row.resource_changes + row.resource_destructions > 0,
      'is-destroy': row.is_destroy === 1,
      message: row.message,
      'plan-only': row.plan_only === 1,
      source: row.source,
      status: row.status,
      'status-timestamps': JSON.parse(row.status_timestamps),
      ...inWireNames({ 'engine-version': row.engine_version }, dialect),
      permissions: { 'can-apply': mayApply, 'can-cancel': mayApply, 'can-discard': mayApply },
    },
    relationships: {
      workspace: related('workspaces', row.workspace_id),
      'configuration-version': related('configuration-versions', row.configuration_version_id),
      plan: related('plans', row.plan_id),
      apply: row.plan_only === 1 ? { data: null } : related('applies', row.apply_id),
      'created-by': related('users', row.created_by_id),
    },
    links: { self: `/api/v2/runs/${row.id}` },
  };
}

/** `more` are attributes that are not stored with the run: the link to the log. */
export function planResource(row: RunRow, more: Readonly<Record<string, unknown>>): Resource {
  return {
    id: row.plan_id,
    type: 'plans',
    attributes: {
      'has-changes': row.resource_additions + row.resource_changes + row.resource_destructions > 0,
      ...resourceCounts(row),
      status: planStatus(row),
      ...more,
    },
    links: { self: `/api/v2/plans/${row.plan_id}` },
  };
}

/** `more` as for a plan. */
export function applyResource(row: RunRow, more: Readonly<Record<string, unknown>>): Resource {
  const applied = row.status === 'applied';
  return {
    id: row.apply_id,
    type: 'applies',
    attributes: {
      ...resourceCounts(
        applied ? row : { resource_additions: 0, resource_changes: 0, resource_destructions: 0 },
      ),
      status: applyStatus(row),
      ...more,
    },
    links: { self: `/api/v2/applies/${row.apply_id}` },
  };
}

function resourceCounts(
  row: Pick<RunRow, 'resource_additions' | 'resource_changes' | 'resource_destructions'>,
): Record<string, number> {
  return {
    'resource-additions': row.resource_additions,
    'resource-changes': row.resource_changes,
    'resource-destructions': row.resource_destructions,
  };
}

function planStatus({ status, plan_duration_ms: duration }: RunRow): string {
  if (status === 'pending' || status === 'planning') return status === 'pending' ? 'pending' : 'running';
  if (duration === null && (status === 'errored' || status === 'canceled')) return status;
  return 'finished';
}

function applyStatus({ status, apply_duration_ms: duration }: RunRow): string {
  const reached: Readonly<Record<string, string>> = {
    applied: 'finished',
    applying: 'running',
    planned: 'pending',
    pending: 'pending',
    planning: 'pending',
  };
  if (duration !== null && (status === 'errored' || status === 'canceled')) return status;
  return reached[status] ?? 'unreachable';
}
