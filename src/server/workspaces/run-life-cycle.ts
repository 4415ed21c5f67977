/**
 * The states of a run, and the workspace's lock that it holds meanwhile. A run takes the lock only when it is free, and
 * releases only its own.
 */
import { type EventCause, SERVICE_ITSELF } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { newId } from '../kernel/identifiers.ts';
import type { Services } from '../kernel/services.ts';
import { runById, type RunRow } from './run-record.ts';
import { isStatePending, promoteIntermediateState } from './state-version-record.ts';
import { recordById, recordWorkspaceEvent } from './workspace-record.ts';

/** Whether the run has the lock now. */
export function lockForRun(services: Services, workspaceId: string, runId: string): boolean {
  const taken = services.database.run(
    `UPDATE workspaces SET locked_by_type = 'runs', locked_by_id = :run, locked_reason = '', updated_at = :now
     WHERE id = :workspace AND locked_by_id IS NULL`,
    { workspace: workspaceId, run: runId, now: services.now().toISOString() },
  );
  if (taken === 1) {
    recordLockEvent(services, workspaceId, { action: 'lock', runId });
    return true;
  }
  const held = services.database.get(
    `SELECT 1 FROM workspaces WHERE id = :workspace AND locked_by_type = 'runs' AND locked_by_id = :run`,
    { workspace: workspaceId, run: runId },
  );
  return held !== undefined;
}

function unlockAfterRun(services: Services, workspaceId: string, runId: string): void {
  const freed = services.database.run(
    `UPDATE workspaces SET locked_by_type = NULL, locked_by_id = NULL, updated_at = :now
     WHERE id = :workspace AND locked_by_type = 'runs' AND locked_by_id = :run`,
    { workspace: workspaceId, run: runId, now: services.now().toISOString() },
  );
  if (freed === 1) recordLockEvent(services, workspaceId, { action: 'unlock', runId });
}

/** Nobody asks for it: a run takes the lock in its turn, and gives it back when it ends. */
function recordLockEvent(
  services: Services,
  workspaceId: string,
  { action, runId }: { readonly action: 'lock' | 'unlock'; readonly runId: string },
): void {
  const workspace = services.database.get<{ id: string; organization_id: string }>(
    'SELECT id, organization_id FROM workspaces WHERE id = :id',
    { id: workspaceId },
  );
  if (workspace === undefined) return;
  recordWorkspaceEvent(services, { caller: SERVICE_ITSELF }, workspace, { action, meta: { run: runId } });
}

// How a run goes, and the lock that it holds meanwhile.
//
// pending ──the workspace is free──▶ planned ──apply──▶ applied
// │                                  └─────discard──▶ discarded
// ├──cancel──▶ canceled              plan only: planned_and_finished, without waiting for the lock
// └──in a dialect whose clients wait for an engine──▶ errored, without the lock
//
// Invariants: a run that is planned and may be applied holds the workspace's lock; runs of a workspace take their turn
// in the order in which they were created; what ends a run frees the lock and lets the next one begin.

interface NewRun {
  readonly workspaceId: string;
  readonly organizationId: string;
  /** Undefined where whoever asked for it is no more. */
  readonly cause: EventCause | undefined;
  readonly configurationVersionId: string | null;
  readonly createdById: string | null;
  readonly planOnly: boolean;
  readonly isDestroy: boolean;
  readonly message: string | null;
  /** undefined: as the workspace says. */
  readonly autoApply?: boolean | undefined;
  /** Whether who creates the run may apply it: a run of anybody else is never applied by itself. */
  readonly mayApply: boolean;
}

