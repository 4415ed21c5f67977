/** Configuration versions: the endpoints, the upload of an archive, and their events. */
import { recordEvent, SERVICE_ITSELF } from '../kernel/audit-events.ts';
import { callerById } from '../kernel/caller.ts';
import { conflict, invalid, notFound } from '../kernel/documents.ts';
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
import { readAttributes } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { signedLink, type UploadedFile } from '../kernel/signed-links.ts';
import { requireOfWorkspace, requireWorkspace } from './access.ts';
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
// pending ──the archive is sent to its link──▶ uploaded ──unless auto-queue-runs is false or the mode is local──▶ a run begins
//
// Invariant: the archive is accepted and not stored: no engine runs here that would read it.

function createConfigurationVersion(request: ApiRequest): ApiAnswer {
  const { workspace, permissions } = requireWorkspace(request, 'can-queue-run');
  const { read, problems } = readAttributes(request.body, 'configuration-versions');
  const row: ConfigurationVersionRow = {
    id: newId('cv'),
    workspace_id: workspace.id,
    status: 'pending',
    source: request.services.dialects.workspaces.source,
    speculative: Number(read.boolean('speculative') ?? false),
    provisional: Number(read.boolean('provisional') ?? false),
    auto_queue_runs: Number(read.boolean('auto-queue-runs') ?? true),
    error_message: null,
    ingress_id: null,
    ingress: null,
    created_by_id: request.caller.userId,
    created_at: request.services.now().toISOString(),
  };
  if (problems.length > 0) throw invalid(problems);
  request.services.database.insert('configuration_versions', { ...row });
  recordEvent(request, 'configuration_version.create', {
    id: row.id,
    organization_id: workspace.organization_id,
  });
  return created(configurationVersionDocument(request, permissions, row));
}

export const UPLOADED_CONFIGURATIONS: readonly UploadedFile[] = [
  {
    method: 'PUT',
    path: '/configuration-versions/:id/archive',
    begin: (services, id) => {
      requirePending(services, id);
      return { write: () => {}, end: () => acceptArchive(services, id), giveUp: () => {} };
    },
  },
];

function requirePending({ database }: Services, id: string): ConfigurationVersionRow {
  const version = configurationVersionById(database, id);
  if (version === undefined) throw notFound('File');
  if (version.status !== 'pending') throw conflict('The configuration version has its archive already');
  return version;
}

function acceptArchive(services: Services, id: string): void {
  const version = requirePending(services, id);
  const workspace = recordById(services.database, version.workspace_id);
  if (workspace === undefined) throw notFound('File');
  services.database.update('configuration_versions', id, { status: 'uploaded' });
  const creator = callerById(services.database, version.created_by_id ?? '', services.now());
  // An upload to a signed link has no authenticated caller, so the creator of the version is the actor.
  const cause = { services, caller: creator ?? SERVICE_ITSELF };
  const { organization_id: organizationId } = workspace;
  recordEvent(cause, 'configuration_version.upload', { id, organization_id: organizationId });
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

// Showing configuration versions: one by its id, all of a workspace, and the ingress attributes of one.

/** GET /workspaces/:workspace_id/configuration-versions: the newest first. */
function listConfigurationVersions(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request);
  const query = {
    select: 'c.*',
    from: 'configuration_versions c WHERE c.workspace_id = :workspace',
    order: 'c.created_at DESC, c.id DESC',
    parameters: { workspace: workspace.id },
  };
  return pagedAnswer<ConfigurationVersionRow>(request, query, (rows) =>
    rows.map((row) => configurationVersionResource(row)),
  );
}

/** GET /configuration-versions/:configuration_version_id */
function showConfigurationVersion(request: ApiRequest): ApiAnswer {
  const { record, permissions, workspace } = requireConfigurationVersion(request);
  const about = { id: record.id, organization_id: workspace.organization_id };
  recordEvent(request, 'configuration_version.show', about);
  return ok(configurationVersionDocument(request, permissions, record));
}

/** GET /configuration-versions/:configuration_version_id/ingress-attributes */
function showIngressAttributes(request: ApiRequest): ApiAnswer {
  const [ingress] = ingressResources(requireConfigurationVersion(request).record);
  if (ingress === undefined) throw notFound('Ingress attributes');
  return ok({ data: ingress });
}

function configurationVersionDocument(
  { services, origin }: ApiRequest,
  permissions: WorkspacePermissions,
  row: ConfigurationVersionRow,
): { data: unknown } {
  const path = `/configuration-versions/${row.id}/archive`;
  const awaitsArchive = row.status === 'pending' && permissions['can-queue-run'];
  return {
    data: configurationVersionResource(
      row,
      awaitsArchive ? signedLink(services, origin, { method: 'PUT', path }) : null,
    ),
  };
}

function requireConfigurationVersion(request: ApiRequest) {
  const id = request.params['configuration_version_id'] ?? '';
  return requireOfWorkspace(request, configurationVersionById(request.services.database, id), {
    what: 'Configuration version',
    permission: 'can-read-run',
  });
}
