/** The endpoints of runs, plans and applies: create, show, apply, discard, cancel. */
import { recordEvent } from '../kernel/audit-events.ts';
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
  queryText,
} from '../kernel/endpoint.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { asObject, readAttributes } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { type ServedFile, signedLink } from '../kernel/signed-links.ts';
import { requireOfWorkspace, requireWorkspace } from './access.ts';
import { configurationVersionById } from './configuration-version-record.ts';
import type { Permission, WorkspacePermissions } from './permissions.ts';
import { beginRun, finishRun, lockForRun } from './run-life-cycle.ts';
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
// Invariant: a caller who may not queue such a run gets 404, even if it can read the workspace; an invalid run is refused before
// anything is written.

function createRun(request: ApiRequest): ApiAnswer {
  const workspaceId = relatedId(request.body, 'workspace');
  const params = { workspace_id: workspaceId ?? '' };
  const { workspace, permissions } = requireWorkspace({ ...request, params }, 'can-queue-run');
  const body = readBody(request.body);
  const needed: Permission[] = [
    ...(body.isDestroy ? (['can-queue-destroy'] as const) : []),
    ...(body.autoApply === true ? (['can-queue-apply'] as const) : []),
  ];
  if (needed.some((permission) => !permissions[permission])) throw notFound('Workspace');
  const configurationVersionId = resolveConfigurationVersion(request.services, workspace, body);
  const configuration = configurationVersionById(request.services.database, configurationVersionId ?? '');
  const id = beginRun(request.services, {
    workspaceId: workspace.id,
    organizationId: workspace.organization_id,
    cause: request,
    configurationVersionId,
    createdById: request.caller.userId,
    // A speculative configuration is planned only, never applied.
    planOnly: body.planOnly || configuration?.speculative === 1,
    isDestroy: body.isDestroy,
    message: body.message ?? null,
    autoApply: body.autoApply,
    mayApply: permissions['can-queue-apply'],
  });
  return created(runDocument(request.services, permissions, id));
}

type RunBody = ReturnType<typeof readBody>;

