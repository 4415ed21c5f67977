import { describe, expect, it } from 'vitest';

import { startServer } from '../../../src/server/start-server.ts';
import { ADMIN_TOKEN, serveWithAdmin } from '../../support/server/admin-client.ts';
import { sendRaw } from '../../support/server/send-raw.ts';
import { SEED, TestClient } from '../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';
const ROUTE = '/api/v2/organizations/:organization_name/workspaces';

describe('a fault', () => {
  it('answers 429 with Retry-After for the given number of requests, and does not execute them', async () => {
    const { api, admin, fault } = await serveWithAdmin();
    await fault({ method: 'POST', route: ROUTE, count: 2, status: 429, 'retry-after': 3 });
    for (const name of ['a', 'b']) {
      const answer = await api.create({ name });
      expect(answer.status).toBe(429);
      expect(answer.headers.get('retry-after')).toBe('3');
      expect(answer.headers.get('content-type')).toContain('application/vnd.api+json');
      expect(answer.errors[0]).toMatchObject({ status: '429', title: 'Too many requests' });
    }
    expect((await api.create({ name: 'c' })).status).toBe(201);
    expect((await api.get(LIST)).names).toEqual(['c']);
    expect(JSON.parse((await admin('GET', '/faults')).text)).toEqual({ faults: [] });
  });

  it.each([500, 502, 503, 599])('answers %i', async (status) => {
    const { api, fault } = await serveWithAdmin();
    await fault({ route: '/api/v2/**', status });
    const answer = await api.get(LIST);
    expect([answer.status, answer.errors[0]?.status]).toEqual([status, String(status)]);
    expect((await api.get(LIST)).status).toBe(200);
  });

  it('has the error format of the secrets service on its paths', async () => {
    const { api, fault } = await serveWithAdmin();
    await fault({ route: '/v1/auth/*/config', status: 503 });
    const answer = await sendRaw(`${api.url}/v1/auth/cluster/config`, 'GET');
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.text)).toEqual({ errors: [expect.any(String)] });
  });

  it('cuts the connection before the commit: no answer, and nothing written', async () => {
    const { api, fault } = await serveWithAdmin();
    await fault({ method: 'POST', route: ROUTE, cut: 'before-commit' });
    await expect(api.create({ name: 'a' })).rejects.toThrow();
    expect((await api.get(LIST)).names).toEqual([]);
  });

  it('cuts the connection after the commit: no answer, and everything written', async () => {
    const { api, fault } = await serveWithAdmin();
    await fault({ method: 'POST', route: ROUTE, cut: 'after-commit' });
    await expect(api.create({ name: 'a' })).rejects.toThrow();
    expect((await api.get(LIST)).names).toEqual(['a']);
  });

  it('delays a request, but not longer than the server runs', async () => {
    const server = await startServer({ data: ':memory:', seed: SEED, admin: { token: ADMIN_TOKEN } });
    const api = new TestClient(server.url, 'ann');
    const authorization = `Bearer ${ADMIN_TOKEN}`;
    const faults = () => sendRaw(`${server.url}/admin/faults`, 'GET', { headers: { authorization } });
    await sendRaw(`${server.url}/admin/faults`, 'POST', {
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ method: 'POST', route: ROUTE, 'latency-ms': 600_000 }),
    });
    let answered = false;
    const waiting = api.create({ name: 'a' }).then(({ status }) => {
      answered = true;
      return status;
    });
    await expect.poll(async () => (await faults()).text).toBe('{"faults":[]}');
    expect((await api.get(LIST)).names).toEqual([]);
    expect(answered).toBe(false);
    await server.close();
    expect(await waiting).toBe(201);
  });

  it('is injected only into requests with a valid token and an existing endpoint', async () => {
    const { api, fault } = await serveWithAdmin();
    await fault({ route: '/api/v2/**', status: 503 });
    expect((await api.as('nobody').get(LIST)).status).toBe(401);
    expect((await api.get('/nowhere')).status).toBe(404);
    expect((await api.get(LIST)).status).toBe(503);
  });

  it('cannot be caused by a header of an API request', async () => {
    const { api, fault } = await serveWithAdmin();
    await fault({ route: '/api/v2/workspaces/*', status: 503 });
    const headers = {
      'x-fault': '503',
      'x-http-method-override': 'DELETE',
      'x-original-url': '/api/v2/workspaces/a',
    };
    expect((await api.send('GET', LIST, undefined, headers)).status).toBe(200);
  });

  it('does not affect the admin API', async () => {
    const { api, admin, fault } = await serveWithAdmin();
    expect((await admin('POST', '/faults', { route: '/admin/**', status: 500 })).status).toBe(422);
    await fault({ route: '/api/**', status: 500 });
    expect((await admin('GET', '/clock')).status).toBe(200);
    expect((await api.get(LIST)).status).toBe(500);
  });
});
