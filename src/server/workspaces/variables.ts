/** Variables of workspaces and of variable sets: endpoints, record and document. The value of a sensitive variable is never returned. */
import { recordEvent } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { invalid, notFound, type Resource } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  created,
  type Endpoint,
  NO_CONTENT,
  ok,
  on,
  recordedRead,
} from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { type MemberReader, readAttributes } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import type { WorkspacesDialect } from '../kernel/workspaces-dialects.ts';
import { requireWorkspace } from './access.ts';
import { requireVariableSet } from './variable-set-record.ts';

/** The workspace or variable set that has the variables. */
interface Holder {
  readonly column: 'workspace_id' | 'variable_set_id';
  readonly id: string;
  readonly organization_id: string;
}

/** @throws ApiError 404 without the right */
type FindHolder = (request: ApiRequest, right: 'read' | 'update') => Holder;

const findWorkspaceHolder: FindHolder = (request, right) => {
  const { workspace } = requireWorkspace(request, `can-${right}-variable`);
  return { column: 'workspace_id', id: workspace.id, organization_id: workspace.organization_id };
};

const findSetHolder: FindHolder = (request, right) => {
  const set = requireVariableSet(request, right === 'read' ? 'read' : 'write');
  return { column: 'variable_set_id', id: set.id, organization_id: set.organization_id };
};

export const VARIABLE_ENDPOINTS: readonly Endpoint[] = (
  [
    ['/workspaces/:workspace_id/vars', findWorkspaceHolder],
    ['/varsets/:varset_id/relationships/vars', findSetHolder],
  ] as const
).flatMap(([list, find]) => {
  const one = `${list}/:variable_id`;
  return [
    recordedRead(list, (request) => listVariables(request, find)),
    on('POST', list, (request) => createVariable(request, find)),
    recordedRead(one, (request) => showVariable(request, find)),
    on('PATCH', one, (request) => updateVariable(request, find)),
    on('DELETE', one, (request) => deleteVariable(request, find)),
  ];
});

// Invariants: a workspace or a set has at most one variable of a key and category; a sensitive one never becomes a plain one.

/** All variables, without pages, as in the real service. */
function listVariables(request: ApiRequest, find: FindHolder): ApiAnswer {
  const holder = find(request, 'read');
  const rows = variablesOf(request.services.database, [holder.id], holder.column).get(holder.id) ?? [];
  recordEvent(request, 'var.index', holder);
  return ok({ data: rows.map((row) => variableResource(row, request.services.dialects.workspaces)) });
}

function showVariable(request: ApiRequest, find: FindHolder): ApiAnswer {
  const { row, holder } = requireVariable(request, find, 'read');
  recordEvent(request, 'var.show', { ...holder, id: row.id });
  return ok({ data: variableResource(row, request.services.dialects.workspaces) });
}

function createVariable(request: ApiRequest, find: FindHolder): ApiAnswer {
  const row = addVariable(request, find(request, 'update'));
  return created({ data: variableResource(row, request.services.dialects.workspaces) });
}

/** @throws ApiError 422 */
export function addVariable(request: ApiRequest, holder: Holder): VariableRow {
  const row = readVariable(request, {
    id: newId('var'),
    workspace_id: null,
    variable_set_id: null,
    [holder.column]: holder.id,
    key: '',
    value: '',
    description: null,
    category: 'engine',
    hcl: 0,
    sensitive: 0,
    created_at: request.services.now().toISOString(),
  });
  request.services.database.insert('variables', { ...row });
  recordEvent(request, 'var.create', { ...holder, id: row.id });
  return row;
}

function updateVariable(request: ApiRequest, find: FindHolder): ApiAnswer {
  const { row, holder } = requireVariable(request, find, 'update');
  const { key, value, description, category, hcl, sensitive } = readVariable(request, row);
  const columns = { key, value, description, category, hcl, sensitive };
  const changed = request.services.database.update('variables', row.id, columns);
  if (changed) recordEvent(request, 'var.update', { ...holder, id: row.id });
  return ok({ data: variableResource({ ...row, ...columns }, request.services.dialects.workspaces) });
}

function deleteVariable(request: ApiRequest, find: FindHolder): ApiAnswer {
  const { row, holder } = requireVariable(request, find, 'update');
  request.services.database.delete('variables', row.id);
  recordEvent(request, 'var.destroy', { ...holder, id: row.id });
  return NO_CONTENT;
}

