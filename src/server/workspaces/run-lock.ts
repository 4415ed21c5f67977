/**
 * The lock of a workspace in the hands of a run.
 * Invariant: a run takes a lock only when nobody has it, and gives back only its own.
 */
import type { Services } from '../services.ts';

/** Whether the run has the lock now. */
export function lockForRun(services: Services, workspaceId: string, runId: string): boolean {
  return (
    services.database.run(
      `UPDATE workspaces SET locked_by_type = 'runs', locked_by_id = :run, locked_reason = '', updated_at = :now
       WHERE id = :workspace AND (locked_by_id IS NULL OR (locked_by_type = 'runs' AND locked_by_id = :run))`,
      { workspace: workspaceId, run: runId, now: services.now().toISOString() },
    ) === 1
  );
}

export function unlockAfterRun(services: Services, workspaceId: string, runId: string): void {
  services.database.run(
    `UPDATE workspaces SET locked_by_type = NULL, locked_by_id = NULL, updated_at = :now
     WHERE id = :workspace AND locked_by_type = 'runs' AND locked_by_id = :run`,
    { workspace: workspaceId, run: runId, now: services.now().toISOString() },
  );
}
