/** PATCH /workspaces/:workspace_id/relationships/ssh-key: assigns an SSH key, or with a null id takes it away. */
import { asObject, isOfType } from '../../json-api/body.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../../json-api/endpoint.ts';
import { invalid, notFound } from '../../json-api/errors.ts';
import type { Services } from '../../services.ts';
import { requireWorkspace } from '../access.ts';
import { workspaceDocument } from '../show.ts';
import { recordWorkspaceEvent } from '../document/workspace-event.ts';

export function assignSshKey(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-update');
  const id = requestedKey(request.body);
  const known =
    id === null ||
    services.database.get('SELECT 1 FROM ssh_keys WHERE id = :id AND organization_id = :organization', {
      id,
      organization: workspace.organization_id,
    }) !== undefined;
  if (!known) throw notFound('SSH key');
  if (id !== workspace.ssh_key_id) {
    const updatedAt = services.now().toISOString();
    services.database.update('workspaces', workspace.id, { ssh_key_id: id, updated_at: updatedAt });
    recordWorkspaceEvent(services, request, workspace, { action: 'update', meta: { 'ssh-key': id } });
  }
  return ok(workspaceDocument(services, request, workspace.id));
}

/** Two body forms are in use: `{type: workspaces, attributes: {id}}` and `{type: ssh-keys, id}` (or data null). */
function requestedKey(body: unknown): string | null {
  const envelope = asObject(body);
  if (envelope?.['data'] === null) return null;
  const data = asObject(envelope?.['data']);
  const attributes = asObject(data?.['attributes']);
  // Without a type, attributes tell which form it is.
  if (isOfType(data, 'ssh-keys') && (attributes === undefined || !isOfType(data, 'workspaces')))
    return readId(data?.['id'], '/data/id');
  if (isOfType(data, 'workspaces')) return readId(attributes?.['id'], '/data/attributes/id');
  throw invalid([{ detail: 'type must be "workspaces" or "ssh-keys"', pointer: '/data/type' }]);
}

/** An empty id means none, like null; leaving it out would be ambiguous and is refused. */
function readId(id: unknown, pointer: string): string | null {
  if (id === null || id === '') return null;
  if (typeof id === 'string') return id;
  throw invalid([{ detail: 'id must be the id of an SSH key, or null', pointer }]);
}
