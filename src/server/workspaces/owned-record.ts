/**
 * Finding what belongs to a workspace and is asked for by an id of its own: a run, a state version.
 * Invariant: who may not see the workspace, or lacks the permission, gets the 404 of what does not exist.
 */
import { type Permission, workspacePermissions } from '../identity/workspace-permissions.ts';
import type { ApiRequest } from '../json-api/endpoint.ts';
import { notFound } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import type { AccessibleWorkspace } from './access.ts';
import { recordById } from './document/workspace-record.ts';

/** `what` is how errors call the record. @throws ApiError 404 */
export function requireOwned<Row extends { readonly workspace_id: string }>(
  services: Services,
  request: ApiRequest,
  record: Row | undefined,
  { what, permission }: { readonly what: string; readonly permission: Permission },
): AccessibleWorkspace & { readonly record: Row } {
  const workspace = recordById(services.database, record?.workspace_id ?? '');
  if (record === undefined || workspace === undefined) throw notFound(what);
  const permissions = workspacePermissions(services.database, request.caller, [workspace]).get(workspace.id);
  if (!permissions?.[permission]) throw notFound(what);
  return { record, workspace, permissions };
}
