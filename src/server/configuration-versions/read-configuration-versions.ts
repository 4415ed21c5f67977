/** Showing configuration versions: one by its id, all of a workspace, and where one came from. */
import type { WorkspacePermissions } from '../identity/workspace-permissions.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../json-api/endpoint.ts';
import { notFound } from '../json-api/errors.ts';
import { pagedAnswer } from '../json-api/paged-answer.ts';
import type { Services } from '../services.ts';
import { signedLink } from '../signed-links/signed-link.ts';
import { requireWorkspace } from '../workspaces/access.ts';
import { requireOwned } from '../workspaces/owned-record.ts';
import { recordConfigurationEvent } from './configuration-event.ts';
import {
  type ConfigurationVersionRow,
  configurationVersionById,
  configurationVersionResource,
  ingressResources,
} from './configuration-version-record.ts';

/** GET /workspaces/:workspace_id/configuration-versions: the newest first. */
export function listConfigurationVersions(services: Services, request: ApiRequest): ApiAnswer {
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
export function showConfigurationVersion(services: Services, request: ApiRequest): ApiAnswer {
  const { record, permissions, workspace } = requireConfigurationVersion(services, request);
  const about = { id: record.id, organization_id: workspace.organization_id };
  recordConfigurationEvent(services, about, 'show', request);
  return ok(configurationVersionDocument(services, request, permissions, record));
}

/** GET /configuration-versions/:configuration_version_id/ingress-attributes */
export function showIngressAttributes(services: Services, request: ApiRequest): ApiAnswer {
  const [ingress] = ingressResources(requireConfigurationVersion(services, request).record);
  if (ingress === undefined) throw notFound('Ingress attributes');
  return ok({ data: ingress });
}

export function configurationVersionDocument(
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
