/** The endpoints of variable sets, and of the workspaces and projects that they apply to. Their variables are in variables.ts. */
import { recordEvent } from '../kernel/audit-events.ts';
import { invalid, notFound, type Resource } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  created,
  type Endpoint,
  includesOf,
  NO_CONTENT,
  ok,
  on,
  queryText,
} from '../kernel/endpoint.ts';
import type { SqlParameters } from '../kernel/database.ts';
import { newId } from '../kernel/identifiers.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import {
  asObject,
  readIdentifiers,
  readAttributes,
  readResource,
  TEXT_LIMIT,
} from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { projectRights, requireOrganizationRight, requireWorkspace } from './access.ts';
import { projectResource, projectsById, requireProject } from './project-record.ts';
import {
  idsInScope,
  requireVariableSet,
  SET_COLUMNS,
  SET_RIGHTS,
  SET_TABLES,
  type SetScope,
  SET_SCOPES,
  variableSetById,
  variableSetResources,
  type VariableSetRow,
} from './variable-set-record.ts';
import { addVariable, variableResource, variablesOf } from './variables.ts';
import { workspaceResources } from './workspace-document.ts';
import { recordsById } from './workspace-record.ts';

const COLLECTION = '/organizations/:organization_name/varsets';
const BY_ID = '/varsets/:varset_id';

export const VARIABLE_SET_ENDPOINTS: readonly Endpoint[] = [
  on('GET', COLLECTION, listOfOrganization),
  on('POST', COLLECTION, createSet),
  on('GET', BY_ID, showSet),
  on('PATCH', BY_ID, updateSet),
  on('DELETE', BY_ID, deleteSet),
  on('GET', '/workspaces/:workspace_id/varsets', listOfWorkspace),
  on('GET', '/projects/:project_id/varsets', listOfProject),
  ...SET_SCOPES.flatMap((scope) => [
    on('POST', `${BY_ID}/relationships/${scope.type}`, (request) => changeScope(request, scope, add)),
    on('DELETE', `${BY_ID}/relationships/${scope.type}`, (request) => changeScope(request, scope, remove)),
  ]),
];

/** `q` searches in names. */
function listOfOrganization(request: ApiRequest): ApiAnswer {
  const { id } = requireOrganizationRight(request, SET_RIGHTS.read);
  return list(request, {
    sql: 's.organization_id = :organization AND INSTR(LOWER(s.name), LOWER(:part)) > 0',
    parameters: { organization: id, part: queryText(request.query, 'q') ?? '' },
  });
}

/** The sets that apply to a workspace: global ones, its own, and those of its project. */
function listOfWorkspace(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-read-variable');
  return list(request, {
    sql: `s.organization_id = :organization AND (s.global = 1
      OR s.id IN (SELECT variable_set_id FROM variable_set_workspaces WHERE workspace_id = :workspace)
      OR s.id IN (SELECT variable_set_id FROM variable_set_projects WHERE project_id = :project))`,
    parameters: {
      organization: workspace.organization_id,
      workspace: workspace.id,
      project: workspace.project_id,
    },
  });
}

/** The sets that apply to a project, or that it owns. */
function listOfProject(request: ApiRequest): ApiAnswer {
  const { project } = requireProject(request);
  return list(request, {
    sql: `(s.project_id = :project
      OR s.id IN (SELECT variable_set_id FROM variable_set_projects WHERE project_id = :project))`,
    parameters: { project: project.id },
  });
}

function list(
  request: ApiRequest,
  condition: { readonly sql: string; readonly parameters: SqlParameters },
): ApiAnswer {
  const { sql, parameters } = condition;
  const query = { select: SET_COLUMNS, from: `${SET_TABLES} WHERE ${sql}`, order: 's.name', parameters };
  return pagedAnswer<VariableSetRow>(request, query, (rows) => document(request, rows));
}

function showSet(request: ApiRequest): ApiAnswer {
  return answerOf(request, requireVariableSet(request, 'read'));
}

function answerOf(request: ApiRequest, row: VariableSetRow): ApiAnswer {
  const { data, ...included } = document(request, [row]);
  return ok({ data: data[0], ...included });
}

