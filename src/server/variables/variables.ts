/**
 * GET, POST, PATCH and DELETE of /workspaces/:workspace_id/vars.
 * Invariants: a workspace has one variable of a key and category; a sensitive variable never becomes a plain one.
 */
import { newId } from '../identifiers.ts';
import { MemberReader, readResource } from '../json-api/body.ts';
import { type ApiAnswer, type ApiRequest, created, NO_CONTENT, ok } from '../json-api/endpoint.ts';
import { invalid, notFound, type PointedProblem } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import type { Permission } from '../identity/workspace-permissions.ts';
import { requireWorkspace } from '../workspaces/access.ts';
import type { WorkspaceRecord } from '../workspaces/document/workspace-record.ts';
import { type VariableRow, variableById, variableResource, variablesOf } from './variable-record.ts';

/** All of them, without pages: as the real service does. */
export function listVariables(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-read-variable');
  const rows = variablesOf(services.database, [workspace.id]).get(workspace.id) ?? [];
  recordEvent(services, request, workspace, { id: workspace.id, action: 'index' });
  return ok({ data: rows.map((row) => variableResource(row, services.dialects.workspaces)) });
}

export function showVariable(services: Services, request: ApiRequest): ApiAnswer {
  const { row, workspace } = requireVariable(services, request, 'can-read-variable');
  recordEvent(services, request, workspace, { id: row.id, action: 'show' });
  return ok({ data: variableResource(row, services.dialects.workspaces) });
}

export function createVariable(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-update-variable');
  const row = settle(services, request, {
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

export function updateVariable(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace, row } = requireVariable(services, request, 'can-update-variable');
  const { key, value, description, category, hcl, sensitive } = settle(services, request, row);
  const columns = { key, value, description, category, hcl, sensitive };
  const changed = services.database.update('variables', row.id, columns);
  if (changed) recordEvent(services, request, workspace, { id: row.id, action: 'update' });
  return ok({ data: variableResource({ ...row, ...columns }, services.dialects.workspaces) });
}

export function deleteVariable(services: Services, request: ApiRequest): ApiAnswer {
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
function settle(services: Services, request: ApiRequest, before: VariableRow): VariableRow {
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
