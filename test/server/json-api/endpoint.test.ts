import { request as httpRequest } from 'node:http';

import { expect, it } from 'vitest';

import { serveForTest, type TestClient, workspaceBody } from '../../support/server/serve-for-test.ts';

const BODY = JSON.stringify(workspaceBody({ name: 'late' }));

/** A team that manages workspaces: its path and a token of it. */
async function managers(api: TestClient): Promise<{ path: string; token: string }> {
  const [team] = (await api.get('/organizations/acme/teams?filter[names]=managers')).resources;
  const path = `/teams/${team?.id}`;
  const made = await api.post(`${path}/authentication-token`);
  return { path, token: made.resource.attributes['token'] as string };
}

/** Creates a workspace, and calls `meanwhile` when the service has read the headers and waits for the body. */
function createSlowly(api: TestClient, token: string, meanwhile: () => Promise<void>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${api.url}/api/v2/organizations/acme/workspaces`,
      {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/vnd.api+json',
          'content-length': Buffer.byteLength(BODY),
          expect: '100-continue',
        },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.on('error', reject);
    request.on('continue', () => {
      meanwhile().then(() => request.end(BODY), reject);
    });
    request.flushHeaders();
  });
}

it('writes nothing for a token that was deleted while the body was on its way', async () => {
  const api = await serveForTest();
  const { path, token } = await managers(api);
  const status = await createSlowly(api, token, async () => {
    expect((await api.delete(`${path}/authentication-token`)).status).toBe(204);
  });
  expect(status).toBe(401);
  expect((await api.get('/organizations/acme/workspaces')).names).toEqual([]);
});

it('writes nothing with a permission that was revoked while the body was on its way', async () => {
  const api = await serveForTest();
  const { path, token } = await managers(api);
  const status = await createSlowly(api, token, async () => {
    const attributes = { 'organization-access': { 'manage-workspaces': false } };
    expect((await api.patch(path, { data: { type: 'teams', attributes } })).status).toBe(200);
  });
  expect(status).toBe(404);
  expect((await api.get('/organizations/acme/workspaces')).names).toEqual([]);
});

it('accepts a late body of a caller who may still write', async () => {
  const api = await serveForTest();
  const { token } = await managers(api);
  expect(await createSlowly(api, token, async () => {})).toBe(201);
  expect((await api.get('/organizations/acme/workspaces')).names).toEqual(['late']);
});