/** Creates a run and lets it come as far as it can. @returns its id */
export function beginRun(services: Services, run: NewRun): string {
  const { database } = services;
  const id = newId('run');
  const autoApply = run.autoApply ?? recordById(database, run.workspaceId)?.auto_apply === 1;
  database.insert('runs', {
    id,
    workspace_id: run.workspaceId,
    status: 'pending',
    plan_id: newId('plan'),
    apply_id: newId('apply'),
    message: run.message,
    source: services.dialects.workspaces.source,
    is_destroy: Number(run.isDestroy),
    plan_only: Number(run.planOnly),
    auto_apply: Number(autoApply && run.mayApply && !run.planOnly),
    configuration_version_id: run.configurationVersionId,
    created_by_id: run.createdById,
    created_at: services.now().toISOString(),
  });
  recordRunEvent(services, { id, organization_id: run.organizationId }, 'create', run.cause);
  if (services.dialects.workspaces.runsEndAsErrored) {
    reach(services, id, 'errored', {});
  } else if (run.planOnly) {
    const planTime = timed(services);
    reach(services, id, 'planned_and_finished', { plan_duration_ms: planTime() });
    recordRunEvent(services, { id, organization_id: run.organizationId }, 'plan');
  } else {
    startNextRun(services, run.workspaceId);
  }
  return id;
}

/** When the workspace is free, its oldest pending run begins. Call it whenever a lock was given back. */
export function startNextRun(services: Services, workspaceId: string): void {
  const next = oldestPendingRun(services.database, workspaceId);
  if (next === undefined || !lockForRun(services, workspaceId, next.id)) return;
  const planTime = timed(services);
  reach(services, next.id, 'planned', { plan_duration_ms: planTime() });
  recordRunEvent(services, next, 'plan');
  // While a state is still to come nothing is applied: the run waits for somebody to confirm it.
  if (next.auto_apply === 0 || isStatePending(services.database, { workspaceId, runId: next.id })) return;
  recordRunEvent(services, next, 'apply');
  finishRun(services, next, 'applied');
}

/** Ends a run that holds the lock, or waits for it. */
export function finishRun(
  services: Services,
  run: Pick<RunRow, 'id' | 'workspace_id'>,
  status: 'applied' | 'discarded' | 'canceled',
): void {
  const { database } = services;
  const applyTime = timed(services);
  if (status === 'applied') {
    database.update('workspaces', run.workspace_id, { latest_change_at: services.now().toISOString() });
    promoteIntermediateState(database, { workspaceId: run.workspace_id, runId: run.id });
  }
  reach(services, run.id, status, status === 'applied' ? { apply_duration_ms: applyTime() } : {});
  unlockAfterRun(services, run.workspace_id, run.id);
  startNextRun(services, run.workspace_id);
}

function oldestPendingRun(
  database: Database,
  workspaceId: string,
): (RunRow & { organization_id: string }) | undefined {
  return database.get<RunRow & { organization_id: string }>(
    `SELECT r.*, w.organization_id FROM runs r JOIN workspaces w ON w.id = r.workspace_id
     WHERE r.workspace_id = :workspace AND r.status = 'pending' AND r.plan_only = 0
     ORDER BY r.created_at, r.id LIMIT 1`,
    { workspace: workspaceId },
  );
}

function reach(services: Services, id: string, status: string, durations: Record<string, number>): void {
  const timestamps = JSON.parse(runById(services.database, id)?.status_timestamps ?? '{}') as object;
  const at = `${status.replaceAll('_', '-')}-at`;
  services.database.update('runs', id, {
    status,
    status_timestamps: JSON.stringify({ ...timestamps, [at]: services.now().toISOString() }),
    ...durations,
  });
}

/** A phase lasts as long as the service's own clock says: an instant, but never a made-up time. */
function timed(services: Services): () => number {
  const start = services.now().getTime();
  return () => services.now().getTime() - start;
}

// What the audit trail learns of a run.

/** `plan` is a run's turn, which comes by itself (wire/audit-trails 3.3). */
type RunAction = 'create' | 'plan' | 'apply' | 'discard' | 'cancel';

/** Call it in the transaction of the change. Without a cause the service did it by itself. */
export function recordRunEvent(
  services: Services,
  run: { readonly id: string; readonly organization_id: string },
  action: RunAction,
  cause: EventCause = { caller: SERVICE_ITSELF },
): void {
  services.recordEvent({
    organizationId: run.organization_id,
    actor: cause.caller,
    requestId: cause.requestId,
    resource: { id: run.id, type: 'run', action },
  });
}
