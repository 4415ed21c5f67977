import { expect, it } from 'vitest';

import { serveWithAdmin } from '../../support/server/admin-client.ts';

it.each([
  { route: '/api/**' },
  { route: '/api/v2/**', method: 'DELETE' },
  { route: '/api/v2/workspaces/ws-1' },
  { route: '/api/v2/workspaces/:id/actions/*', method: 'POST' },
  { route: '/api/v2/*/acme/**', method: 'PATCH' },
  { route: '/api/v2/ping/**', method: 'HEAD' },
  { route: '/api/storage/**', method: 'PUT' },
  { route: '/v1/auth/any/mount/role/web' },
  { route: '/v1/*', method: 'OPTIONS' },
])('accepts the fault %j, whose route a request can match', async (fault) => {
  const { admin } = await serveWithAdmin();
  expect((await admin('POST', '/faults', { ...fault, status: 503 })).status).toBe(201);
});

it('names the served methods when a fault has another one, and says that LIST is a GET', async () => {
  const { admin } = await serveWithAdmin();
  const refusal = async (method: string, at: string) =>
    (await admin('POST', '/faults', { route: at, method, status: 503 })).errors[0]?.detail;
  expect(await refusal('POST', '/api/v2/workspaces/*')).toContain('GET, HEAD, PATCH, DELETE');
  expect(await refusal('LIST', '/v1/auth/cluster/role')).toContain('GET');
});

it('refuses faults of endpoints that the edition does not have', async () => {
  const { admin } = await serveWithAdmin({ edition: 'hosted' });
  const fault = { route: '/api/v2/workspaces/*/relationships/data-retention-policy', status: 503 };
  expect((await admin('POST', '/faults', fault)).pointers).toEqual(['/route']);
});
