import { expect, it } from 'vitest';

import { seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';
import { readTrail, trailOf } from '../../support/server/audit-trails/read-trail.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const BEGIN = Date.parse('2026-03-01T10:00:00.000Z');

/** A service with a clock that the test sets. */
async function serve(options: { dialect?: string; edition?: string } = {}) {
  const clock = { at: BEGIN };
  const api = await serveForTest({
    seed: seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }),
    now: () => new Date(clock.at),
    ...(options.dialect === undefined ? {} : { dialects: [options.dialect] }),
    ...(options.edition === undefined ? {} : { edition: options.edition }),
  });
  return { api, clock };
}

const PATH = '/organization/audit-trail';

/** Updates a workspace with each description, and returns the ids of all events in the order of the trail. */
async function updateDescriptions(api: TestClient, ...descriptions: readonly string[]): Promise<string[]> {
  for (const description of descriptions) {
    const answer = await api.update('ws-a', { description });
    expect(answer.status).toBe(200);
  }
  return (await trailOf(api)).map(({ id }) => id);
}

it('answers events as plain JSON, with actor, request and resource', async () => {
  const { api } = await serve();
  const user = (await api.get('/account/details')).resource;
  const organization = (await api.get('/organizations/acme')).resource;
  const update = await api.update('ws-a', { description: 'x' });
  const answer = await api.as('acme-organization').get(PATH);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  expect(JSON.parse(answer.text)).toEqual({
    data: [
      {
        id: expect.stringMatching(UUID),
        version: 0,
        type: 'Resource',
        timestamp: '2026-03-01T10:00:00.000Z',
        auth: {
          accessor_id: user.id,
          description: 'ann',
          type: 'Client',
          impersonator_id: null,
          organization_id: organization.attributes['external-id'] ?? expect.stringMatching(/^org-/),
        },
        request: { id: update.headers.get('x-request-id') },
        resource: { id: 'ws-a', type: 'workspace', action: 'update', meta: null },
      },
    ],
    pagination: { current_page: 1, prev_page: null, next_page: null, total_pages: 1, total_count: 1 },
  });
  expect(update.headers.get('x-request-id')).toMatch(UUID);
});

it('answers an empty page for an organization without events', async () => {
  const { api } = await serve();
  expect(await readTrail(api)).toEqual({
    data: [],
    pagination: { current_page: 1, prev_page: null, next_page: null, total_pages: 1, total_count: 0 },
  });
});

it('answers the version as text, and the page size, like the real service', async () => {
  const { api } = await serve({ dialect: 'hcp-terraform' });
  await updateDescriptions(api, 'x');
  const { data, pagination } = await readTrail(api, '?page[size]=7');
  expect(data[0]?.version).toBe('0');
  expect(pagination).toMatchObject({ page_size: 7 });
});

it.each([
  ['nobody', 401, 'no valid API token'],
  ['ann', 403, "organization's own token"],
  ['managers', 403, "organization's own token"],
])('refuses the token of %s with %i and names the tokens that work', async (token, status, why) => {
  const { api } = await serve();
  const answer = await api.as(token).get(PATH);
  expect([answer.status, answer.errors[0]?.status]).toEqual([status, String(status)]);
  expect(answer.errors[0]?.detail).toContain(why);
});

it('shows an organization no events of another one', async () => {
  const { api } = await serve();
  const made = await api.as('eve').post('/organizations/rival/authentication-token');
  const theirs = await readTrail(api, '', String(made.resource.attributes['token']));
  expect(theirs.data.map(({ resource }) => resource.type)).toEqual(['authentication_token']);
  await updateDescriptions(api, 'x');
  expect((await trailOf(api)).map(({ resource }) => resource.type)).toEqual(['workspace']);
});

it('serves no audit trail on the self-hosted edition, but one on the others', async () => {
  const statusOf = async (edition: string) =>
    (await (await serve({ edition })).api.as('acme-organization').get(PATH)).status;
  expect([await statusOf('self-hosted'), await statusOf('hosted'), await statusOf('all')]).toEqual([
    404, 200, 200,
  ]);
});

it('lists oldest first, and events of one time in the order in which they were written', async () => {
  const { api, clock } = await serve();
  const sameTime = await updateDescriptions(api, 'one', 'two', 'three');
  clock.at += 5000;
  const all = await updateDescriptions(api, 'four');
  expect(all.slice(0, 3)).toEqual(sameTime);
  expect(all).toHaveLength(4);
});

