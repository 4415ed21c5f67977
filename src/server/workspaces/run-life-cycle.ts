/**
 * The states of a run, and the workspace's lock that it holds. A run takes the lock only when it is free, and
 * releases only its own lock.
 */
import { type EventCause, recordEvent, SERVICE_ITSELF } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { newId } from '../kernel/identifiers.ts';
import type { Services } from '../kernel/services.ts';
import { dueWorkspaces } from './auto-destroy.ts';
import { releaseForRuns } from './engine-releases.ts';
import { runById, type RunRow } from './run-record.ts';
import { isStatePending, promoteIntermediateState } from './state-version-record.ts';
import { recordById } from './workspace-record.ts';

/** Locks the workspace for the run, if it is unlocked. @returns whether the run has the lock now */
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

/** The service is the actor, because a run takes and releases the lock without a request. */
function recordLockEvent(
  services: Services,
  workspaceId: string,
  { action, runId }: { readonly action: 'lock' | 'unlock'; readonly runId: string },
): void {
  const workspace = services.database.byId<{ id: string; organization_id: string }>(
    'workspaces',
    workspaceId,
  );
  if (workspace === undefined) return;
  recordEvent(serviceCause(services), `workspace.${action}`, workspace, { run: runId });
}

// The life cycle of a run, and the lock that it holds.
//
// pending ──the workspace is free──▶ planned ──apply──▶ applied
// │                                  └─────discard──▶ discarded
// ├──cancel──▶ canceled              plan only: planned_and_finished, without waiting for the lock
// └──in a dialect whose clients wait for an engine──▶ errored, without the lock
//
// Invariants: a run that is planned and may be applied holds the workspace's lock; runs of a workspace start in the order of
// their creation; the end of a run releases the lock and starts the next one.

interface NewRun {
  readonly workspaceId: string;
  readonly organizationId: string;
  /** The cause of the event; undefined for a run that the service starts itself. */
  readonly cause: EventCause | undefined;
  readonly configurationVersionId: string | null;
  readonly createdById: string | null;
  readonly planOnly: boolean;
  readonly isDestroy: boolean;
  readonly message: string | null;
  /** Undefined: the setting of the workspace applies. */
  readonly autoApply?: boolean | undefined;
  /** Whether the creator of the run may apply it. If not, the run is never applied automatically. */
  readonly mayApply: boolean;
  /** Default: the source of requests. */
  readonly source?: string;
}

/** Creates a run and advances it as far as possible. @returns its id */
export function beginRun(services: Services, run: NewRun): string {
  const { database } = services;
  const id = newId('run');
  const workspace = recordById(database, run.workspaceId);
  const autoApply = run.autoApply ?? workspace?.auto_apply === 1;
  database.insert('runs', {
    id,
    workspace_id: run.workspaceId,
    status: 'pending',
    plan_id: newId('plan'),
    apply_id: newId('apply'),
    message: run.message,
    source: run.source ?? services.dialects.workspaces.source,
    engine_version: releaseForRuns(database, workspace?.engine_version ?? ''),
    is_destroy: Number(run.isDestroy),
    plan_only: Number(run.planOnly),
    auto_apply: Number(autoApply && run.mayApply && !run.planOnly),
    configuration_version_id: run.configurationVersionId,
    created_by_id: run.createdById,
    created_at: services.now().toISOString(),
  });
  const about = { id, organization_id: run.organizationId };
  recordEvent(run.cause ?? serviceCause(services), 'run.create', about);
  if (services.dialects.workspaces.runsEndAsErrored) {
    // It stays pending until the next request.
    setStatus(services, id, 'pending', {});
  } else if (run.planOnly) {
    const planDuration = startTimer(services);
    setStatus(services, id, 'planned_and_finished', { plan_duration_ms: planDuration() });
    recordEvent(serviceCause(services), 'run.plan', about);
  } else {
    startNextRun(services, run.workspaceId);
  }
  return id;
}

