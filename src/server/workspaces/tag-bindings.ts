/**
 * Key-value tags: the rules for a list of them, replacing a workspace's own, and inheriting those of its project.
 * Invariant: a workspace has at most one binding per key, and its own value overrides the project's.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { invalid, type PointedProblem, type Resource } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, NO_CONTENT, ok } from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { asObject, isOfType } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { requireWorkspace } from './access.ts';

export interface TagBinding {
  readonly key: string;
  readonly value: string;
}

const MAX_DIRECT_BINDINGS = 10;
const MAX_KEY_LENGTH = 128;
const MAX_VALUE_LENGTH = 256;
const RESERVED_PREFIXES = ['hc:', 'hcp:'];
const ALLOWED_CHARACTERS = /^[A-Za-z0-9_.=+\-@:]*$/;
const ALLOWED_CHARACTERS_TEXT = 'letters, digits and _ . = + - @ :';

/** Reads `relationships.tag-bindings`; undefined when the request does not contain bindings. `pointer` is the path of the list. */
export function readTagBindings(
  relationship: unknown,
  problems: PointedProblem[],
  pointer = '/data/relationships/tag-bindings/data',
): TagBinding[] | undefined {
  if (relationship === undefined) return undefined;
  const data = asObject(relationship)?.['data'];
  if (!Array.isArray(data)) {
    problems.push({ detail: 'tag-bindings must be a list of tag bindings', pointer });
    return undefined;
  }
  if (data.length > MAX_DIRECT_BINDINGS) {
    problems.push({
      detail: `A workspace or project may have at most ${MAX_DIRECT_BINDINGS} tag bindings`,
      pointer,
    });
  }
  const seen = new Set<string>();
  return data.map((item: unknown, index) => {
    const at = `${pointer}/${index}`;
    const binding = readTagBinding(item, at, problems);
    if (seen.has(binding.key)) {
      problems.push({ detail: `The key "${binding.key}" is given twice`, pointer: `${at}/attributes/key` });
    }
    seen.add(binding.key);
    return binding;
  });
}

function readTagBinding(item: unknown, pointer: string, problems: PointedProblem[]): TagBinding {
  const object = asObject(item);
  if (!isOfType(object, 'tag-bindings')) {
    problems.push({ detail: 'type must be "tag-bindings"', pointer: `${pointer}/type` });
  }
  const attributes = asObject(object?.['attributes']);
  const key = attributes?.['key'];
  const value = attributes?.['value'] ?? '';
  for (const detail of keyProblems(key)) problems.push({ detail, pointer: `${pointer}/attributes/key` });
  for (const detail of valueProblems(value))
    problems.push({ detail, pointer: `${pointer}/attributes/value` });
  return { key: String(key), value: String(value) };
}

/** The problems of a tag key, as texts. */
export function keyProblems(key: unknown): string[] {
  if (typeof key !== 'string' || key === '') return ['A tag key must be a string that is not empty'];
  return [
    ...(key.length > MAX_KEY_LENGTH ? [`A tag key has at most ${MAX_KEY_LENGTH} characters`] : []),
    ...(ALLOWED_CHARACTERS.test(key) ? [] : [`A tag key may hold ${ALLOWED_CHARACTERS_TEXT}`]),
    ...RESERVED_PREFIXES.filter((prefix) => key.startsWith(prefix)).map(
      (prefix) => `Tag keys that begin with "${prefix}" are reserved`,
    ),
  ];
}

/** The problems of a tag value, as texts. */
export function valueProblems(value: unknown): string[] {
  if (typeof value !== 'string') return ['A tag value must be a string'];
  return [
    ...(value.length > MAX_VALUE_LENGTH ? [`A tag value has at most ${MAX_VALUE_LENGTH} characters`] : []),
    ...(ALLOWED_CHARACTERS.test(value) ? [] : [`A tag value may hold ${ALLOWED_CHARACTERS_TEXT}`]),
  ];
}

type TagBindingOwner = { readonly workspace_id: string } | { readonly project_id: string };

/** Replaces the owner's bindings; a key that stays keeps its id and creation time. @returns whether anything changed */
export function replaceTagBindings(
  database: Database,
  owner: TagBindingOwner,
  bindings: readonly TagBinding[],
  now: Date,
): boolean {
  const [column, ownerId] = ownerColumn(owner);
  const removed = database.run(
    `DELETE FROM tag_bindings WHERE ${column} = :owner AND key NOT IN (SELECT value FROM json_each(:keys))`,
    { owner: ownerId, keys: JSON.stringify(bindings.map((binding) => binding.key)) },
  );
  return bindTags(database, owner, bindings, now) || removed > 0;
}

/** Adds bindings and changes the values of existing ones. @returns whether anything changed */
function bindTags(
  database: Database,
  owner: TagBindingOwner,
  bindings: readonly TagBinding[],
  now: Date,
): boolean {
  const [column, ownerId] = ownerColumn(owner);
  const written = bindings.map(({ key, value }) =>
    database.run(
      `INSERT INTO tag_bindings (id, ${column}, key, value, created_at) VALUES (:id, :owner, :key, :value, :now)
       ON CONFLICT (${column}, key) DO UPDATE SET value = excluded.value WHERE tag_bindings.value <> excluded.value`,
      { id: newId('tb'), owner: ownerId, key, value, now: now.toISOString() },
    ),
  );
  return written.some((count) => count > 0);
}

