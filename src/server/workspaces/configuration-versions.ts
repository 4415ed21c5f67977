/** Configuration versions: the endpoints, the upload of an archive, and their events. */
import { type EventCause, SERVICE_ITSELF } from '../kernel/audit-events.ts';
import { callerById } from '../kernel/caller.ts';
import { conflict, invalid, notFound, type PointedProblem } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  created,
  type Endpoint,
  ok,
  on,
  recordedRead,
} from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { MemberReader, readResource } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { signedLink, type StoredFile } from '../kernel/signed-links.ts';
import { requireOwned, requireWorkspace } from './access.ts';
import {
  configurationVersionById,
  configurationVersionResource,
  type ConfigurationVersionRow,
  ingressResources,
} from './configuration-version-record.ts';
import { workspacePermissions, type WorkspacePermissions } from './permissions.ts';
import { beginRun } from './run-life-cycle.ts';
import { recordById } from './workspace-record.ts';

const OF_WORKSPACE = '/workspaces/:workspace_id/configuration-versions';
const BY_ID = '/configuration-versions/:configuration_version_id';

export const CONFIGURATION_VERSION_ENDPOINTS: readonly Endpoint[] = [
  on('GET', OF_WORKSPACE, listConfigurationVersions),
  on('POST', OF_WORKSPACE, createConfigurationVersion),
  recordedRead(BY_ID, showConfigurationVersion),
  on('GET', `${BY_ID}/ingress-attributes`, showIngressAttributes),
];

// POST /workspaces/:workspace_id/configuration-versions, and the archive that follows.
//
// pending ──the archive is sent to its link──▶ uploaded ──unless told otherwise, or local──▶ a run begins
//
// Invariant: the archive is taken and not kept: no engine runs here that would read it.

function createConfigurationVersion(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace, permissions } = requireWorkspace(services, request, 'can-queue-run');
  const problems: PointedProblem[] = [];
  const { attributes } = readResource(request.body, 'configuration-versions');
  const read = new MemberReader(attributes, '/data/attributes', problems);
  const row: ConfigurationVersionRow = {
    id: newId('cv'),
    workspace_id: workspace.id,
    status: 'pending',
    source: services.dialects.workspaces.source,
    speculative: Number(read.boolean('speculative') ?? false),
    provisional: Number(read.boolean('provisional') ?? false),
    auto_queue_runs: Number(read.boolean('auto-queue-runs') ?? true),
    error_message: null,
    ingress_id: null,
    ingress: null,
    created_by_id: request.caller.userId,
    created_at: services.now().toISOString(),
  };
  if (problems.length > 0) throw invalid(problems);
  services.database.insert('configuration_versions', { ...row });
  recordConfigurationEvent(
    services,
    { id: row.id, organization_id: workspace.organization_id },
    'create',
    request,
  );
  return created(configurationVersionDocument(services, request, permissions, row));
}

export const STORED_CONFIGURATIONS: readonly StoredFile[] = [
  {
    method: 'PUT',
    path: '/configuration-versions/:id/archive',
    handler: (services, id) => {
      takeArchive(services, id);
      return undefined;
    },
  },
];

function takeArchive(services: Services, id: string): void {
  const version = configurationVersionById(services.database, id);
  if (version === undefined) throw notFound('File');
  if (version.status !== 'pending') throw conflict('The configuration version has its archive already');
  const workspace = recordById(services.database, version.workspace_id);
  if (workspace === undefined) throw notFound('File');
  services.database.update('configuration_versions', id, { status: 'uploaded' });
  const creator = callerById(services.database, version.created_by_id ?? '', services.now());
  const cause = creator && { caller: creator };
  const { organization_id: organizationId } = workspace;
  recordConfigurationEvent(services, { id, organization_id: organizationId }, 'upload', cause);
  if (version.auto_queue_runs === 0 || version.provisional === 1) return;
  if (workspace.effective_execution_mode === 'local') return;
  const rights = creator && workspacePermissions(services.database, creator, [workspace]).get(workspace.id);
  beginRun(services, {
    workspaceId: version.workspace_id,
    organizationId,
    cause,
    configurationVersionId: id,
    createdById: version.created_by_id,
    planOnly: version.speculative === 1,
    isDestroy: false,
    mayApply: rights?.['can-queue-apply'] === true,
    message: 'Queued by a configuration that was uploaded',
  });
}

// Showing configuration versions: one by its id, all of a workspace, and where one came from.

/** GET /workspaces/:workspace_id/configuration-versions: the newest first. */
function listConfigurationVersions(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request);
  const query = {
    select: 'c.*',
    from: 'configuration_versions c WHERE c.workspace_id = :workspace',
    order: 'c.created_at DESC, c.id DESC',
    parameters: { workspace: workspace.id },
  };
  return pagedAnswer<ConfigurationVersionRow>(services, request, query, (rows) =>
    rows.map((row) => configurationVersionResource(row)),
  );
}

/** GET /configuration-versions/:configuration_version_id */
function showConfigurationVersion(services: Services, request: ApiRequest): ApiAnswer {
  const { record, permissions, workspace } = requireConfigurationVersion(services, request);
  const about = { id: record.id, organization_id: workspace.organization_id };
  recordConfigurationEvent(services, about, 'show', request);
  return ok(configurationVersionDocument(services, request, permissions, record));
}

/** GET /configuration-versions/:configuration_version_id/ingress-attributes */
function showIngressAttributes(services: Services, request: ApiRequest): ApiAnswer {
  const [ingress] = ingressResources(requireConfigurationVersion(services, request).record);
  if (ingress === undefined) throw notFound('Ingress attributes');
  return ok({ data: ingress });
}

function configurationVersionDocument(
  services: Services,
  { origin }: ApiRequest,
  permissions: WorkspacePermissions,
  row: ConfigurationVersionRow,
): { data: unknown } {
  const path = `/configuration-versions/${row.id}/archive`;
  const awaited = row.status === 'pending' && permissions['can-queue-run'];
  return {
    data: configurationVersionResource(
      row,
      awaited ? signedLink(services, origin, { method: 'PUT', path }) : null,
    ),
  };
}

function requireConfigurationVersion(services: Services, request: ApiRequest) {
  const id = request.params['configuration_version_id'] ?? '';
  return requireOwned(services, request, configurationVersionById(services.database, id), {
    what: 'Configuration version',
    permission: 'can-read-run',
  });
}

// What the audit trail learns of a configuration version.

/**
 * Call it in the transaction of the change. What is sent to a signed link is no request of the API: it is told as one of
 * who made the version, and has no id.
 */
function recordConfigurationEvent(
  services: Services,
  version: { readonly id: string; readonly organization_id: string },
  action: 'create' | 'show' | 'upload',
  cause: EventCause = { caller: SERVICE_ITSELF },
): void {
  services.recordEvent({
    organizationId: version.organization_id,
    actor: cause.caller,
    requestId: cause.requestId,
    resource: { id: version.id, type: 'configuration_version', action },
  });
}
