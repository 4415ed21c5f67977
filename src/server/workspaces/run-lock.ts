/**
 * The lock of a workspace in the hands of a run.
 * Invariant: a run takes a lock only when nobody has it, and gives back only its own.
 */
import { SERVICE_ITSELF } from '../audit-trails/record-event.ts';
import type { Services } from '../services.ts';
import { recordWorkspaceEvent } from './document/workspace-event.ts';

/** Whether the run has the lock now. */
export function lockForRun(services: Services, workspaceId: string, runId: string): boolean {
  const taken = services.database.run(
    `UPDATE workspaces SET locked_by_type = 'runs', locked_by_id = :run, locked_reason = '', updated_at = :now
     WHERE id = :workspace AND locked_by_id IS NULL`,
    { workspace: workspaceId, run: runId, now: services.now().toISOString() },
  );
  if (taken === 1) {
    tell(services, workspaceId, { action: 'lock', runId });
    return true;
  }
  const held = services.database.get(
    `SELECT 1 FROM workspaces WHERE id = :workspace AND locked_by_type = 'runs' AND locked_by_id = :run`,
    { workspace: workspaceId, run: runId },
  );
  return held !== undefined;
}

export function unlockAfterRun(services: Services, workspaceId: string, runId: string): void {
  const freed = services.database.run(
    `UPDATE workspaces SET locked_by_type = NULL, locked_by_id = NULL, updated_at = :now
     WHERE id = :workspace AND locked_by_type = 'runs' AND locked_by_id = :run`,
    { workspace: workspaceId, run: runId, now: services.now().toISOString() },
  );
  if (freed === 1) tell(services, workspaceId, { action: 'unlock', runId });
}

/** Nobody asks for it: a run takes the lock in its turn, and gives it back when it ends. */
function tell(
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