/** The column of a binding for this kind of owner, and the owner's id. */
function ownerColumn(owner: TagBindingOwner): readonly [string, string] {
  return 'workspace_id' in owner ? ['workspace_id', owner.workspace_id] : ['project_id', owner.project_id];
}

interface BindingRow {
  workspace_id: string;
  id: string;
  key: string;
  value: string;
  created_at: string;
  /** The project that the binding is inherited from; null for the workspace's own. */
  inherited_from: string | null;
}

/** The effective bindings of many workspaces in one query: each workspace's own first, then the inherited ones. */
export function effectiveBindings(
  database: Database,
  workspaceIds: readonly string[],
): Map<string, BindingRow[]> {
  const rows = database.all<BindingRow>(
    `WITH wanted AS (SELECT value AS id FROM json_each(:ids))
     SELECT b.workspace_id, b.id, b.key, b.value, b.created_at, NULL AS inherited_from, b.position
     FROM tag_bindings b WHERE b.workspace_id IN (SELECT id FROM wanted)
     UNION ALL
     SELECT w.id, b.id, b.key, b.value, b.created_at, b.project_id, b.position
     FROM workspaces w JOIN tag_bindings b ON b.project_id = w.project_id
     WHERE w.id IN (SELECT id FROM wanted)
       AND NOT EXISTS (SELECT 1 FROM tag_bindings own WHERE own.workspace_id = w.id AND own.key = b.key)
     ORDER BY inherited_from NULLS FIRST, position`,
    { ids: JSON.stringify(workspaceIds) },
  );
  return Map.groupBy(rows, (row) => row.workspace_id);
}

/** A binding as the include and the endpoint of effective bindings show it; inherited ones name their project. */
export function effectiveBindingResource(row: BindingRow): Resource {
  const resource = {
    id: row.id,
    type: 'effective-tag-bindings',
    attributes: { key: row.key, value: row.value },
  };
  if (row.inherited_from === null) return resource;
  const project = row.inherited_from;
  return {
    ...resource,
    relationships: { 'inherited-from': { data: { id: project, type: 'projects' } } },
    links: { 'inherited-from': `/api/v2/projects/${project}` },
  };
}

/** GET /workspaces/:workspace_id/tag-bindings: the workspace's own, all of them, without pages. */
export function listTagBindings(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request);
  const rows = effectiveBindings(request.services.database, [workspace.id]).get(workspace.id) ?? [];
  const own = rows.filter((row) => row.inherited_from === null);
  return ok({
    data: own.map((row) => ({
      id: row.id,
      type: 'tag-bindings',
      attributes: { key: row.key, value: row.value, 'created-at': row.created_at },
    })),
  });
}

/** GET /workspaces/:workspace_id/effective-tag-bindings: inherited ones too. Not every dialect gives these items ids. */
export function listEffectiveTagBindings(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request);
  const rows = effectiveBindings(request.services.database, [workspace.id]).get(workspace.id) ?? [];
  return ok({
    data: rows.map(effectiveBindingResource).map(({ id, ...resource }) => ({
      ...(request.services.dialects.workspaces.effectiveBindingsHaveIds ? { id } : {}),
      ...resource,
    })),
  });
}

// Requests that change only bindings: PATCH /workspaces/:workspace_id/tag-bindings and …/relationships/tag-bindings
// (wire/workspaces 1.5.4), with the functions that projects share.
// Invariant: a request that adds bindings also changes the values of existing keys, and keeps all other keys. Only a request that
// replaces bindings removes keys.

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

/** Reads a body that is a list of bindings. @throws ApiError 422 */
export function readBindingList(body: unknown): readonly TagBinding[] {
  const problems: PointedProblem[] = [];
  const bindings = readTagBindings(body ?? {}, problems, '/data') ?? [];
  if (problems.length > 0) throw invalid(problems);
  return bindings;
}

/**
 * Adds bindings and changes the values of existing ones.
 * @returns the rows of these bindings, in the given order, and whether anything changed
 * @throws ApiError 422 if the owner would have too many
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

/** PATCH /workspaces/:workspace_id/tag-bindings: 200 with the bindings of the request. */
export function patchTagBindings(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-manage-tags');
  const bindings = readBindingList(request.body);
  const { rows, changed } = upsertTagBindings(request.services, { workspace_id: workspace.id }, bindings);
  if (changed) recordEvent(request, 'workspace.update', workspace, boundKeys(bindings));
  return ok({ data: rows.map(directBindingResource) });
}

/** POST /workspaces/:workspace_id/relationships/tag-bindings: adds and changes bindings. */
export function addTagBindings(request: ApiRequest): ApiAnswer {
  patchTagBindings(request);
  return NO_CONTENT;
}

/** PATCH /workspaces/:workspace_id/relationships/tag-bindings: replaces all bindings. */
export function replaceWorkspaceTagBindings(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-manage-tags');
  const bindings = readBindingList(request.body);
  const owner = { workspace_id: workspace.id };
  const changed = replaceTagBindings(request.services.database, owner, bindings, request.services.now());
  if (changed) recordEvent(request, 'workspace.update', workspace, boundKeys(bindings));
  return NO_CONTENT;
}

/** What the audit trail records about a list of bindings: their keys. */
export function boundKeys(bindings: readonly TagBinding[]): Readonly<Record<string, unknown>> {
  return { 'tag-bindings': bindings.map(({ key }) => key) };
}
