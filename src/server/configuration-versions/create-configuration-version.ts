/**
 * POST /workspaces/:workspace_id/configuration-versions, and the archive that follows.
 *
 * pending ──the archive is sent to its link──▶ uploaded ──unless told otherwise, or local──▶ a run begins
 *
 * Invariant: the archive is taken and not kept: no engine runs here that would read it.
 */
import { newId } from '../identifiers.ts';
import { callerById } from '../identity/caller.ts';
import { workspacePermissions } from '../identity/workspace-permissions.ts';
import { MemberReader, readResource } from '../json-api/body.ts';
import { type ApiAnswer, type ApiRequest, created } from '../json-api/endpoint.ts';
import { conflict, invalid, notFound, type PointedProblem } from '../json-api/errors.ts';
import { beginRun } from '../runs/run-life-cycle.ts';
import type { Services } from '../services.ts';
import type { StoredFile } from '../signed-links/serve-storage.ts';
import { requireWorkspace } from '../workspaces/access.ts';
import { recordById } from '../workspaces/document/workspace-record.ts';
import { type ConfigurationVersionRow, configurationVersionById } from './configuration-version-record.ts';
import { recordConfigurationEvent } from './configuration-event.ts';
import { configurationVersionDocument } from './read-configuration-versions.ts';

export function createConfigurationVersion(services: Services, request: ApiRequest): ApiAnswer {
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
