/** The states themselves, behind signed links: sent once while a version is pending, read as often as one likes. */
import { badRequest, conflict, notFound } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import type { StoredFile } from '../signed-links/serve-storage.ts';
import { textOf } from '../well-formed-text.ts';
import { finalizeState } from './create-state-version.ts';
import { recordUpload } from './state-event.ts';
import { type StateVersionRow, stateVersionById } from './state-version-record.ts';

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
      services.database.update('state_versions', id, { json_state: fileText(body) });
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
