import { expect, it } from 'vitest';

import { seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const SEED = seedWith({
  workspaces: [
    {
      name: 'a',
      id: 'ws-a',
      vars: [
        { key: 'region', id: 'var-region', value: 'eu' },
        { key: 'TOKEN', id: 'var-token', value: 's3cret', category: 'env', sensitive: true },
      ],
    },
    { name: 'b', id: 'ws-b' },
  ],
  teams: [
    { name: 'lookers', token: 'lookers', 'workspace-access': { a: ['can-lock'] } },
    { name: 'planners', token: 'planners', 'workspace-access': { a: 'plan' } },
    { name: 'writers', token: 'writers', 'workspace-access': { a: 'write' } },
  ],
});
const VARS = '/workspaces/ws-a/vars';

const body = (attributes: object) => ({ data: { type: 'vars', attributes } });
const create = (api: TestClient, attributes: object) => api.post(VARS, body(attributes));

it('lists the variables of a workspace, without the values of sensitive ones', async () => {
  const api = await serveForTest({ seed: SEED });
  const { resources } = await api.get(VARS);
  expect(resources.map(({ id, attributes }) => [id, attributes['key'], attributes['value']])).toEqual([
    ['var-region', 'region', 'eu'],
    ['var-token', 'TOKEN', null],
  ]);
  const { relationships } = (await api.get('/workspaces/ws-a')).resource;
  expect(relationships['vars']?.data).toEqual([
    { id: 'var-region', type: 'vars' },
    { id: 'var-token', type: 'vars' },
  ]);
});

it('creates, shows, changes and deletes a variable', async () => {
  const api = await serveForTest({ seed: SEED });
  const created = await create(api, { key: 'size', value: '3', hcl: true, description: 'how many' });
  expect(created.status).toBe(201);
  expect(created.resource.attributes).toMatchObject({
    key: 'size',
    value: '3',
    hcl: true,
    sensitive: false,
    category: 'engine',
    description: 'how many',
  });
  const path = `${VARS}/${created.resource.id}`;
  expect((await api.get(path)).resource).toEqual(created.resource);
  const changed = await api.patch(path, body({ value: '4' }));
  expect([changed.status, changed.resource.attributes]).toEqual([
    200,
    { ...created.resource.attributes, value: '4' },
  ]);
  expect((await api.delete(path)).status).toBe(204);
  expect((await api.get(path)).status).toBe(404);
});

it('never shows a value again once the variable is sensitive', async () => {
  const api = await serveForTest({ seed: SEED });
  const created = await create(api, { key: 'pass', value: 'hush', sensitive: true });
  const answers = [
    created,
    await api.get(`${VARS}/${created.resource.id}`),
    await api.patch(`${VARS}/${created.resource.id}`, body({ description: 'x' })),
    await api.get(VARS),
    await api.get('/workspaces/ws-a?include=vars'),
  ];
  for (const answer of answers) {
    expect(answer.text).not.toContain('hush');
    expect(answer.text).not.toContain('s3cret');
  }
  const plain = await api.patch(`${VARS}/var-token`, body({ sensitive: false }));
  expect(plain.pointers).toEqual(['/data/attributes/sensitive']);
});

it('refuses a second variable with the same key and category, and invalid values', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await create(api, { key: 'region', category: 'env' })).status).toBe(201);
  expect((await create(api, { key: 'region' })).pointers).toEqual(['/data/attributes/key']);
  expect((await create(api, {})).pointers).toEqual(['/data/attributes/key']);
  expect((await create(api, { key: 'k', category: 'moon', hcl: 'no' })).pointers.toSorted()).toEqual([
    '/data/attributes/category',
    '/data/attributes/hcl',
  ]);
  expect((await api.patch(`${VARS}/var-region`, body({ key: '' }))).status).toBe(422);
});

it('a variable belongs to one workspace', async () => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.get('/workspaces/ws-b/vars/var-region')).status).toBe(404);
  expect((await api.delete('/workspaces/ws-b/vars/var-region')).status).toBe(404);
  expect((await api.get(`${VARS}/var-region`)).status).toBe(200);
});

it.each([
  ['lookers', 404, 404],
  ['planners', 200, 404],
  ['writers', 200, 201],
  ['eve', 404, 404],
])('lets %s read (%i) and write (%i) variables', async (token, read, write) => {
  const api = await serveForTest({ seed: SEED });
  expect((await api.as(token).get(VARS)).status).toBe(read);
  expect((await create(api.as(token), { key: 'new' })).status).toBe(write);
  const linked = (await api.as(token).get('/workspaces/ws-a')).document.data;
  if (token === 'lookers') expect(linked).toMatchObject({ relationships: { vars: { data: [] } } });
});
