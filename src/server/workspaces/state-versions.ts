/**
 * Shows state versions, newest first, including pending and intermediate ones, and serves the states themselves behind signed
 * links.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import { badRequest, notFound } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, ok, queryList, queryText } from '../kernel/endpoint.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import type { Services } from '../kernel/services.ts';
import type { StoredFile } from '../kernel/signed-links.ts';
import { type AccessibleWorkspace, requireOfWorkspace, requireWorkspace } from './access.ts';
import { finalizeState, requireNotUploaded } from './create-state-version.ts';
import { IncomingFile, wholeFile } from './state-file.ts';
import { stateVersionResources } from './state-version-document.ts';
import {
  NEWEST_FIRST,
  recordUpload,
  STATE_VERSION_COLUMNS,
  stateVersionById,
  type StateVersionRow,
} from './state-version-record.ts';

const PERMISSION = 'can-read-state-versions';

/** GET /state-versions/:state_version_id */
export function showStateVersion(request: ApiRequest): ApiAnswer {
  const row = stateVersionById(request.services.database, request.params['state_version_id'] ?? '');
  const { record, ...access } = requireOfWorkspace(request, row, {
    what: 'State version',
    permission: PERMISSION,
  });
  return answer(request, access, record);
}

/** GET /workspaces/:workspace_id/current-state-version: 404 while there is none. */
export function showCurrentStateVersion(request: ApiRequest): ApiAnswer {
  const access = requireWorkspace(request, PERMISSION);
  const row = stateVersionById(request.services.database, access.workspace.current_state_version_id ?? '');
  if (row === undefined) throw notFound('Current state version');
  return answer(request, access, row);
}

function answer(request: ApiRequest, access: AccessibleWorkspace, row: StateVersionRow): ApiAnswer {
  recordEvent(request, 'state_version.show', { ...access.workspace, id: row.id });
  return ok({ data: stateVersionResources(request.services, readerOf(request, access), [row])[0] });
}

/** GET /workspaces/:workspace_id/state-versions */
export function listStateVersions(request: ApiRequest): ApiAnswer {
  return listOf(request, requireWorkspace(request, PERMISSION));
}

/** GET /state-versions, for the workspace that two filters name: `filter[organization][name]`, `filter[workspace][name]`. */
export function findStateVersions(request: ApiRequest): ApiAnswer {
  const named = (filter: string): string => {
    const value = queryText(request.query, filter) ?? '';
    if (value === '') throw badRequest(`${filter} must be given`, { parameter: filter });
    return value;
  };
  const params = {
    organization_name: named('filter[organization][name]'),
    name: named('filter[workspace][name]'),
  };
  return listOf(request, requireWorkspace({ ...request, params }, PERMISSION));
}

function listOf(request: ApiRequest, access: AccessibleWorkspace): ApiAnswer {
  const statuses = queryList(request.query, 'filter[status]');
  const query = {
    select: STATE_VERSION_COLUMNS,
    from: `state_versions s WHERE s.workspace_id = :workspace
      AND (:statuses = '[]' OR s.status IN (SELECT value FROM json_each(:statuses)))`,
    order: NEWEST_FIRST,
    parameters: { workspace: access.workspace.id, statuses: JSON.stringify(statuses) },
  };
  const reader = readerOf(request, access);
  recordEvent(request, 'state_version.index', access.workspace);
  return pagedAnswer<StateVersionRow>(request, query, (rows) =>
    stateVersionResources(request.services, reader, rows),
  );
}

function readerOf(request: ApiRequest, { workspace, permissions }: AccessibleWorkspace) {
  return { origin: request.origin, permissions: new Map([[workspace.id, permissions]]) };
}

// The states themselves, behind signed links: the state can be uploaded once, while the version is pending, and the JSON state
// once, at any time and in either order. Both can be downloaded any number of times.

export const STORED_STATES: readonly StoredFile[] = (['state', 'json-state'] as const).flatMap((kind) => [
  {
    method: 'PUT',
    path: `/state-versions/:id/${kind}`,
    begin: (services, id) => {
      requireNotUploaded(requireVersion(services, id), kind);
      const file = new IncomingFile(services.database, id, { kind, isInBody: false });
      return {
        write: (bytes) => file.write(bytes),
        end: () => {
          const version = requireVersion(services, id);
          finalize(services, version, file);
          recordUpload(services, version);
        },
        giveUp: () => file.giveUp(),
      };
    },
  },
  {
    method: 'GET',
    path: `/state-versions/:id/${kind}`,
    read: ({ database }, id) => {
      const file = wholeFile(database, id, kind);
      if (file === undefined) throw notFound('File');
      return file;
    },
  },
]);

function finalize(services: Services, version: StateVersionRow, file: IncomingFile): void {
  requireNotUploaded(version, file.kind);
  if (file.kind === 'state') finalizeState(services, version.id, file);
  else file.store(file.end());
}

function requireVersion({ database }: Services, id: string): StateVersionRow {
  const version = stateVersionById(database, id);
  if (version === undefined) throw notFound('File');
  return version;
}