/** `include` adds related resources, only those that the caller can read. @throws ApiError 400 */
function document(
  request: ApiRequest,
  rows: readonly VariableSetRow[],
): { readonly data: readonly Resource[]; readonly included?: readonly Resource[] } {
  const includes = includesOf(request.query, ['workspaces', 'projects', 'vars', 'stacks', 'parent']);
  const data = variableSetResources(request, rows);
  if (includes.size === 0) return { data };
  const idsOf = (scope: SetScope): string[] => {
    if (!includes.has(scope.type)) return [];
    return [...idsInScope(request, rows, scope).values()].flat();
  };
  const [workspaces = [], projects = []] = SET_SCOPES.map(idsOf);
  const { database, dialects } = request.services;
  const sets = includes.has('vars') && mayReadAll(request, rows) ? rows.map(({ id }) => id) : [];
  return {
    data,
    included: [
      ...workspaceResources(request, recordsById(database, [...new Set(workspaces)])),
      ...projectsById(database, projects).map((row) =>
        projectResource(row, projectRights(database, request.caller, row)),
      ),
      ...[...variablesOf(database, sets, 'variable_set_id').values()]
        .flat()
        .map((row) => variableResource(row, dialects.workspaces)),
    ],
  };
}

function mayReadAll({ caller }: ApiRequest, [row]: readonly VariableSetRow[]): boolean {
  return caller.organizations.get(row?.organization_id ?? '')?.[SET_RIGHTS.read] === true;
}

// POST, PATCH and DELETE of sets.
// Invariants: a name is unique in its organization; a global set has no lists, so a list that is sent for it is ignored.

function createSet(request: ApiRequest): ApiAnswer {
  const { database, now } = request.services;
  const { id: organizationId } = requireOrganizationRight(request, SET_RIGHTS.write);
  const { relationships } = readResource(request.body, 'varsets');
  const id = newId('varset');
  const columns = readColumns(request, { organizationId });
  const time = now().toISOString();
  const owner = {
    organization_id: organizationId,
    project_id: readParent(request.services, organizationId, relationships),
  };
  database.insert('variable_sets', { id, ...owner, ...columns, created_at: time, updated_at: time });
  writeLists(request, { id, organization_id: organizationId, global: columns.global }, relationships);
  recordEvent(request, 'variable_set.create', { id, organization_id: organizationId });
  const sent = asObject(relationships['vars'])?.['data'];
  const holder = { id, organization_id: organizationId, column: 'variable_set_id' } as const;
  for (const data of Array.isArray(sent) ? sent : []) addVariable({ ...request, body: { data } }, holder);
  const row = variableSetById(database, id);
  return row === undefined ? NO_CONTENT : created(answerOf(request, row).document);
}

function updateSet(request: ApiRequest): ApiAnswer {
  const { database } = request.services;
  const before = requireVariableSet(request, 'write');
  const { relationships } = readResource(request.body, 'varsets', before.id);
  const columns = readColumns(request, { organizationId: before.organization_id, before });
  const columnsChanged = database.update('variable_sets', before.id, columns);
  const listsChanged = writeLists(request, { ...before, ...columns }, relationships);
  if (columnsChanged || listsChanged) recordUpdate(request, before);
  return answerOf(request, variableSetById(database, before.id) ?? before);
}

function deleteSet(request: ApiRequest): ApiAnswer {
  const row = requireVariableSet(request, 'write');
  request.services.database.delete('variable_sets', row.id);
  recordEvent(request, 'variable_set.destroy', row);
  return NO_CONTENT;
}

type Columns = Pick<VariableSetRow, 'name' | 'description' | 'global' | 'priority'>;

/** The columns after the request. @throws ApiError 422 with every problem */
function readColumns(
  { services: { database }, body }: ApiRequest,
  { organizationId, before }: { readonly organizationId: string; readonly before?: VariableSetRow },
): Columns {
  const { read, problems } = readAttributes(body, 'varsets');
  const name = read.name() ?? before?.name ?? '';
  if (name === '') read.refuse('name', 'Name is required');
  const taken = database.get(
    'SELECT 1 FROM variable_sets WHERE organization_id = :organization AND name = :name AND id <> :id',
    { organization: organizationId, name, id: before?.id ?? '' },
  );
  if (taken !== undefined) read.refuse('name', 'Name has already been taken');
  const description = read.nullableText('description', TEXT_LIMIT);
  const columns = {
    name,
    description: description === undefined ? (before?.description ?? null) : description,
    global: Number(read.boolean('global') ?? before?.global === 1),
    priority: Number(read.boolean('priority') ?? before?.priority === 1),
  };
  if (problems.length > 0) throw invalid(problems);
  return columns;
}

