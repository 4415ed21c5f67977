import { expect, it } from 'vitest';

import { serveWithAdmin } from '../../support/server/admin-client.ts';
import { sendRaw } from '../../support/server/send-raw.ts';
import { serveForTest } from '../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';
const A = '/workspaces/ws-a';

it.each([
  ['PUT', LIST, 'GET, HEAD, POST'],
  ['DELETE', LIST, 'GET, HEAD, POST'],
  ['PROPFIND', LIST, 'GET, HEAD, POST'],
  ['OPTIONS', `${LIST}/a`, 'GET, HEAD, PATCH, DELETE'],
  ['POST', `${A}?include=project`, 'GET, HEAD, PATCH, DELETE'],
  ['GET', `${A}/actions/lock`, 'POST'],
  ['PUT', `${A}/relationships/tags/`, 'GET, HEAD, POST, DELETE'],
  ['LIST', LIST, 'GET, HEAD, POST'],
  ['LIST', `${A}/actions/lock`, 'POST'],
])('answers 405 to %s %s, and names the allowed methods', async (method, path, allowed) => {
  const api = await serveForTest();
  const answer = await sendRaw(`${api.url}/api/v2${path}`, method, {
    headers: { authorization: 'Bearer ann' },
  });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe(allowed);
  expect(answer.errors[0]).toMatchObject({ status: '405', title: 'method not allowed' });
  expect(answer.errors[0]?.detail).toContain(`${method} is not allowed here`);
});

it('answers 404 to every method of an unknown path', async () => {
  const api = await serveForTest();
  for (const method of ['GET', 'POST', 'PUT', 'PROPFIND', 'OPTIONS', 'LIST']) {
    for (const path of [
      '/moon',
      '/workspaces//actions/lock',
      '/organizations/acme/workspaces/a/actions/lock',
    ]) {
      const answer = await sendRaw(`${api.url}/api/v2${path}`, method, {
        headers: { authorization: 'Bearer ann' },
      });
      expect(answer.status, `${method} ${path}`).toBe(404);
    }
  }
});

it('serves LIST below /v1/ only', async () => {
  const { api, admin } = await serveWithAdmin();
  const refused = await admin('LIST', '/clock');
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, DELETE']);
  const outside = await sendRaw(`${api.url}/served-data-file?challenge=x`, 'LIST');
  expect([outside.status, outside.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect((await sendRaw(`${api.url}/api/storage/state-versions/sv-1/state`, 'LIST')).status).toBe(404);
  expect((await sendRaw(`${api.url}/api/v2/organizations/acme`, 'LIST')).status).toBe(401);
});

it('serves SCAN only where LIST is served', async () => {
  const api = await serveForTest({ dialects: ['openbao'] });
  const headers = { authorization: 'Bearer ann' };
  const answer = await sendRaw(`${api.url}/api/v2${LIST}`, 'SCAN', { headers });
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
});
