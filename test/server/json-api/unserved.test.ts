import { expect, it } from 'vitest';

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
])('answers 405 to %s %s, and names the methods that it takes', async (method, path, allowed) => {
  const api = await serveForTest();
  const answer = await sendRaw(`${api.url}/api/v2${path}`, method, {
    headers: { authorization: 'Bearer ann' },
  });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe(allowed);
  expect(answer.errors[0]).toMatchObject({ status: '405', title: 'method not allowed' });
});

it('answers 404 to every method where there is no endpoint', async () => {
  const api = await serveForTest();
  for (const method of ['GET', 'POST', 'PUT', 'PROPFIND', 'OPTIONS']) {
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