/** The project that will own a new set; null if the organization will. @throws ApiError 422 */
function readParent(
  { database }: Services,
  organizationId: string,
  relationships: Readonly<Record<string, unknown>>,
): string | null {
  const data = asObject(asObject(relationships['parent'])?.['data']);
  if (data?.['type'] !== 'projects') return null;
  const id = String(data['id']);
  const [project] = projectsById(database, [id]);
  if (project?.organization_id !== organizationId) {
    const pointer = '/data/relationships/parent/data/id';
    throw invalid([{ detail: 'The project does not exist in this organization', pointer }]);
  }
  return id;
}

/** Replaces the lists that are sent, and empties those of a global set. @returns whether a list changed */
function writeLists(
  request: ApiRequest,
  set: Pick<VariableSetRow, 'id' | 'organization_id' | 'global'>,
  relationships: Readonly<Record<string, unknown>>,
): boolean {
  const changed = SET_SCOPES.map((scope) => {
    const sent = relationships[scope.type];
    if (sent === undefined && set.global === 0) return false;
    const ids = set.global === 1 ? [] : readScopeIds(request, { set, scope, sent });
    const removed = request.services.database.run(
      `DELETE FROM ${scope.table} WHERE variable_set_id = :set
         AND ${scope.column} NOT IN (SELECT value FROM json_each(:ids))`,
      { set: set.id, ids: JSON.stringify(ids) },
    );
    return add(request.services, set.id, scope, ids) + removed > 0;
  });
  return changed.includes(true);
}

// The workspaces and projects of a set: POST and DELETE …/relationships/workspaces and projects.

function changeScope(
  request: ApiRequest,
  scope: SetScope,
  change: (services: Services, setId: string, scope: SetScope, ids: readonly string[]) => number,
): ApiAnswer {
  const row = requireVariableSet(request, 'write');
  const ids = readScopeIds(request, { set: row, scope, sent: request.body });
  if (row.global === 1) {
    throw invalid([{ detail: 'The variable set is global: each workspace has it', pointer: '/data' }]);
  }
  if (change(request.services, row.id, scope, ids) > 0) recordUpdate(request, row);
  return NO_CONTENT;
}

/** @throws ApiError 404 for a workspace or project that the caller cannot see, 422 for an invalid list */
function readScopeIds(
  request: ApiRequest,
  {
    set,
    scope,
    sent,
  }: {
    readonly set: Pick<VariableSetRow, 'organization_id'>;
    readonly scope: SetScope;
    readonly sent: unknown;
  },
): string[] {
  const { database } = request.services;
  const ids = readIdentifiers(sent, scope.type).map(({ id }) => id);
  const { sql, parameters } = scope.visible(request, set.organization_id);
  const missing = database.get(`SELECT 1 FROM json_each(:ids) WHERE value NOT IN (${sql})`, {
    ...parameters,
    ids: JSON.stringify(ids),
  });
  if (missing !== undefined) throw notFound(scope.what);
  return ids;
}

function add(
  { database }: Services,
  setId: string,
  { table, column }: SetScope,
  ids: readonly string[],
): number {
  return database.run(
    `INSERT OR IGNORE INTO ${table} (variable_set_id, ${column}) SELECT :set, value FROM json_each(:ids)`,
    { set: setId, ids: JSON.stringify(ids) },
  );
}

function remove(
  { database }: Services,
  setId: string,
  { table, column }: SetScope,
  ids: readonly string[],
): number {
  return database.run(
    `DELETE FROM ${table} WHERE variable_set_id = :set AND ${column} IN (SELECT value FROM json_each(:ids))`,
    { set: setId, ids: JSON.stringify(ids) },
  );
}

function recordUpdate(request: ApiRequest, row: VariableSetRow): void {
  request.services.database.update('variable_sets', row.id, {
    updated_at: request.services.now().toISOString(),
  });
  recordEvent(request, 'variable_set.update', row);
}
