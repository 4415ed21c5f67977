/**
 * Safe delete (POST …/actions/safe-delete) and force delete (DELETE), by id and by name.
 * Invariant: a safe delete never removes a workspace that manages resources, is locked, or whose newest state is still
 * being processed; a force delete asks nothing but the right to do it.
 */
import { type ApiAnswer, type ApiRequest, NO_CONTENT } from '../json-api/endpoint.ts';
import { conflict, forbidden } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import { requireWorkspace } from './access.ts';
import { newestStateVersion } from './document/state-versions.ts';
import { dropUnusedTags } from './tags/tags.ts';
import { recordWorkspaceEvent } from './document/workspace-event.ts';
import type { WorkspaceRecord } from './document/workspace-record.ts';

export function safeDeleteWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-destroy');
  // Clients tell these three apart by the words "locked" and "being processed".
  if (workspace.locked_by_id !== null) {
    throw conflict('The workspace is locked and cannot be safely deleted');
  }
  if (newestStateVersion(services.database, workspace.id)?.status === 'pending') {
    throw conflict('The newest state version of the workspace is still being processed');
  }
  const { resource_count: count } = workspace;
  if (count > 0) {
    const resources = `${count} ${count === 1 ? 'resource' : 'resources'}`;
    throw conflict(`The workspace still manages ${resources} and cannot be safely deleted`);
  }
  removeWorkspace(services, request, workspace);
  return NO_CONTENT;
}

export function forceDeleteWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace, permissions } = requireWorkspace(services, request);
  if (!permissions['can-force-delete']) {
    throw forbidden(
      'Force delete needs an organization owner, or a workspace admin where the organization allows it',
    );
  }
  removeWorkspace(services, request, workspace);
  return NO_CONTENT;
}

function removeWorkspace(services: Services, request: ApiRequest, workspace: WorkspaceRecord): void {
  services.database.run('DELETE FROM workspaces WHERE id = :id', { id: workspace.id });
  dropUnusedTags(services.database, workspace.organization_id);
  recordWorkspaceEvent(services, request, workspace, { action: 'destroy', meta: { name: workspace.name } });
}