it.each([
  ['with brackets as they are', 'page[number]', 'page[size]'],
  ['with brackets encoded', 'page%5Bnumber%5D', 'page%5Bsize%5D'],
])('answers a page by its number and size, %s', async (_, number, size) => {
  const { api } = await serve();
  const ids = await updateDescriptions(api, '1', '2', '3', '4', '5');
  const { data, pagination } = await readTrail(api, `?${number}=2&${size}=2`);
  expect(data.map(({ id }) => id)).toEqual(ids.slice(2, 4));
  expect(pagination).toEqual({ current_page: 2, prev_page: 1, next_page: 3, total_pages: 3, total_count: 5 });
  const last = await readTrail(api, `?${number}=3&${size}=2`);
  expect(last.data.map(({ id }) => id)).toEqual(ids.slice(4));
  expect(last.pagination).toMatchObject({ prev_page: 2, next_page: null });
});

it('answers a page after the last one with no events and the real totals', async () => {
  const { api } = await serve();
  await updateDescriptions(api, '1', '2', '3');
  expect(await readTrail(api, '?page[number]=9&page[size]=2')).toEqual({
    data: [],
    pagination: { current_page: 9, prev_page: 2, next_page: null, total_pages: 2, total_count: 3 },
  });
});

it('does not move events to other pages while new ones arrive', async () => {
  const { api, clock } = await serve();
  await updateDescriptions(api, '1', '2', '3');
  const first = await readTrail(api, '?page[size]=2');
  clock.at += 1;
  const ids = await updateDescriptions(api, '4');
  const second = await readTrail(api, '?page[number]=2&page[size]=2');
  expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
});

it.each([
  ['?page[number]=0', 'page[number]'],
  ['?page[number]=-1', 'page[number]'],
  ['?page[number]=two', 'page[number]'],
  ['?page[number]=1.5', 'page[number]'],
  ['?page[number]=99999999999999999999', 'page[number]'],
  ['?page[size]=0', 'page[size]'],
  ['?page[size]=many', 'page[size]'],
  ['?since=yesterday', 'since'],
  ['?since=2026-03-01', 'since'],
  ['?since=2026-02-30T00:00:00.000Z', 'since'],
  ['?since=2026-03-01T10:00:00', 'since'],
  ['?since=1772359200', 'since'],
])('refuses %s with 400 and names %s', async (query, parameter) => {
  const { api } = await serve();
  const answer = await api.as('acme-organization').get(PATH + query);
  expect([answer.status, answer.errors[0]?.source]).toEqual([400, { parameter }]);
  expect(answer.errors[0]?.detail).toContain(parameter);
});

it('answers events after a time, exclusive, to the millisecond', async () => {
  const { api, clock } = await serve();
  await updateDescriptions(api, 'at ten');
  clock.at += 1;
  const ids = await updateDescriptions(api, 'a millisecond later');
  const since = async (text: string) => (await readTrail(api, `?since=${text}`)).data.map(({ id }) => id);
  expect(await since('2026-03-01T09:59:59.999Z')).toEqual(ids);
  expect(await since('2026-03-01T10:00:00.000Z')).toEqual(ids.slice(1));
  expect(await since('2026-03-01T10:00:00.001Z')).toEqual([]);
});

it.each([
  '2026-03-01T10:00:00Z',
  '2026-03-01t10:00:00z',
  '2026-03-01T10:00:00.000999Z',
  '2026-03-01T10:00:00.0Z',
  '2026-03-01T12:00:00%2B02:00',
  '2026-03-01T12:00:00+02:00',
  '2026-03-01T08:00:00.000-02:00',
  '2026-03-01%2010:00:00Z',
])('reads since=%s as RFC 3339', async (text) => {
  const { api, clock } = await serve();
  await updateDescriptions(api, 'at ten');
  clock.at += 1;
  const ids = await updateDescriptions(api, 'later');
  const { data } = await readTrail(api, `?since=${text}`);
  expect(data.map(({ id }) => id)).toEqual(ids.slice(1));
});

it('answers no events since the last possible time, and all of them since the first one', async () => {
  const { api } = await serve();
  await updateDescriptions(api, 'x');
  const count = async (text: string) => (await readTrail(api, `?since=${text}`)).data.length;
  expect(await count('9999-12-31T23:59:59-12:00')).toBe(0);
  expect(await count('0000-01-01T00:00:00%2B12:00')).toBe(1);
});

it('counts and pages only the events after since', async () => {
  const { api, clock } = await serve();
  await updateDescriptions(api, '1');
  clock.at += 1;
  const ids = await updateDescriptions(api, '2', '3', '4');
  const { data, pagination } = await readTrail(
    api,
    `?since=2026-03-01T10:00:00.000Z&page[number]=2&page[size]=2`,
  );
  expect(data.map(({ id }) => id)).toEqual(ids.slice(3));
  expect(pagination).toMatchObject({ total_count: 3, total_pages: 2, prev_page: 1 });
});

it('treats a page size over 1000 as 1000', async () => {
  const { api } = await serve({ dialect: 'hcp-terraform' });
  await updateDescriptions(api, 'x');
  expect((await readTrail(api, '?page[size]=1001')).pagination).toMatchObject({ page_size: 1000 });
  expect((await readTrail(api)).pagination).toMatchObject({ page_size: 1000 });
});
