import { describe, expect, it } from 'vitest';

import { serveWithAdmin } from '../../support/server/admin-client.ts';
import { seedWith } from '../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';
const A = '/workspaces/ws-a';
const seed = seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] });

describe('the route of a fault', () => {
  it.each([
    ['/api/v2/workspaces/ws-a', A, true],
    ['/api/v2/workspaces/:workspace_id', A, true],
    ['/api/v2/workspaces/*', `${A}?include=project`, true],
    ['/api/v2/workspaces/*', `${A}/`, true],
    ['/api/v2/workspaces/*', `${A}/tag-bindings`, false],
    ['/api/v2/workspaces/**', `${A}/tag-bindings`, true],
    ['/api/v2/workspaces/ws-a/**', A, true],
    ['/api/v2/workspaces/ws-b', A, false],
    ['/api/v2/*/ws-a', A, true],
    ['/api/v2/**', LIST, true],
  ])('%s matches the request %s: %s', async (route, path, matches) => {
    const { api, fault } = await serveWithAdmin({ seed });
    await fault({ route, status: 503 });
    expect((await api.get(path)).status).toBe(matches ? 503 : 200);
  });

  it('applies to one method, or to any', async () => {
    const { api, fault } = await serveWithAdmin({ seed });
    await fault({ method: 'PATCH', route: '/api/v2/**', status: 503 });
    expect((await api.get(A)).status).toBe(200);
    expect((await api.update('ws-a', { description: 'x' })).status).toBe(503);
    await fault({ method: '*', route: '/api/v2/**', status: 503 });
    expect((await api.get(A)).status).toBe(503);
  });
});

describe('faults', () => {
  it('are listed with their remaining count, and injected in the order in which they were added', async () => {
    const { api, admin, fault } = await serveWithAdmin({ seed });
    const first = await fault({ route: '/api/v2/**', count: 2, status: 500 });
    const second = await fault({ route: '/api/v2/**', status: 502, 'latency-ms': 1 });
    expect((await api.get(LIST)).status).toBe(500);
    expect(JSON.parse((await admin('GET', '/faults')).text)).toEqual({
      faults: [
        { id: first, method: '*', route: '/api/v2/**', count: 1, status: 500 },
        { id: second, method: '*', route: '/api/v2/**', count: 1, 'latency-ms': 1, status: 502 },
      ],
    });
    expect([(await api.get(LIST)).status, (await api.get(LIST)).status]).toEqual([500, 502]);
    expect((await api.get(LIST)).status).toBe(200);
  });

  it('are removed one by one, or all at once', async () => {
    const { api, admin, fault } = await serveWithAdmin({ seed });
    const first = await fault({ route: '/api/v2/**', status: 500 });
    await fault({ route: '/api/v2/**', status: 502 });
    expect((await admin('DELETE', `/faults/${first}`)).status).toBe(204);
    expect((await admin('DELETE', `/faults/${first}`)).status).toBe(404);
    expect((await api.get(LIST)).status).toBe(502);
    await fault({ route: '/api/v2/**', status: 500 });
    await fault({ route: '/api/v2/**', status: 502 });
    expect((await admin('DELETE', '/faults')).status).toBe(204);
    expect((await api.get(LIST)).status).toBe(200);
  });
});
