/**
 * The states themselves, behind signed links: the state is sent once while a version is pending, the JSON state once at any time;
 * they are read as often as one likes. Clients send the two in either order.
 */
import { badRequest, conflict, invalid, notFound } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import type { StoredFile } from '../signed-links/serve-storage.ts';
import { textOf } from '../well-formed-text.ts';
import { finalizeState } from './create-state-version.ts';
import { isJsonState } from './read-state.ts';
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
