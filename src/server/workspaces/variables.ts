/** Variables of a workspace: endpoints, record and document. The value of a sensitive variable is never answered. */
import type { Database } from '../kernel/database.ts';
import { invalid, notFound, type PointedProblem, type Resource } from '../kernel/documents.ts';
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
import { MemberReader, readResource } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import type { WorkspacesDialect } from '../kernel/workspaces-dialects.ts';
import { requireWorkspace } from './access.ts';
import type { Permission } from './permissions.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

const OF_WORKSPACE = '/workspaces/:workspace_id/vars';
const BY_ID = `${OF_WORKSPACE}/:variable_id`;

export const VARIABLE_ENDPOINTS: readonly Endpoint[] = [
  recordedRead(OF_WORKSPACE, listVariables),
  on('POST', OF_WORKSPACE, createVariable),
  recordedRead(BY_ID, showVariable),
  on('PATCH', BY_ID, updateVariable),
  on('DELETE', BY_ID, deleteVariable),
];

// GET, POST, PATCH and DELETE of /workspaces/:workspace_id/vars.
// Invariants: a workspace has one variable of a key and category; a sensitive variable never becomes a plain one.

/** All of them, without pages: as the real service does. */
function listVariables(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-read-variable');
  const rows = variablesOf(services.database, [workspace.id]).get(workspace.id) ?? [];
  recordEvent(services, request, workspace, { id: workspace.id, action: 'index' });
  return ok({ data: rows.map((row) => variableResource(row, services.dialects.workspaces)) });
}

function showVariable(services: Services, request: ApiRequest): ApiAnswer {
  const { row, workspace } = requireVariable(services, request, 'can-read-variable');
  recordEvent(services, request, workspace, { id: row.id, action: 'show' });
  return ok({ data: variableResource(row, services.dialects.workspaces) });
}

function createVariable(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-update-variable');
  const row = readVariable(services, request, {
    id: newId('var'),
    workspace_id: workspace.id,
    key: '',
    value: '',
    description: null,
    category: 'engine',
    hcl: 0,
    sensitive: 0,
    created_at: services.now().toISOString(),
  });
  services.database.insert('variables', { ...row });
  recordEvent(services, request, workspace, { id: row.id, action: 'create' });
  return created({ data: variableResource(row, services.dialects.workspaces) });
}

function updateVariable(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace, row } = requireVariable(services, request, 'can-update-variable');
  const { key, value, description, category, hcl, sensitive } = readVariable(services, request, row);
  const columns = { key, value, description, category, hcl, sensitive };
  const changed = services.database.update('variables', row.id, columns);
  if (changed) recordEvent(services, request, workspace, { id: row.id, action: 'update' });
  return ok({ data: variableResource({ ...row, ...columns }, services.dialects.workspaces) });
}

function deleteVariable(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace, row } = requireVariable(services, request, 'can-update-variable');
  services.database.run('DELETE FROM variables WHERE id = :id', { id: row.id });
  recordEvent(services, request, workspace, { id: row.id, action: 'destroy' });
  return NO_CONTENT;
}

function requireVariable(
  services: Services,
  request: ApiRequest,
  permission: Permission,
): { workspace: WorkspaceRecord; row: VariableRow } {
  const { workspace } = requireWorkspace(services, request, permission);
  const row = variableById(services.database, request.params['variable_id'] ?? '');
  if (row?.workspace_id !== workspace.id) throw notFound('Variable');
  return { workspace, row };
}

/** The variable after the request. @throws ApiError 422 with every problem */
function readVariable(services: Services, request: ApiRequest, before: VariableRow): VariableRow {
  const problems: PointedProblem[] = [];
  const { attributes } = readResource(request.body, 'vars', request.params['variable_id']);
  const read = new MemberReader(attributes, '/data/attributes', problems);
  const flag = (name: string, current: number): number => Number(read.boolean(name) ?? current);
  const description = read.nullableText('description');
  const after: VariableRow = {
    ...before,
    key: read.text('key') ?? before.key,
    value: read.nullableText('value') ?? before.value,
    description: description === undefined ? before.description : description,
    category: readCategory(services, read) ?? before.category,
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
  const taken = services.database.get(
    `SELECT 1 FROM variables WHERE workspace_id = :workspace AND category = :category AND key = :key AND id <> :id`,
    { workspace: after.workspace_id, category: after.category, key: after.key, id: after.id },
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
  const said = read.nullableWord('category', [engineCategory, 'env']);
  return said === engineCategory ? 'engine' : (said as 'env' | null | undefined);
}

function recordEvent(
  services: Services,
  request: ApiRequest,
  workspace: WorkspaceRecord,
  change: { readonly id: string; readonly action: string },
): void {
  services.recordEvent({
    organizationId: workspace.organization_id,
    actor: request.caller,
    requestId: request.requestId,
    resource: { id: change.id, type: 'var', action: change.action },
  });
}

// Variables as the database keeps them, and as the API shows them.
// Invariant: the value of a sensitive variable leaves the service never again.

/** `engine` (a dialect may call it otherwise) for the configuration's own variables, `env` for the environment of its process. */
export const VARIABLE_CATEGORIES = ['engine', 'env'] as const;

export interface VariableRow {
  id: string;
  workspace_id: string;
  key: string;
  value: string;
  description: string | null;
  category: (typeof VARIABLE_CATEGORIES)[number];
  hcl: number;
  sensitive: number;
  created_at: string;
}

function variableById(database: Database, id: string): VariableRow | undefined {
  return database.get<VariableRow>('SELECT * FROM variables WHERE id = :id', { id });
}

/** The variables of many workspaces in one query, each workspace's in the order of creation. */
export function variablesOf(database: Database, workspaceIds: readonly string[]): Map<string, VariableRow[]> {
  const rows = database.all<VariableRow>(
    'SELECT * FROM variables WHERE workspace_id IN (SELECT value FROM json_each(:ids)) ORDER BY position',
    { ids: JSON.stringify(workspaceIds) },
  );
  return Map.groupBy(rows, (row) => row.workspace_id);
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
    relationships: {
      configurable: {
        data: { id: row.workspace_id, type: 'workspaces' },
        links: { related: `/api/v2/workspaces/${row.workspace_id}` },
      },
    },
    links: { self: `/api/v2/workspaces/${row.workspace_id}/vars/${row.id}` },
  };
}
