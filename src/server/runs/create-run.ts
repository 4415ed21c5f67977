/**
 * POST /runs.
 * Invariant: who may see the workspace and may not queue such a run is answered 404 like anyone else; a run that no
 * engine would take is refused before anything is written.
 */
import type { Permission } from '../identity/workspace-permissions.ts';
import { configurationVersionById } from '../configuration-versions/configuration-version-record.ts';
import { asObject, MemberReader, readResource } from '../json-api/body.ts';
import { type ApiAnswer, type ApiRequest, created } from '../json-api/endpoint.ts';
import { invalid, notFound, type PointedProblem } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import { requireWorkspace } from '../workspaces/access.ts';
import type { WorkspaceRecord } from '../workspaces/document/workspace-record.ts';
import { runDocument } from './read-runs.ts';
import { beginRun } from './run-life-cycle.ts';

export function createRun(services: Services, request: ApiRequest): ApiAnswer {
  const workspaceId = relatedId(request.body, 'workspace');
  const params = { workspace_id: workspaceId ?? '' };
  const { workspace, permissions } = requireWorkspace(services, { ...request, params }, 'can-queue-run');
  const body = readBody(request.body);
  const needed: Permission[] = [
    ...(body.isDestroy ? (['can-queue-destroy'] as const) : []),
    ...(body.autoApply === true ? (['can-queue-apply'] as const) : []),
  ];
  if (needed.some((permission) => !permissions[permission])) throw notFound('Workspace');
  const configurationVersionId = settle(services, workspace, body);
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
function settle({ database }: Services, workspace: WorkspaceRecord, body: RunBody): string | null {
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
