/** The endpoints of runs, plans and applies: create, show, apply, discard, cancel. */
import { conflict, invalid, notFound, type PointedProblem, type Resource } from '../kernel/documents.ts';
import {
  ACCEPTED,
  type ApiAnswer,
  type ApiRequest,
  created,
  type Endpoint,
  ok,
  on,
  queryList,
} from '../kernel/endpoint.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { asObject, MemberReader, readResource } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { requireOwned, requireWorkspace } from './access.ts';
import { configurationVersionById } from './configuration-version-record.ts';
import type { Permission, WorkspacePermissions } from './permissions.ts';
import { beginRun, finishRun, lockForRun, recordRunEvent } from './run-life-cycle.ts';
import { logLink } from './run-logs.ts';
import {
  applyResource,
  planResource,
  possibleActions,
  runById,
  runResource,
  type RunRow,
} from './run-record.ts';
import { requireUploadedState } from './state-version-record.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

const BY_ID = '/runs/:run_id';

export const RUN_ENDPOINTS: readonly Endpoint[] = [
  on('POST', '/runs', createRun),
  on('GET', BY_ID, showRun),
  on('GET', `${BY_ID}/run-events`, listRunEvents),
  on('GET', '/workspaces/:workspace_id/runs', listRuns),
  on('POST', `${BY_ID}/actions/apply`, applyRun),
  on('POST', `${BY_ID}/actions/discard`, discardRun),
  on('POST', `${BY_ID}/actions/cancel`, cancelRun),
  on('GET', `${BY_ID}/plan`, showPlan),
  on('GET', `${BY_ID}/apply`, showApply),
  on('GET', '/plans/:plan_id', showPlan),
  on('GET', '/applies/:apply_id', showApply),
];

// POST /runs.
// Invariant: who may see the workspace and may not queue such a run is answered 404 like anyone else; a run that no
// engine would take is refused before anything is written.

function createRun(services: Services, request: ApiRequest): ApiAnswer {
  const workspaceId = relatedId(request.body, 'workspace');
  const params = { workspace_id: workspaceId ?? '' };
  const { workspace, permissions } = requireWorkspace(services, { ...request, params }, 'can-queue-run');
  const body = readBody(request.body);
  const needed: Permission[] = [
    ...(body.isDestroy ? (['can-queue-destroy'] as const) : []),
    ...(body.autoApply === true ? (['can-queue-apply'] as const) : []),
  ];
  if (needed.some((permission) => !permissions[permission])) throw notFound('Workspace');
  const configurationVersionId = resolveConfigurationVersion(services, workspace, body);
  const configuration = configurationVersionById(services.database, configurationVersionId ?? '');
  const id = beginRun(services, {
    workspaceId: workspace.id,
    organizationId: workspace.organization_id,
    cause: request,
    configurationVersionId,
    createdById: request.caller.userId,
    // A configuration that was only to be looked at is never applied, whoever asks.
    planOnly: body.planOnly || configuration?.speculative === 1,
    isDestroy: body.isDestroy,
    message: body.message ?? null,
    autoApply: body.autoApply,
    mayApply: permissions['can-queue-apply'],
  });
  return created(runDocument(services, permissions, id));
}

interface RunBody {
  readonly message: string | null | undefined;
  readonly isDestroy: boolean;
  readonly planOnly: boolean;
  readonly autoApply: boolean | undefined;
  readonly configurationVersionId: string | undefined;
}

function readBody(body: unknown): RunBody {
  const problems: PointedProblem[] = [];
  const { attributes } = readResource(body, 'runs');
  const read = new MemberReader(attributes, '/data/attributes', problems);
  const result = {
    message: read.nullableText('message'),
    isDestroy: read.boolean('is-destroy') ?? false,
    planOnly: read.boolean('plan-only') ?? false,
    autoApply: read.boolean('auto-apply'),
    configurationVersionId: relatedId(body, 'configuration-version'),
  };
  if (problems.length > 0) throw invalid(problems);
  return result;
}