function readBody(body: unknown) {
  const { read, problems } = readAttributes(body, 'runs');
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

/** The configuration of the run: the one that the body names, or the workspace's current one. @throws ApiError 422 */
function resolveConfigurationVersion(
  { database }: Services,
  workspace: WorkspaceRecord,
  body: RunBody,
): string | null {
  const problems: PointedProblem[] = [];
  if (workspace.effective_execution_mode === 'local') {
    problems.push({
      detail: 'A workspace with the execution mode "local" only stores states and has no runs',
      pointer: '/data/relationships/workspace',
    });
  }
  if (body.isDestroy && workspace.allow_destroy_plan === 0) {
    problems.push({
      detail: 'The workspace does not allow destroy plans',
      pointer: '/data/attributes/is-destroy',
    });
  }
  const named = body.configurationVersionId;
  const version = configurationVersionById(database, named ?? '');
  if (named !== undefined && (version?.workspace_id !== workspace.id || version.status !== 'uploaded')) {
    problems.push({
      detail: 'The configuration version does not belong to this workspace, or was not uploaded',
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

// Showing one run or those of a workspace, and their plans and applies.

/** GET /runs/:run_id */
function showRun(request: ApiRequest): ApiAnswer {
  const found = runById(request.services.database, request.params['run_id'] ?? '');
  const { record, permissions } = requireOfWorkspace(request, found, READ);
  return ok({ data: runResource(record, permissions, request.services.dialects.workspaces) });
}

/** GET /runs/:run_id/run-events: always empty; the command line of the real service reads it. */
function listRunEvents(request: ApiRequest): ApiAnswer {
  const found = runById(request.services.database, request.params['run_id'] ?? '');
  requireOfWorkspace(request, found, READ);
  return ok({ data: [] });
}

/** GET /workspaces/:workspace_id/runs: the newest first. `filter[status]`, `filter[source]`. */
function listRuns(request: ApiRequest): ApiAnswer {
  const { workspace, permissions } = requireWorkspace(request);
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
  return pagedAnswer<RunRow>(request, query, (rows) =>
    rows.map((row) => runResource(row, permissions, request.services.dialects.workspaces)),
  );
}

/** GET /plans/:plan_id and GET /runs/:run_id/plan */
function showPlan(request: ApiRequest): ApiAnswer {
  return showPhase(request, {
    column: 'plan_id',
    what: 'Plan',
    show: (run) => planResource(run, logLink(request.services, request.origin, run, 'plan')),
  });
}

/** GET /applies/:apply_id and GET /runs/:run_id/apply */
function showApply(request: ApiRequest): ApiAnswer {
  return showPhase(request, {
    column: 'apply_id',
    what: 'Apply',
    show: (run) => applyResource(run, logLink(request.services, request.origin, run, 'apply')),
  });
}

function showPhase(
  request: ApiRequest,
  { column, what, show }: { column: 'plan_id' | 'apply_id'; what: string; show: (run: RunRow) => Resource },
): ApiAnswer {
  const run = request.services.database.get<RunRow>(
    `SELECT * FROM runs WHERE id = :run OR ${column} = :part`,
    {
      run: request.params['run_id'] ?? null,
      part: request.params[column] ?? null,
    },
  );
  const { record } = requireOfWorkspace(request, run, { ...READ, what });
  return ok({ data: show(record) });
}

const READ = { what: 'Run', permission: 'can-read-run' } as const;

/** The document of one run as it is now. */
function runDocument(services: Services, permissions: WorkspacePermissions, id: string): { data: unknown } {
  const run = runById(services.database, id);
  return { data: run && runResource(run, permissions, services.dialects.workspaces) };
}

// POST /runs/:run_id/actions/apply, discard and cancel: 202, or 409 when the status of the run does not allow it.
// Applying is a 503 while a state version that would become current is pending.
// Invariant: the service accepts exactly the actions that the run's document shows as possible.

function applyRun(request: ApiRequest): ApiAnswer {
  const run = requireRun(request, 'is-confirmable');
  requireUploadedState(request.services.database, { workspaceId: run.workspace_id, runId: run.id });
  // An admin may have force-unlocked the workspace, and another user, team or run may hold the lock now.
  if (!lockForRun(request.services, run.workspace_id, run.id))
    throw conflict('The workspace is locked by another user, team or run');
  recordEvent(request, 'run.apply', run);
  finishRun(request.services, run, 'applied');
  return ACCEPTED;
}

function discardRun(request: ApiRequest): ApiAnswer {
  const run = requireRun(request, 'is-discardable');
  recordEvent(request, 'run.discard', run);
  finishRun(request.services, run, 'discarded');
  return ACCEPTED;
}

function cancelRun(request: ApiRequest): ApiAnswer {
  const run = requireRun(request, 'is-cancelable');
  recordEvent(request, 'run.cancel', run);
  finishRun(request.services, run, 'canceled');
  return ACCEPTED;
}

/** @throws ApiError 404 without the right to apply, 409 when the run does not allow this now */
function requireRun(request: ApiRequest, possible: string): RunRow & { organization_id: string } {
  const found = runById(request.services.database, request.params['run_id'] ?? '');
  const access = { what: 'Run', permission: 'can-queue-apply' } as const;
  const { record, workspace } = requireOfWorkspace(request, found, access);
  if (possibleActions(record)[possible] !== true)
    throw conflict(`The run is ${record.status}: this cannot be done`);
  return { ...record, organization_id: workspace.organization_id };
}

type RunPhase = 'plan' | 'apply';

/** The characters that begin and end a log. */
const [BEGIN, END] = ['\u0002', '\u0003'];

function logOf(phase: RunPhase): string {
  return `${BEGIN}The ${phase} did not run: this service stores workspaces and states, but has no engine for runs.
Set "execution-mode" to "local" in the workspace, or as the default of its organization, to run on your own machine.
${END}`;
}

/**
 * The logs of plans and applies, behind signed links, in the form that the service's command line reads (wire/workspaces 6.5).
 * Invariant: each log says that no engine runs here and what to do, so that people do not mistake the run for a real one.
 */
export const SERVED_LOGS: readonly ServedFile[] = (['plan', 'apply'] as const).map((phase) => ({
  method: 'GET',
  path: `/runs/:id/logs/${phase}`,
  read: ({ database }, id, query) => {
    if (runById(database, id) === undefined) throw notFound('File');
    const number = (name: string): number | undefined => {
      const text = queryText(query, name);
      return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
    };
    const from = number('offset') ?? 0;
    const log = logOf(phase).slice(from, from + (number('limit') ?? Number.MAX_SAFE_INTEGER));
    return { size: Buffer.byteLength(log), parts: [Buffer.from(log)] };
  },
}));

/** The attribute with the link to the log of a run's plan or apply; empty if the dialect has no logs. */
export function logLink(
  services: Services,
  origin: string,
  { id }: Pick<RunRow, 'id'>,
  phase: RunPhase,
): { readonly 'log-read-url'?: string } {
  if (!services.dialects.workspaces.hasLogs) return {};
  const link = signedLink(services, origin, { method: 'GET', path: `/runs/${id}/logs/${phase}` });
  return { 'log-read-url': link };
}
