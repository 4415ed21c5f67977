/**
 * Ends runs and starts destroy runs without a request, in a dialect whose runs end as errored: before each request, everything
 * that is due is done. So a run is `pending` in the answer that created it, and has ended for the next request.
 * Runs of a seed, and those that another dialect left in the data file, stay as they are: they never reached `pending` here.
 */
import type { Database } from '../kernel/database.ts';
import type { Services } from '../kernel/services.ts';
import { dueWorkspaces } from './auto-destroy.ts';
import { beginRun, failRun } from './run-life-cycle.ts';
import type { RunRow } from './run-record.ts';
import { recordById } from './workspace-record.ts';

/** Call it outside of a transaction, before a request is answered. */
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

/** Local workspaces, and those that allow no destroy plan, get no run. */
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