function requireVariable(
  request: ApiRequest,
  find: FindHolder,
  right: 'read' | 'update',
): { holder: Holder; row: VariableRow } {
  const holder = find(request, right);
  const row = variableById(request.services.database, request.params['variable_id'] ?? '');
  if (row?.[holder.column] !== holder.id) throw notFound('Variable');
  return { holder, row };
}

/** The variable after the request. @throws ApiError 422 with every problem */
function readVariable(request: ApiRequest, before: VariableRow): VariableRow {
  const { read, problems } = readAttributes(request.body, 'vars', request.params['variable_id']);
  const flag = (name: string, current: number): number => Number(read.boolean(name) ?? current);
  const description = read.nullableText('description');
  const after: VariableRow = {
    ...before,
    key: read.text('key') ?? before.key,
    value: read.nullableText('value') ?? before.value,
    description: description === undefined ? before.description : description,
    category: readCategory(request.services, read) ?? before.category,
    hcl: flag('hcl', before.hcl),
    sensitive: flag('sensitive', before.sensitive),
  };
  if (after.key === '') read.refuse('key', 'key must be given');
  if (before.sensitive === 1 && after.sensitive === 0) {
    read.refuse(
      'sensitive',
      'A sensitive variable cannot be made a plain one: delete it, and create another',
    );
  }
  const taken = request.services.database.get(
    `SELECT 1 FROM variables WHERE COALESCE(workspace_id, variable_set_id) = :holder
       AND category = :category AND key = :key AND id <> :id`,
    {
      holder: after.workspace_id ?? after.variable_set_id,
      category: after.category,
      key: after.key,
      id: after.id,
    },
  );
  if (taken !== undefined) read.refuse('key', 'Key has already been taken');
  if (problems.length > 0) throw invalid(problems);
  return after;
}

function readCategory(
  { dialects }: Services,
  read: MemberReader,
): VariableRow['category'] | null | undefined {
  const { engineCategory } = dialects.workspaces;
  const category = read.nullableWord('category', [engineCategory, 'env']);
  return category === engineCategory ? 'engine' : (category as 'env' | null | undefined);
}

// Variables as the database stores them, and as the API shows them.
// Invariant: the value of a sensitive variable never leaves the service.

/** `engine` (a dialect may have another name) for variables of the configuration, `env` for environment variables. */
export const VARIABLE_CATEGORIES = ['engine', 'env'] as const;

export interface VariableRow {
  id: string;
  /** Exactly one of `workspace_id` and `variable_set_id` is set. */
  workspace_id: string | null;
  variable_set_id: string | null;
  key: string;
  value: string;
  description: string | null;
  category: (typeof VARIABLE_CATEGORIES)[number];
  hcl: number;
  sensitive: number;
  created_at: string;
}

function variableById(database: Database, id: string): VariableRow | undefined {
  return database.byId<VariableRow>('variables', id);
}

/** The variables of many workspaces or sets in one query, for each in the order of creation. */
export function variablesOf(
  database: Database,
  ids: readonly string[],
  column: Holder['column'] = 'workspace_id',
): Map<string, VariableRow[]> {
  const rows = database.all<VariableRow>(
    `SELECT * FROM variables WHERE ${column} IN (SELECT value FROM json_each(:ids)) ORDER BY position`,
    { ids: JSON.stringify(ids) },
  );
  return Map.groupBy(rows, (row) => row[column] ?? '');
}

export function variableResource(row: VariableRow, { engineCategory }: WorkspacesDialect): Resource {
  return {
    id: row.id,
    type: 'vars',
    attributes: {
      key: row.key,
      value: row.sensitive === 1 ? null : row.value,
      description: row.description,
      category: row.category === 'engine' ? engineCategory : row.category,
      hcl: row.hcl === 1,
      sensitive: row.sensitive === 1,
      'created-at': row.created_at,
    },
    ...ownerOf(row),
  };
}

function ownerOf(row: VariableRow): Pick<Resource, 'relationships' | 'links'> {
  const isOfSet = row.variable_set_id !== null;
  const [type, id] = isOfSet ? ['varsets', row.variable_set_id] : ['workspaces', row.workspace_id];
  const related = { data: { id: id ?? '', type }, links: { related: `/api/v2/${type}/${id}` } };
  return {
    relationships: isOfSet ? { varset: related } : { configurable: related },
    links: { self: `/api/v2/${type}/${id}${isOfSet ? '/relationships' : ''}/vars/${row.id}` },
  };
}