/** Starts the oldest pending run if the workspace is unlocked. Call it whenever a lock was released. */
export function startNextRun(services: Services, workspaceId: string): void {
  const next = oldestPendingRun(services.database, workspaceId);
  if (next === undefined || !lockForRun(services, workspaceId, next.id)) return;
  const planDuration = startTimer(services);
  setStatus(services, next.id, 'planned', { plan_duration_ms: planDuration() });
  recordEvent(serviceCause(services), 'run.plan', next);
  // While a state is pending, the run is not applied automatically and waits for a confirmation.
  if (next.auto_apply === 0 || isStatePending(services.database, { workspaceId, runId: next.id })) return;
  recordEvent(serviceCause(services), 'run.apply', next);
  finishRun(services, next, 'applied');
}

/** Ends a run that holds the lock or waits for it. */
export function finishRun(
  services: Services,
  run: Pick<RunRow, 'id' | 'workspace_id'>,
  status: 'applied' | 'discarded' | 'canceled',
): void {
  const { database } = services;
  const applyDuration = startTimer(services);
  if (status === 'applied') {
    database.update('workspaces', run.workspace_id, { latest_change_at: services.now().toISOString() });
    promoteIntermediateState(database, { workspaceId: run.workspace_id, runId: run.id });
  }
  setStatus(services, run.id, status, status === 'applied' ? { apply_duration_ms: applyDuration() } : {});
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

/** Ends a run as if an engine had failed before the plan. */
function failRun(services: Services, run: Pick<RunRow, 'id'>): void {
  setStatus(services, run.id, 'errored', {});
}

function setStatus(services: Services, id: string, status: string, durations: Record<string, number>): void {
  const timestamps = JSON.parse(runById(services.database, id)?.status_timestamps ?? '{}') as object;
  const at = `${status.replaceAll('_', '-')}-at`;
  services.database.update('runs', id, {
    status,
    status_timestamps: JSON.stringify({ ...timestamps, [at]: services.now().toISOString() }),
    ...durations,
  });
}

/** Measures a phase with the service's clock. @returns a function that gives the milliseconds since the call */
function startTimer(services: Services): () => number {
  const start = services.now().getTime();
  return () => services.now().getTime() - start;
}

/** The cause of events without a request (wire/audit-trails 3.3). */
export function serviceCause(services: Services): EventCause {
  return { services, caller: SERVICE_ITSELF };
}

// In a dialect whose runs end as errored, the destroy runs that are due begin before each request, and then all pending runs end.
// So a run is `pending` in the answer to the request that created it, and has ended at the next request.
// Runs of a seed or of another dialect in the data file stay unchanged, because they have no `pending-at` timestamp.

/** Call it outside of a transaction, before each request. */
export function processDueRuns(services: Services): void {
  const { database, dialects } = services;
  if (!dialects.workspaces.runsEndAsErrored) return;
  const isDue = dueWorkspaces(database, services.now()).length > 0 || pendingRuns(database).length > 0;
  if (!isDue) return;
  database.transaction(() => {
    for (const { id, due } of dueWorkspaces(database, services.now())) beginDestroyRun(services, id, due);
    for (const run of pendingRuns(database)) endRun(services, run);
  });
}

/** Starts a destroy run, except in a workspace that has the mode `local` or does not allow destroy plans. */
function beginDestroyRun(services: Services, workspaceId: string, due: string): void {
  const workspace = recordById(services.database, workspaceId);
  services.database.update('workspaces', workspaceId, { destroyed_for: due });
  if (workspace === undefined || workspace.effective_execution_mode === 'local') return;
  if (workspace.allow_destroy_plan === 0) return;
  beginRun(services, {
    workspaceId,
    organizationId: workspace.organization_id,
    cause: undefined,
    configurationVersionId: workspace.current_configuration_version_id,
    createdById: null,
    planOnly: false,
    isDestroy: true,
    message: 'The time of the auto-destroy has come',
    mayApply: true,
    source: services.dialects.workspaces.runSources.autoDestroy,
  });
}

function pendingRuns(database: Database): RunRow[] {
  return database.all<RunRow>(
    `SELECT * FROM runs WHERE status = 'pending' AND status_timestamps ->> '$.pending-at' IS NOT NULL
     ORDER BY created_at, id`,
  );
}

function endRun(services: Services, run: RunRow): void {
  failRun(services, run);
  if (run.source !== services.dialects.workspaces.runSources.autoDestroy) return;
  services.database.update('workspaces', run.workspace_id, { auto_destroy_status: 'errored' });
}
