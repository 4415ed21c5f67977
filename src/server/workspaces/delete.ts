/**
 * Safe delete (POST …/actions/safe-delete) and force delete (DELETE), by id and by name.
 * Invariant: a safe delete never removes a workspace that manages resources, by its current state or by a newer one that
 * never became current, or whose newest state is still being processed; a force delete asks only for the right to do it.
 */
import { type ApiAnswer, type ApiRequest, NO_CONTENT } from '../json-api/endpoint.ts';
import { conflict, forbidden } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import { requireWorkspace } from './access.ts';
import { isNewestAwaited, newestFinalizedStateVersion } from '../state-versions/state-version-record.ts';
import { dropUnusedTags } from './tags/tags.ts';
import { recordWorkspaceEvent } from './document/workspace-event.ts';
import type { WorkspaceRecord } from './document/workspace-record.ts';

export function safeDeleteWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-destroy');
  // Clients tell these three apart by the words "locked" and "being processed".
  if (workspace.locked_by_id !== null && services.dialects.workspaces.safeDeleteNeedsUnlocked) {
    throw conflict('The workspace is locked and cannot be safely deleted');
  }
  if (isNewestAwaited(services.database, workspace.id, services.now())) {
    throw conflict('The newest state version of the workspace is still being processed');
  }
  // A state that was saved before a forced unlock is not current, and yet the only one that knows of what it made.
  const newest = newestFinalizedStateVersion(services.database, workspace.id);
  const count = Math.max(workspace.resource_count, newest?.resource_count ?? 0);
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
