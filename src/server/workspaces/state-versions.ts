/**
 * Shows state versions, newest first, pending and intermediate ones included, and serves the states themselves behind signed
 * links.
 */
import { badRequest, conflict, invalid, notFound } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, ok, queryList, queryText } from '../kernel/endpoint.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import type { Services } from '../kernel/services.ts';
import type { StoredFile } from '../kernel/signed-links.ts';
import { textOf } from '../kernel/well-formed-text.ts';
import { type AccessibleWorkspace, requireOwned, requireWorkspace } from './access.ts';
import { finalizeState } from './create-state-version.ts';
import { isJsonState } from './state-outputs.ts';
import { stateVersionResources } from './state-version-document.ts';
import {
  NEWEST_FIRST,
  recordStateEvent,
  recordUpload,
  stateVersionById,
  type StateVersionRow,
} from './state-version-record.ts';

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

// The states themselves, behind signed links: the state is sent once while a version is pending, the JSON state once at any time;
// they are read as often as one likes. Clients send the two in either order.

export const STORED_STATES: readonly StoredFile[] = [
  {
    method: 'PUT',
    path: '/state-versions/:id/state',
    handler: (services, id, { body }) => {
      const version = required(services, id);
      finalizeState(services, version.id, fileText(body));
      recordUpload(services, version);
      return undefined;
    },
  },
  {
    method: 'PUT',
    path: '/state-versions/:id/json-state',
    handler: (services, id, { body }) => {
      const version = required(services, id);
      if (version.json_state !== null) throw conflict('The state version has its JSON state already');
      const text = fileText(body);
      if (!isJsonState(text))
        throw invalid([
          { detail: 'The JSON state is no JSON object', pointer: '/data/attributes/json-state' },
        ]);
      services.database.update('state_versions', id, { json_state: text });
      recordUpload(services, version);
      return undefined;
    },
  },
  {
    method: 'GET',
    path: '/state-versions/:id/state',
    handler: (services, id) => existing(required(services, id).state),
  },
  {
    method: 'GET',
    path: '/state-versions/:id/json-state',
    handler: (services, id) => existing(required(services, id).json_state),
  },
];

function required(services: Services, id: string): StateVersionRow {
  const version = stateVersionById(services.database, id);
  if (version === undefined) throw notFound('File');
  return version;
}

/** @throws ApiError 400 */
function fileText(body: Buffer): string {
  const text = textOf(body);
  if (text === undefined) throw badRequest('The file is not UTF-8');
  return text;
}

function existing(text: string | null): string {
  if (text === null) throw notFound('File');
  return text;
}
