/**
 * Showing state versions: one by its id, the current one of a workspace, all of a workspace.
 * Invariant: the newest comes first, and versions that are pending or intermediate are told as what they are: whoever
 * forces an unlock looks here first.
 */
import type { ApiAnswer, ApiRequest } from '../json-api/endpoint.ts';
import { ok } from '../json-api/endpoint.ts';
import { badRequest, notFound } from '../json-api/errors.ts';
import { pagedAnswer } from '../json-api/paged-answer.ts';
import { queryList, queryText } from '../json-api/query.ts';
import type { Services } from '../services.ts';
import { type AccessibleWorkspace, requireWorkspace } from '../workspaces/access.ts';
import { requireOwned } from '../workspaces/owned-record.ts';
import { recordStateEvent } from './state-event.ts';
import { stateVersionResources } from './state-version-document.ts';
import { NEWEST_FIRST, type StateVersionRow, stateVersionById } from './state-version-record.ts';

const PERMISSION = 'can-read-state-versions';

/** GET /state-versions/:state_version_id */
export function showStateVersion(services: Services, request: ApiRequest): ApiAnswer {
  const row = stateVersionById(services.database, request.params['state_version_id'] ?? '');
  const { record, ...access } = requireOwned(services, request, row, {
    what: 'State version',
    permission: PERMISSION,
  });
  return answer(services, request, access, record);
}

/** GET /workspaces/:workspace_id/current-state-version: 404 while there is none. */
export function showCurrentStateVersion(services: Services, request: ApiRequest): ApiAnswer {
  const access = requireWorkspace(services, request, PERMISSION);
  const row = stateVersionById(services.database, access.workspace.current_state_version_id ?? '');
  if (row === undefined) throw notFound('Current state version');
  return answer(services, request, access, row);
}

function answer(
  services: Services,
  request: ApiRequest,
  access: AccessibleWorkspace,
  row: StateVersionRow,
): ApiAnswer {
  const about = { id: row.id, organizationId: access.workspace.organization_id };
  recordStateEvent(services, about, 'show', request);
  return ok({ data: stateVersionResources(services, readerOf(request, access), [row])[0] });
}

/** GET /workspaces/:workspace_id/state-versions */
export function listStateVersions(services: Services, request: ApiRequest): ApiAnswer {
  return listOf(services, request, requireWorkspace(services, request, PERMISSION));
}

/** GET /state-versions, for the workspace that two filters name: `filter[organization][name]`, `filter[workspace][name]`. */
export function findStateVersions(services: Services, request: ApiRequest): ApiAnswer {
  const named = (filter: string): string => {
    const value = queryText(request.query, filter) ?? '';
    if (value === '') throw badRequest(`${filter} must be given`, { parameter: filter });
    return value;
  };
  const params = {
    organization_name: named('filter[organization][name]'),
    name: named('filter[workspace][name]'),
  };
  return listOf(services, request, requireWorkspace(services, { ...request, params }, PERMISSION));
}

function listOf(services: Services, request: ApiRequest, access: AccessibleWorkspace): ApiAnswer {
  const statuses = queryList(request.query, 'filter[status]');
  const query = {
    select: 's.*',
    from: `state_versions s WHERE s.workspace_id = :workspace
      AND (:statuses = '[]' OR s.status IN (SELECT value FROM json_each(:statuses)))`,
    order: NEWEST_FIRST,
    parameters: { workspace: access.workspace.id, statuses: JSON.stringify(statuses) },
  };
  const reader = readerOf(request, access);
  const about = { id: access.workspace.id, organizationId: access.workspace.organization_id };
  recordStateEvent(services, about, 'index', request);
  return pagedAnswer<StateVersionRow>(services, request, query, (rows) =>
    stateVersionResources(services, reader, rows),
  );
}

function readerOf(request: ApiRequest, { workspace, permissions }: AccessibleWorkspace) {
  return { origin: request.origin, permissions: new Map([[workspace.id, permissions]]) };
}
