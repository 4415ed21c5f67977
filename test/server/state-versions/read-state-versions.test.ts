import { expect, it } from 'vitest';

import { seedWith, serveForTest } from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [
    {
      name: 'a',
      id: 'ws-a',
      'state-versions': [
        { id: 'sv-1', 'resource-count': 1 },
        { id: 'sv-2', 'resource-count': 2, outputs: [{ name: 'secret', value: 's3', sensitive: true }] },
        { id: 'sv-3', intermediate: true, 'resource-count': 3 },
        { id: 'sv-4', intermediate: true, status: 'pending' },
      ],
    },
  ],
  teams: [
    { name: 'lookers', token: 'lookers', 'workspace-access': { a: ['can-lock'] } },
    {
      name: 'output-readers',
      token: 'output-readers',
      'workspace-access': { a: ['can-read-state-outputs'] },
    },
  ],
});
const LIST = '/workspaces/ws-a/state-versions';

/** Links expire an hour after the request, so that two answers are equal only at the same time. */
const NOON = new Date('2026-01-01T12:00:00Z');

it('lists the state versions of a workspace, the newest first, with their status', async () => {
  const api = await serveForTest({ seed: SEED });
  const { resources, document } = await api.get(LIST);
  expect(
    resources.map(({ id, attributes }) => [
      id,
      attributes['serial'],
      attributes['status'],
      attributes['intermediate'],
    ]),
  ).toEqual([
    ['sv-4', 4, 'pending', true],
    ['sv-3', 3, 'finalized', true],
    ['sv-2', 2, 'finalized', false],
    ['sv-1', 1, 'finalized', false],
  ]);
  expect(document.meta?.pagination['total-count']).toBe(4);
  const pages = await api.get(`${LIST}?page[size]=3&page[number]=2`);
  expect(pages.resources.map(({ id }) => id)).toEqual(['sv-1']);
  const pending = await api.get(`${LIST}?filter[status]=pending`);
  expect(pending.resources.map(({ id }) => id)).toEqual(['sv-4']);
});

it('finds the same list by the names of organization and workspace', async () => {
  const api = await serveForTest({ seed: SEED, now: () => NOON });
  const named = '/state-versions?filter[organization][name]=acme&filter[workspace][name]=a';
  expect((await api.get(named)).resources).toEqual((await api.get(LIST)).resources);
  const missing = await api.get('/state-versions?filter[workspace][name]=a');
  expect([missing.status, missing.errors[0]?.source?.parameter]).toEqual([400, 'filter[organization][name]']);
  expect((await api.as('eve').get(named)).status).toBe(404);
});

it('shows the last finalized version that is not intermediate as the current one', async () => {
  const api = await serveForTest({ seed: SEED, now: () => NOON });
  const current = (await api.get('/workspaces/ws-a/current-state-version')).resource;
  expect(current.id).toBe('sv-2');
  expect((await api.get('/state-versions/sv-2')).resource).toEqual(current);
  expect((await api.attributes('ws-a'))['resource-count']).toBe(2);
});

it('hides states from users who may not read them', async () => {
  const api = await serveForTest({ seed: SEED });
  for (const path of [LIST, '/workspaces/ws-a/current-state-version', '/state-versions/sv-2']) {
    expect([path, (await api.as('lookers').get(path)).status]).toEqual([path, 404]);
    expect([path, (await api.as('output-readers').get(path)).status]).toEqual([path, 404]);
    expect([path, (await api.as('readers').get(path)).status]).toEqual([path, 200]);
  }
  expect((await api.as('output-readers').get('/state-versions/sv-2/outputs')).status).toBe(200);
  expect((await api.as('lookers').get('/state-versions/sv-2/outputs')).status).toBe(404);
});

it('shows no upload link to users who may only read', async () => {
  const api = await serveForTest({ seed: SEED });
  const asReader = (await api.as('readers').get('/state-versions/sv-4')).resource.attributes;
  expect(asReader['hosted-state-upload-url']).toBeNull();
  expect(
    (await api.get('/state-versions/sv-4')).resource.attributes['hosted-state-upload-url'],
  ).not.toBeNull();
});

it('answers 404 to a state version that does not exist', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.get('/state-versions/nonexisting')).status).toBe(404);
  expect((await api.get('/state-version-outputs/nonexisting')).status).toBe(404);
});

it('shows the value of a sensitive output only at its own address', async () => {
  const api = await serveForTest({ seed: SEED });
  const [output] = (await api.get('/state-versions/sv-2/outputs')).resources;
  expect(output?.attributes).toMatchObject({ name: 'secret', sensitive: true, value: null });
  const whole = await api.get('/workspaces/ws-a?include=outputs');
  expect(whole.text).not.toContain('s3');
  expect((await api.get(`/state-version-outputs/${output?.id}`)).resource.attributes['value']).toBe('s3');
  expect((await api.as('lookers').get(`/state-version-outputs/${output?.id}`)).status).toBe(404);
});
