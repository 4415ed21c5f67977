/**
 * Run triggers: an applied run in the source workspace (`sourceable`) starts a run in another workspace.
 * Invariants: triggers are only stored, because no engine applies runs here; a workspace has each source once, and never itself.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { badRequest, invalid, type PointedProblem, type Resource, related } from '../kernel/documents.ts';
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
import { newId } from '../kernel/identifiers.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { asObject, readResource } from '../kernel/request-body.ts';
import { requireOfWorkspace, requireWorkspace } from './access.ts';
import { readableCondition, workspacePermissions } from './permissions.ts';
import { workspaceResources } from './workspace-document.ts';
import { recordById, recordsById } from './workspace-record.ts';

const OF_WORKSPACE = '/workspaces/:workspace_id/run-triggers';
const BY_ID = '/run-triggers/:run_trigger_id';

export const RUN_TRIGGER_ENDPOINTS: readonly Endpoint[] = [
  on('GET', OF_WORKSPACE, listTriggers),
  on('POST', OF_WORKSPACE, createTrigger),
  on('GET', BY_ID, showTrigger),
  on('DELETE', BY_ID, deleteTrigger),
];

interface TriggerRow {
  id: string;
  workspace_id: string;
  workspace_name: string;
  sourceable_id: string;
  sourceable_name: string;
  created_at: string;
}

const COLUMNS = 't.*, w.name AS workspace_name, s.name AS sourceable_name';
const TABLES = `run_triggers t JOIN workspaces w ON w.id = t.workspace_id JOIN workspaces s ON s.id = t.sourceable_id`;

const TYPE = 'filter[run-trigger][type]';

/** `inbound` triggers start runs in this workspace, `outbound` ones in others. The caller must be able to read the other workspace. */
function listTriggers(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request);
  const type = queryText(request.query, TYPE) ?? '';
  const [column, other] =
    type === 'inbound' ? ['t.workspace_id', 't.sourceable_id'] : ['t.sourceable_id', 't.workspace_id'];
  if (type !== 'inbound' && type !== 'outbound') {
    throw badRequest(`${TYPE} must be inbound or outbound`, { parameter: TYPE });
  }
  const readable = readableCondition(request.caller, workspace.organization_id);
  const query = {
    select: COLUMNS,
    from: `${TABLES} WHERE ${column} = :subject
      AND ${other} IN (SELECT w.id FROM workspaces w WHERE ${readable})`,
    order: 't.created_at, t.id',
    parameters: { subject: workspace.id, teams: JSON.stringify(request.caller.teamIds) },
  };
  return pagedAnswer<TriggerRow>(request, query, (rows) => ({
    data: rows.map(triggerResource),
    ...included(request, rows),
  }));
}

/** @throws ApiError 400 for an unknown include */
function included(
  request: ApiRequest,
  rows: readonly TriggerRow[],
): { readonly included?: readonly Resource[] } {
  const includes = includesOf(request.query, ['workspace', 'sourceable']);
  if (includes.size === 0) return {};
  const ids = rows.flatMap((row) => [
    ...(includes.has('workspace') ? [row.workspace_id] : []),
    ...(includes.has('sourceable') ? [row.sourceable_id] : []),
  ]);
  const records = recordsById(request.services.database, [...new Set(ids)]);
  return { included: workspaceResources(request, records) };
}

function createTrigger(request: ApiRequest): ApiAnswer {
  const { database } = request.services;
  const { workspace } = requireWorkspace(request, 'can-update');
  const sourceableId = readSourceable(request, workspace);
  const id = newId('rt');
  database.insert('run_triggers', {
    id,
    workspace_id: workspace.id,
    sourceable_id: sourceableId,
    created_at: request.services.now().toISOString(),
  });
  recordEvent(request, 'run_trigger.create', { id, organization_id: workspace.organization_id });
  const row = triggerById(database, id);
  return created({ data: row && triggerResource(row) });
}

/** The id of the source. @throws ApiError 422 unless it is another readable workspace of the organization that is not yet a source */
function readSourceable(
  { services: { database }, body, caller }: ApiRequest,
  workspace: { readonly id: string; readonly organization_id: string },
): string {
  const { relationships } = readResource(body, 'run-triggers');
  const id = String(asObject(asObject(relationships['sourceable'])?.['data'])?.['id'] ?? '');
  const source = recordById(database, id);
  const permissions = source && workspacePermissions(database, caller, [source]).get(source.id);
  const problems: PointedProblem[] = [];
  const refuse = (detail: string): void => {
    problems.push({ detail, pointer: '/data/relationships/sourceable/data/id' });
  };
  if (source?.organization_id !== workspace.organization_id || permissions?.['can-read-run'] !== true)
    refuse('The workspace does not exist in this organization');
  if (id === workspace.id) refuse('A workspace cannot be the source of its own run triggers');
  const taken = database.get(
    'SELECT 1 FROM run_triggers WHERE workspace_id = :workspace AND sourceable_id = :source',
    { workspace: workspace.id, source: id },
  );
  if (taken !== undefined) refuse('Sourceable has already been taken');
  if (problems.length > 0) throw invalid(problems);
  return id;
}

function showTrigger(request: ApiRequest): ApiAnswer {
  const { record } = requireTrigger(request, 'can-read-run');
  return ok({ data: triggerResource(record), ...included(request, [record]) });
}

function deleteTrigger(request: ApiRequest): ApiAnswer {
  const { record, workspace } = requireTrigger(request, 'can-update');
  request.services.database.delete('run_triggers', record.id);
  recordEvent(request, 'run_trigger.destroy', { ...workspace, id: record.id });
  return NO_CONTENT;
}

function requireTrigger(request: ApiRequest, permission: 'can-read-run' | 'can-update') {
  const row = triggerById(request.services.database, request.params['run_trigger_id'] ?? '');
  return requireOfWorkspace(request, row, { what: 'Run trigger', permission });
}

function triggerById(database: Database, id: string): TriggerRow | undefined {
  return database.get<TriggerRow>(`SELECT ${COLUMNS} FROM ${TABLES} WHERE t.id = :id`, { id });
}

function triggerResource(row: TriggerRow): Resource {
  const workspace = (id: string) => related('workspaces', id);
  return {
    id: row.id,
    type: 'run-triggers',
    attributes: {
      'workspace-name': row.workspace_name,
      'sourceable-name': row.sourceable_name,
      'created-at': row.created_at,
    },
    relationships: { workspace: workspace(row.workspace_id), sourceable: workspace(row.sourceable_id) },
    links: { self: `/api/v2/run-triggers/${row.id}` },
  };
}
