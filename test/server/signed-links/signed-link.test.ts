import { expect, it } from 'vitest';

import { serveWithAdmin } from '../../support/server/admin-client.ts';
import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [
    {
      name: 'a',
      'state-versions': [
        { id: 'sv-1', status: 'pending' },
        { id: 'sv-2', status: 'pending' },
      ],
    },
  ],
});

it('a link is valid for one method and one file, and not for another service', async () => {
  const api = await serveForTest({ seed: SEED });
  const other = await serveForTest({ seed: SEED });
  const link = new URL(
    (await api.get('/state-versions/sv-1')).resource.attributes['hosted-state-upload-url'] as string,
  );
  const put = async (path: string, base = api.url) =>
    (await fetch(`${base}${path}`, { method: 'PUT', body: '{}' })).status;
  const { pathname } = link;
  const [, expires = '', signature = ''] = /^\/api\/storage\/(\d+)\/([\w-]+)\//.exec(pathname) ?? [];
  expect(await put('/api/storage/state-versions/sv-1/state')).toBe(404);
  expect(await put(pathname.replace(signature, ''))).toBe(404);
  expect(await put(pathname.replace(signature, 'x'.repeat(signature.length)))).toBe(404);
  expect(await put(pathname.replace(expires, String(Number(expires) + 1)))).toBe(404);
  expect(await put(pathname.replace('sv-1', 'sv-2'))).toBe(404);
  expect(await put(pathname.replace(/\/state$/, '/json-state'))).toBe(404);
  expect(await put(pathname, other.url)).toBe(404);
  expect((await fetch(link)).status).toBe(404);
  expect(await put(`${pathname}?any=query`)).toBe(200);
});

it('answers an invalid link with an error in the format of the API', async () => {
  const api = await serveForTest();
  const answer = await fetch(`${api.url}/api/storage/state-versions/sv-1/state`);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ errors: [{ status: '404', title: 'not found' }] });
});

it('a link is valid for an hour by the clock of the service, and cannot be extended', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const api = await serveForTest({ seed: SEED, now: () => new Date(now) });
  const uploadOf = async (id: string) =>
    (await api.get(`/state-versions/${id}`)).resource.attributes['hosted-state-upload-url'] as string;
  const put = async (link: string) => (await fetch(link, { method: 'PUT', body: '{}' })).status;
  const [first, second] = [await uploadOf('sv-1'), await uploadOf('sv-2')];
  now += 3_599_000;
  expect(await put(first)).toBe(200);
  const late = await uploadOf('sv-2');
  now += 1000;
  expect(await put(second)).toBe(404);
  const end = (link: string) => new URL(link).pathname.split('/')[3] ?? '';
  expect(await put(second.replace(end(second), end(late)))).toBe(404);
  expect(await put(late)).toBe(200);
});

it('does not use up a fault for requests without a valid link', async () => {
  const { api, admin, fault } = await serveWithAdmin({ seed: SEED });
  const id = await fault({ route: '/api/storage/**', status: 503 });
  for (const path of ['/state-versions/sv-1/state', '/1/x/state-versions/sv-1/state', '/nothing']) {
    expect((await fetch(`${api.url}/api/storage${path}`)).status).toBe(404);
    expect((await fetch(`${api.url}/api/storage${path}`, { method: 'PUT', body: '{}' })).status).toBe(404);
  }
  expect(JSON.parse((await admin('GET', '/faults')).text)).toMatchObject({ faults: [{ id }] });
  const link = (await api.get('/state-versions/sv-1')).resource.attributes['hosted-state-upload-url'];
  const put = async () => (await fetch(link as string, { method: 'PUT', body: '{}' })).status;
  expect([await put(), await put()]).toEqual([503, 200]);
});
