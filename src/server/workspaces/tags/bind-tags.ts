/**
 * Binding tags by requests of their own: PATCH /workspaces/:workspace_id/tag-bindings and
 * …/relationships/tag-bindings (wire/workspaces 1.5.4), and what projects need of the same.
 * Invariant: adding changes and adds keys and leaves the rest; nothing but replacing takes a key away.
 */
import type { Database } from '../../data-file/database.ts';
import { newId } from '../../identifiers.ts';
import type { Resource } from '../../json-api/document.ts';
import { type ApiAnswer, type ApiRequest, NO_CONTENT, ok } from '../../json-api/endpoint.ts';
import { invalid, type PointedProblem } from '../../json-api/errors.ts';
import type { Services } from '../../services.ts';
import { requireWorkspace } from '../access.ts';
import { recordWorkspaceEvent } from '../document/workspace-event.ts';
import type { WorkspaceRecord } from '../document/workspace-record.ts';
import {
  MAX_DIRECT_BINDINGS,
  readTagBindings,
  replaceTagBindings,
  type TagBinding,
  type TagBindingOwner,
} from './tag-bindings.ts';

interface DirectBindingRow {
  id: string;
  key: string;
  value: string;
  created_at: string;
}

/** The owner's own bindings, in the order in which their keys were bound. */
export function directBindings(database: Database, owner: TagBindingOwner): DirectBindingRow[] {
  const [[column, id] = ['workspace_id', '']] = Object.entries(owner);
  return database.all<DirectBindingRow>(
    `SELECT id, key, value, created_at FROM tag_bindings WHERE ${column} = :id ORDER BY position`,
    { id },
  );
}

export function directBindingResource({ id, key, value, created_at }: DirectBindingRow): Resource {
  return { id, type: 'tag-bindings', attributes: { key, value, 'created-at': created_at } };
}

/** The bindings of a body that is a list of them. @throws ApiError 422 */
export function readBindingList(body: unknown): readonly TagBinding[] {
  const problems: PointedProblem[] = [];
  const bindings = readTagBindings(body ?? {}, problems, '/data') ?? [];
  if (problems.length > 0) throw invalid(problems);
  return bindings;
}

/** Adds these and changes the values of those that are there. @returns them, in the order given. @throws ApiError 422 */
export function upsertTagBindings(
  { database, now }: Services,
  owner: TagBindingOwner,
  bindings: readonly TagBinding[],
): DirectBindingRow[] {
  const [[column, ownerId] = ['workspace_id', '']] = Object.entries(owner);
  for (const { key, value } of bindings) {
    database.run(
      `INSERT INTO tag_bindings (id, ${column}, key, value, created_at) VALUES (:id, :owner, :key, :value, :now)
       ON CONFLICT (${column}, key) DO UPDATE SET value = excluded.value`,
      { id: newId('tb'), owner: ownerId, key, value, now: now().toISOString() },
    );
  }
  const rows = directBindings(database, owner);
  if (rows.length > MAX_DIRECT_BINDINGS) {
    const detail = `At most ${MAX_DIRECT_BINDINGS} tags can be bound, and there would be ${rows.length}`;
    throw invalid([{ detail, pointer: '/data' }]);
  }
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return bindings.flatMap(({ key }) => byKey.get(key) ?? []);
}

/** PATCH /workspaces/:workspace_id/tag-bindings: 200 with what was given. */
export function patchTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-manage-tags');
  const bindings = readBindingList(request.body);
  const rows = upsertTagBindings(services, { workspace_id: workspace.id }, bindings);
  recordBinding(services, request, workspace, bindings);
  return ok({ data: rows.map(directBindingResource) });
}

/** POST /workspaces/:workspace_id/relationships/tag-bindings: adds and changes. */
export function addTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  patchTagBindings(services, request);
  return NO_CONTENT;
}

/** PATCH /workspaces/:workspace_id/relationships/tag-bindings: makes the bindings exactly these. */
export function replaceWorkspaceTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-manage-tags');
  const bindings = readBindingList(request.body);
  replaceTagBindings(services.database, { workspace_id: workspace.id }, bindings, services.now());
  recordBinding(services, request, workspace, bindings);
  return NO_CONTENT;
}

function recordBinding(
  services: Services,
  request: ApiRequest,
  workspace: WorkspaceRecord,
  bindings: readonly TagBinding[],
): void {
  const meta = { 'tag-bindings': bindings.map(({ key }) => key) };
  recordWorkspaceEvent(services, request, workspace, { action: 'update', meta });
}
