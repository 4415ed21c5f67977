/**
 * Variable sets as the database stores them, and as the API shows them.
 * Invariants: callers who can read all workspaces can read all sets of the organization, callers who manage all workspaces can
 * change them; the lists of workspaces and projects of a set contain only those that the caller can see.
 */
import type { OrganizationRights } from '../kernel/caller.ts';
import type { Database, SqlParameters } from '../kernel/database.ts';
import type { Resource } from '../kernel/documents.ts';
import type { ApiRequest } from '../kernel/endpoint.ts';
import { requireOfOrganization } from './access.ts';
import { readableCondition } from './permissions.ts';
import { visibleProjects } from './project-record.ts';

export interface VariableSetRow {
  id: string;
  organization_id: string;
  organization_name: string;
  /** The project that owns it; null if the organization does. */
  project_id: string | null;
  name: string;
  description: string | null;
  /** 1: it applies to each workspace of the organization, and has no lists. */
  global: number;
  priority: number;
  updated_at: string;
}

/** The rights that are needed to read sets, and to change them. */
export const SET_RIGHTS = { read: 'readWorkspaces', write: 'manageWorkspaces' } as const satisfies Record<
  string,
  keyof OrganizationRights
>;

export const SET_COLUMNS = 's.*, o.name AS organization_name';
export const SET_TABLES = 'variable_sets s JOIN organizations o ON o.id = s.organization_id';

export function variableSetById(database: Database, id: string): VariableSetRow | undefined {
  return database.get<VariableSetRow>(`SELECT ${SET_COLUMNS} FROM ${SET_TABLES} WHERE s.id = :id`, { id });
}

/** The set that the path names. @throws ApiError 404 without the right */
export function requireVariableSet(request: ApiRequest, right: keyof typeof SET_RIGHTS): VariableSetRow {
  const row = variableSetById(request.services.database, request.params['varset_id'] ?? '');
  return requireOfOrganization(request, row, 'Variable set', SET_RIGHTS[right]);
}

/** A kind of resource that a set can be applied to. */
export interface SetScope {
  readonly type: 'workspaces' | 'projects';
  readonly what: 'Workspace' | 'Project';
  readonly table: 'variable_set_workspaces' | 'variable_set_projects';
  readonly column: 'workspace_id' | 'project_id';
  /** SQL that selects the ids of an organization's workspaces or projects that the caller can see. */
  readonly visible: (
    request: ApiRequest,
    organizationId: string,
  ) => { sql: string; parameters: SqlParameters };
}

export const SET_SCOPES: readonly SetScope[] = [
  {
    type: 'workspaces',
    what: 'Workspace',
    table: 'variable_set_workspaces',
    column: 'workspace_id',
    visible: ({ caller }, organizationId) => ({
      sql: `SELECT w.id FROM workspaces w WHERE w.organization_id = :organization
        AND ${readableCondition(caller, organizationId)}`,
      parameters: { organization: organizationId, teams: JSON.stringify(caller.teamIds) },
    }),
  },
  {
    type: 'projects',
    what: 'Project',
    table: 'variable_set_projects',
    column: 'project_id',
    visible: ({ caller }, organizationId) => {
      const { sql, parameters } = visibleProjects(caller, organizationId);
      return {
        sql: `SELECT p.id FROM projects p WHERE p.organization_id = :organization AND ${sql}`,
        parameters: { ...parameters, organization: organizationId },
      };
    },
  },
];

/** The workspaces or projects that the caller can see and each set applies to, by set id. All sets must belong to one organization. */
export function idsInScope(
  request: ApiRequest,
  rows: readonly VariableSetRow[],
  { table, column, visible }: SetScope,
): Map<string, string[]> {
  const { database } = request.services;
  const { sql, parameters } = visible(request, rows[0]?.organization_id ?? '');
  const found = database.all<{ set_id: string; id: string }>(
    `SELECT variable_set_id AS set_id, ${column} AS id FROM ${table}
     WHERE variable_set_id IN (SELECT value FROM json_each(:sets)) AND ${column} IN (${sql}) ORDER BY ${column}`,
    { ...parameters, sets: JSON.stringify(rows.map(({ id }) => id)) },
  );
  return idsBySet(found);
}

function idsBySet(rows: readonly { set_id: string; id: string }[]): Map<string, string[]> {
  const grouped = Map.groupBy(rows, ({ set_id }) => set_id);
  return new Map([...grouped].map(([set, members]) => [set, members.map(({ id }) => id)]));
}

/** The documents of sets of one organization, in a fixed number of queries. */
export function variableSetResources(request: ApiRequest, rows: readonly VariableSetRow[]): Resource[] {
  const lists = SET_SCOPES.map((scope) => [scope.type, idsInScope(request, rows, scope)] as const);
  const variables = idsBySet(
    request.services.database.all(
      `SELECT variable_set_id AS set_id, id FROM variables
       WHERE variable_set_id IN (SELECT value FROM json_each(:sets)) ORDER BY position`,
      { sets: JSON.stringify(rows.map(({ id }) => id)) },
    ),
  );
  const linked = [...lists, ['vars', variables] as const];
  return rows.map((row) => {
    const listOf = (ids: ReadonlyMap<string, string[]>): string[] => ids.get(row.id) ?? [];
    const relationships = linked.map(([type, ids]) => [
      type,
      { data: listOf(ids).map((id) => ({ id, type })) },
    ]);
    const counts = lists.map(([type, ids]) => [`${type.slice(0, -1)}-count`, listOf(ids).length]);
    return {
      id: row.id,
      type: 'varsets',
      attributes: {
        name: row.name,
        description: row.description,
        global: row.global === 1,
        priority: row.priority === 1,
        'updated-at': row.updated_at,
        'var-count': listOf(variables).length,
        ...Object.fromEntries(counts),
      },
      relationships: {
        organization: { data: { id: row.organization_name, type: 'organizations' } },
        parent: {
          data:
            row.project_id === null
              ? { id: row.organization_name, type: 'organizations' }
              : { id: row.project_id, type: 'projects' },
        },
        ...Object.fromEntries(relationships),
        stacks: { data: [] },
      },
      links: { self: `/api/v2/varsets/${row.id}` },
    };
  });
}