/** The configuration that the run works with: the one it names, or the workspace's current one. @throws ApiError 422 */
function resolveConfigurationVersion(
  { database }: Services,
  workspace: WorkspaceRecord,
  body: RunBody,
): string | null {
  const problems: PointedProblem[] = [];
  if (workspace.effective_execution_mode === 'local') {
    problems.push({
      detail: 'The execution mode "local" keeps states only: it runs nothing',
      pointer: '/data/relationships/workspace',
    });
  }
  if (body.isDestroy && workspace.allow_destroy_plan === 0) {
    problems.push({
      detail: 'The workspace allows no destroy plans',
      pointer: '/data/attributes/is-destroy',
    });
  }
  const named = body.configurationVersionId;
  const version = configurationVersionById(database, named ?? '');
  if (named !== undefined && (version?.workspace_id !== workspace.id || version.status !== 'uploaded')) {
    problems.push({
      detail: 'The configuration version is not one of this workspace, or was not uploaded',
      pointer: '/data/relationships/configuration-version/data/id',
    });
  }
  if (problems.length > 0) throw invalid(problems);
  return named ?? workspace.current_configuration_version_id;
}

function relatedId(body: unknown, name: string): string | undefined {
  const relationships = asObject(asObject(asObject(body)?.['data'])?.['relationships']);
  const id = asObject(asObject(relationships?.[name])?.['data'])?.['id'];
  return typeof id === 'string' ? id : undefined;
}

// Showing runs, one or those of a workspace, with their plans and applies.

/** GET /runs/:run_id */
function showRun(services: Services, request: ApiRequest): ApiAnswer {
  const found = runById(services.database, request.params['run_id'] ?? '');
  const { record, permissions } = requireOwned(services, request, found, READ);
  return ok({ data: runResource(record, permissions) });
}

/** GET /runs/:run_id/run-events: what others did to the run. The command line asks; nothing of the kind is kept. */
function listRunEvents(services: Services, request: ApiRequest): ApiAnswer {
  const found = runById(services.database, request.params['run_id'] ?? '');
  requireOwned(services, request, found, READ);
  return ok({ data: [] });
}

/** GET /workspaces/:workspace_id/runs: the newest first. `filter[status]`, `filter[source]`. */
function listRuns(services: Services, request: ApiRequest): ApiAnswer {
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
function showPlan(services: Services, request: ApiRequest): ApiAnswer {
  return showPart(services, request, {
    column: 'plan_id',
    what: 'Plan',
    show: (run) => planResource(run, logLink(services, request.origin, run, 'plan')),
  });
}

/** GET /applies/:apply_id and GET /runs/:run_id/apply */
function showApply(services: Services, request: ApiRequest): ApiAnswer {
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
function runDocument(services: Services, permissions: WorkspacePermissions, id: string): { data: unknown } {
  const run = runById(services.database, id);
  return { data: run && runResource(run, permissions) };
}

// POST /runs/:run_id/actions/apply, discard and cancel: 202, or 409 where the run does not stand so.
// To apply is also a 503 while a state version that would become current is pending.
// Invariant: what a run's document calls possible is what its actions take.

function applyRun(services: Services, request: ApiRequest): ApiAnswer {
  const run = requireRun(services, request, 'is-confirmable');
  requireUploadedState(services.database, { workspaceId: run.workspace_id, runId: run.id });
  // An admin may have forced the lock off, and somebody else may hold it now.
  if (!lockForRun(services, run.workspace_id, run.id))
    throw conflict('The workspace is locked by somebody else');
  recordRunEvent(services, run, 'apply', request);
  finishRun(services, run, 'applied');
  return ACCEPTED;
}

function discardRun(services: Services, request: ApiRequest): ApiAnswer {
  const run = requireRun(services, request, 'is-discardable');
  recordRunEvent(services, run, 'discard', request);
  finishRun(services, run, 'discarded');
  return ACCEPTED;
}

function cancelRun(services: Services, request: ApiRequest): ApiAnswer {
  const run = requireRun(services, request, 'is-cancelable');
  recordRunEvent(services, run, 'cancel', request);
  finishRun(services, run, 'canceled');
  return ACCEPTED;
}

/** @throws ApiError 404 without the right to apply, 409 when the run does not allow this now */
function requireRun(
  services: Services,
  request: ApiRequest,
  possible: string,
): RunRow & { organization_id: string } {
  const found = runById(services.database, request.params['run_id'] ?? '');
  const access = { what: 'Run', permission: 'can-queue-apply' } as const;
  const { record, workspace } = requireOwned(services, request, found, access);
  if (possibleActions(record)[possible] !== true)
    throw conflict(`The run is ${record.status}: this cannot be done`);
  return { ...record, organization_id: workspace.organization_id };
}
