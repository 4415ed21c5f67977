import { expect, it } from 'vitest';

import { API_ENDPOINTS } from '../../src/server/workspaces-endpoints.ts';
import { serveForTest } from '../support/server/serve-for-test.ts';

it('answers a ping without a body if the token is valid', async () => {
  const api = await serveForTest();
  const answer = await api.get('/ping');
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect((await api.as('nobody').get('/ping')).status).toBe(401);
});

it('refuses requests without a valid token, and answers 404 to users of no organization', async () => {
  const api = await serveForTest({ seed: { users: [{ username: 'lone', token: 'lone' }] } });
  const open = ['/ping', '/account/details', '/organizations'];
  for (const { method, path } of API_ENDPOINTS) {
    const asked = path.replaceAll(/:\w+/g, 'some');
    expect([method, path, (await api.as('nobody').send(method, asked)).status]).toEqual([method, path, 401]);
    if (open.includes(path)) continue;
    const { status } = await api.as('lone').send(method, asked);
    // This path names no organization, so there is nothing to hide, and the error names the token to use.
    const expected = path === '/organization/audit-trail' ? 403 : 404;
    expect([method, path, status === 400 ? 404 : status]).toEqual([method, path, expected]);
  }
});

it('lists each endpoint once', () => {
  const names = API_ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, ':')}`);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
