import { describe, expect, it } from 'vitest';

import { ADMIN_TOKEN, serveWithAdmin } from '../../support/server/admin-client.ts';
import { sendRaw, statusOfBytes } from '../../support/server/send-raw.ts';
import { serveForTest } from '../../support/server/serve-for-test.ts';

describe('the admin API', () => {
  it('does not exist unless it is enabled', async () => {
    const api = await serveForTest();
    for (const path of ['/admin', '/admin/', '/admin/faults', '/admin/clock']) {
      const answer = await sendRaw(`${api.url}${path}`, 'GET', { headers: { authorization: 'Bearer ann' } });
      expect(answer.status, path).toBe(404);
    }
  });

  it.each([undefined, 'Bearer ann', 'Bearer', 'Basic planted-admin-token-71c4', ''])(
    'answers 401 to the authorization %s',
    async (authorization) => {
      const { api } = await serveWithAdmin();
      for (const path of ['/admin/faults', '/admin/nowhere']) {
        const headers = authorization === undefined ? {} : { authorization };
        const answer = await sendRaw(`${api.url}${path}`, 'GET', { headers });
        expect(answer.status).toBe(401);
        expect(answer.errors[0]).toMatchObject({ status: '401' });
      }
    },
  );

  it('has a token that the other APIs refuse', async () => {
    const { api } = await serveWithAdmin();
    expect((await api.as('planted-admin-token-71c4').get('/organizations/acme')).status).toBe(401);
  });

  it.each(['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST:8200', '127.0.0.1:1', '[::1]:65535'])(
    'accepts requests for the host %s',
    async (host) => {
      const { admin } = await serveWithAdmin();
      expect((await admin('GET', '/clock', undefined, { host })).status).toBe(200);
    },
  );

  it.each([
    'example.com',
    'example.com:8200',
    'localhost.example.com',
    '127.0.0.1.example.com',
    'localhost:80@example.com',
    '0.0.0.0',
    '127.0.0.2',
    '::1',
  ])('refuses requests for the host "%s", with and without the token', async (host) => {
    const { admin } = await serveWithAdmin();
    for (const headers of [{ host }, { host, authorization: '' }]) {
      expect((await admin('GET', '/clock', undefined, headers)).status).toBe(403);
      expect((await admin('POST', '/clock', { 'advance-seconds': 60 }, headers)).status).toBe(403);
    }
    expect(JSON.parse((await admin('GET', '/clock')).text)).toMatchObject({ 'offset-seconds': 0 });
  });

  it.each([
    ['http://example.com/admin/clock', 403],
    ['http://example.com:8200/admin/clock', 403],
    ['http://127.0.0.1@example.com/admin/clock', 403],
    ['http://127.0.0.1.example.com/admin/clock', 403],
    ['HTTP://127.0.0.2/admin/clock', 403],
    ['http://127.0.0.1/admin/clock', 200],
    ['http://localhost:8200/admin/clock', 200],
    ['/admin/clock', 200],
  ])(
    'answers the request target %s with %i: its host and the Host header must both be local',
    async (target, status) => {
      const { api } = await serveWithAdmin();
      const head = ['Host: 127.0.0.1', `Authorization: Bearer ${ADMIN_TOKEN}`];
      expect(await statusOfBytes(api.url, `GET ${target}`, head)).toBe(status);
      expect(await statusOfBytes(api.url, `GET ${target}`, ['Host: example.com', ...head.slice(1)])).toBe(
        403,
      );
    },
  );

  it.each([
    ['127.0.0.1', 'example.com'],
    ['example.com', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.1'],
  ])('refuses two Host headers, %s and %s, with 400', async (...hosts) => {
    const { api, admin } = await serveWithAdmin();
    const head = [...hosts.map((host) => `Host: ${host}`), `Authorization: Bearer ${ADMIN_TOKEN}`];
    expect(await statusOfBytes(api.url, 'DELETE /admin/faults', head)).toBe(400);
    expect(await statusOfBytes(api.url, 'GET /admin/clock', head)).toBe(400);
    expect((await admin('GET', '/clock')).status).toBe(200);
  });

  it.each(['application/json', 'application/vnd.api+json'])(
    'accepts a DELETE with the content type %s and no body',
    async (type) => {
      const { admin, fault } = await serveWithAdmin();
      const id = await fault({ route: '/api/v2/**', status: 503 });
      const headers = { 'content-type': type };
      expect((await admin('DELETE', `/faults/${id}`, undefined, headers)).status).toBe(204);
      expect((await admin('DELETE', '/faults', undefined, headers)).status).toBe(204);
      expect((await admin('DELETE', '/clock', undefined, headers)).status).toBe(200);
    },
  );

  it.each(['https://example.com', 'http://127.0.0.1', 'null', ''])(
    'refuses requests of web pages, from the origin "%s"',
    async (origin) => {
      const { admin } = await serveWithAdmin();
      expect((await admin('GET', '/faults', undefined, { origin })).status).toBe(403);
      expect((await admin('OPTIONS', '/faults', undefined, { origin })).status).toBe(403);
    },
  );

  it('answers unknown paths with 404, and other methods with 405', async () => {
    const { admin } = await serveWithAdmin();
    for (const path of ['', '/', '/nowhere', '/faults/fault-none/more']) {
      expect((await admin('GET', path)).status, path).toBe(404);
    }
    expect((await admin('DELETE', '/faults/fault-none')).status).toBe(404);
    expect((await admin('DELETE', `/faults/${'f'.repeat(1100)}`)).status).toBe(404);
    const answer = await admin('PATCH', '/clock');
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, DELETE']);
  });

  it.each(['{', '[]', '"text"', ''])('refuses the body %s', async (body) => {
    const { admin } = await serveWithAdmin();
    for (const path of ['/faults', '/clock']) {
      const answer = await admin('POST', path, body);
      expect([400, 422]).toContain(answer.status);
      expect(answer.errors.length).toBeGreaterThan(0);
    }
  });
});
