/**
 * Binding tags by requests of their own: PATCH /workspaces/:workspace_id/tag-bindings and
 * …/relationships/tag-bindings (wire/workspaces 1.5.4), and what projects need of the same.
 * Invariant: adding changes and adds keys and leaves the rest; nothing but replacing takes a key away.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { invalid, type PointedProblem, type Resource } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, NO_CONTENT, ok } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { requireWorkspace } from './access.ts';
import {
  bindTags,
  MAX_DIRECT_BINDINGS,
  ownerColumn,
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
  const [column, id] = ownerColumn(owner);
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

/**
 * Adds these and changes the values of those that are there.
 * @returns them, in the order given, and whether any of them was not there so. @throws ApiError 422
 */
export function upsertTagBindings(
  { database, now }: Services,
  owner: TagBindingOwner,
  bindings: readonly TagBinding[],
): { readonly rows: DirectBindingRow[]; readonly changed: boolean } {
  const changed = bindTags(database, owner, bindings, now());
  const rows = directBindings(database, owner);
  if (rows.length > MAX_DIRECT_BINDINGS) {
    const detail = `At most ${MAX_DIRECT_BINDINGS} tags can be bound, and there would be ${rows.length}`;
    throw invalid([{ detail, pointer: '/data' }]);
  }
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return { rows: bindings.flatMap(({ key }) => byKey.get(key) ?? []), changed };
}

/** PATCH /workspaces/:workspace_id/tag-bindings: 200 with what was given. */
export function patchTagBindings(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-manage-tags');
  const bindings = readBindingList(request.body);
  const { rows, changed } = upsertTagBindings(request.services, { workspace_id: workspace.id }, bindings);
  if (changed) recordEvent(request, 'workspace.update', workspace, boundKeys(bindings));
  return ok({ data: rows.map(directBindingResource) });
}

/** POST /workspaces/:workspace_id/relationships/tag-bindings: adds and changes. */
export function addTagBindings(request: ApiRequest): ApiAnswer {
  patchTagBindings(request);
  return NO_CONTENT;
}

/** PATCH /workspaces/:workspace_id/relationships/tag-bindings: makes the bindings exactly these. */
export function replaceWorkspaceTagBindings(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-manage-tags');
  const bindings = readBindingList(request.body);
  const owner = { workspace_id: workspace.id };
  const changed = replaceTagBindings(request.services.database, owner, bindings, request.services.now());
  if (changed) recordEvent(request, 'workspace.update', workspace, boundKeys(bindings));
  return NO_CONTENT;
}

/** What the audit trail learns of a list of bindings. */
export function boundKeys(bindings: readonly TagBinding[]): Readonly<Record<string, unknown>> {
  return { 'tag-bindings': bindings.map(({ key }) => key) };
}
