/** Showing runs, one or those of a workspace, with their plans and applies. */
import type { WorkspacePermissions } from '../identity/workspace-permissions.ts';
import type { Resource } from '../json-api/document.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../json-api/endpoint.ts';
import { pagedAnswer } from '../json-api/paged-answer.ts';
import { queryList } from '../json-api/query.ts';
import type { Services } from '../services.ts';
import { requireWorkspace } from '../workspaces/access.ts';
import { requireOwned } from '../workspaces/owned-record.ts';
import { logLink } from './run-logs.ts';
import { applyResource, planResource, type RunRow, runById, runResource } from './run-record.ts';

/** GET /runs/:run_id */
export function showRun(services: Services, request: ApiRequest): ApiAnswer {
  const found = runById(services.database, request.params['run_id'] ?? '');
  const { record, permissions } = requireOwned(services, request, found, READ);
  return ok({ data: runResource(record, permissions) });
}

/** GET /runs/:run_id/run-events: what others did to the run. The command line asks; nothing of the kind is kept. */
export function listRunEvents(services: Services, request: ApiRequest): ApiAnswer {
  const found = runById(services.database, request.params['run_id'] ?? '');
  requireOwned(services, request, found, READ);
  return ok({ data: [] });
}

/** GET /workspaces/:workspace_id/runs: the newest first. `filter[status]`, `filter[source]`. */
export function listRuns(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace, permissions } = requireWorkspace(services, request);
  const wanted = (filter: string): string => JSON.stringify(queryList(request.query, filter));
  const query = {
    select: 'r.*',
    from: `runs r WHERE r.workspace_id = :workspace
      AND (:statuses = '[]' OR r.status IN (SELECT value FROM json_each(:statuses)))
      AND (:sources = '[]' OR r.source IN (SELECT value FROM json_each(:sources)))`,
    order: 'r.created_at DESC, r.id DESC',
    parameters: {
      workspace: workspace.id,
      statuses: wanted('filter[status]'),
      sources: wanted('filter[source]'),
    },
  };
  return pagedAnswer<RunRow>(services, request, query, (rows) =>
    rows.map((row) => runResource(row, permissions)),
  );
}

/** GET /plans/:plan_id and GET /runs/:run_id/plan */
export function showPlan(services: Services, request: ApiRequest): ApiAnswer {
  return showPart(services, request, {
    column: 'plan_id',
    what: 'Plan',
    show: (run) => planResource(run, logLink(services, request.origin, run, 'plan')),
  });
}

/** GET /applies/:apply_id and GET /runs/:run_id/apply */
export function showApply(services: Services, request: ApiRequest): ApiAnswer {
  return showPart(services, request, {
    column: 'apply_id',
    what: 'Apply',
    show: (run) => applyResource(run, logLink(services, request.origin, run, 'apply')),
  });
}

function showPart(
  services: Services,
  request: ApiRequest,
  { column, what, show }: { column: 'plan_id' | 'apply_id'; what: string; show: (run: RunRow) => Resource },
): ApiAnswer {
  const run = services.database.get<RunRow>(`SELECT * FROM runs WHERE id = :run OR ${column} = :part`, {
    run: request.params['run_id'] ?? null,
    part: request.params[column] ?? null,
  });
  const { record } = requireOwned(services, request, run, { ...READ, what });
  return ok({ data: show(record) });
}

const READ = { what: 'Run', permission: 'can-read-run' } as const;

/** The document of one run as it is now. */
export function runDocument(
  services: Services,
  permissions: WorkspacePermissions,
  id: string,
): { data: unknown } {
  const run = runById(services.database, id);
  return { data: run && runResource(run, permissions) };
}
