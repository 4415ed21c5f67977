/** Variable sets as Terraform's provider requests them: `tfe_variable_set`, its variables, its workspaces and projects. */
import { expect, it } from 'vitest';

import { identifiers, seedWith, serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const SETS = '/organizations/acme/varsets';
const SEED = seedWith({
  workspaces: [
    { name: 'a', id: 'ws-a', project: 'platform' },
    { name: 'b', id: 'ws-b', project: 'sandbox' },
  ],
  teams: [{ name: 'devs', token: 'devs', 'workspace-access': { a: 'read' } }],
});

function serve(): Promise<TestClient> {
  return serveForTest({ dialects: ['hcp-terraform'], seed: SEED });
}

const body = (attributes: object, relationships: object = {}) => ({
  data: { type: 'varsets', attributes, relationships },
});
const variable = (attributes: object) => ({ data: { type: 'vars', attributes } });

async function createSet(
  api: TestClient,
  attributes: object = {},
  relationships: object = {},
): Promise<string> {
  const answer = await api.post(SETS, body({ name: 'shared', global: false, ...attributes }, relationships));
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.resource.id;
}

async function related(api: TestClient, set: string, name: string): Promise<unknown> {
  const data = (await api.get(`/varsets/${set}`)).resource.relationships[name]?.data;
  return (data as { id: string }[]).map(({ id }) => id);
}

it('creates, shows, lists, changes and deletes a set', async () => {
  const api = await serve();
  const answer = await api.post(
    SETS,
    body({ name: 'shared', global: false, priority: true, description: 'd' }),
  );
  expect(answer.status).toBe(201);
  const { id, attributes, relationships } = answer.resource;
  expect(id).toMatch(/^varset-\w{16}$/);
  expect(attributes).toMatchObject({ name: 'shared', global: false, priority: true, description: 'd' });
  expect(relationships['organization']?.data).toEqual({ id: 'acme', type: 'organizations' });
  expect(relationships['parent']?.data).toEqual({ id: 'acme', type: 'organizations' });
  expect((await api.get(`/varsets/${id}`)).resource).toEqual(answer.resource);
  expect((await api.get(SETS)).resources).toEqual([answer.resource]);
  expect((await api.get(`${SETS}?q=HAR`)).names).toEqual(['shared']);
  expect((await api.get(`${SETS}?q=none`)).names).toEqual([]);
  const changed = await api.patch(`/varsets/${id}`, body({ name: 'other', description: '' }));
  expect([changed.status, changed.resource.attributes]).toMatchObject([
    200,
    { name: 'other', description: '', priority: true },
  ]);
  expect((await api.delete(`/varsets/${id}`)).status).toBe(204);
  expect((await api.get(`/varsets/${id}`)).status).toBe(404);
});

it('creates a set with its variables in one request, and nothing if one is refused', async () => {
  const api = await serve();
  const vars = (key: string) => ({ vars: { data: [{ type: 'vars', attributes: { key, value: 'v' } }] } });
  const set = await createSet(api, {}, vars('region'));
  const { resources } = await api.get(`/varsets/${set}/relationships/vars`);
  expect(resources.map(({ attributes }) => attributes)).toMatchObject([{ key: 'region', value: 'v' }]);
  expect((await api.post(SETS, body({ name: 'other', global: false }, vars('')))).status).toBe(422);
  expect((await api.get(SETS)).names).toEqual(['shared']);
});

it('refuses a set without a name, with one that is taken, and values of other types', async () => {
  const api = await serve();
  await createSet(api);
  expect((await api.post(SETS, body({}))).pointers).toEqual(['/data/attributes/name']);
  expect((await api.post(SETS, body({ name: 'shared' }))).pointers).toEqual(['/data/attributes/name']);
  expect((await api.post(SETS, body({ name: 'x', global: 'yes' }))).pointers).toEqual([
    '/data/attributes/global',
  ]);
});

it('stores variables like a workspace, and never shows the value of a sensitive one', async () => {
  const api = await serve();
  const set = await createSet(api);
  const list = `/varsets/${set}/relationships/vars`;
  const plain = await api.post(list, variable({ key: 'region', value: 'eu', category: 'terraform' }));
  expect([plain.status, plain.resource.attributes]).toMatchObject([
    201,
    { key: 'region', value: 'eu', category: 'terraform', hcl: false, sensitive: false },
  ]);
  expect(plain.resource.relationships['varset']?.data).toEqual({ id: set, type: 'varsets' });
  const secret = await api.post(
    list,
    variable({ key: 'TOKEN', value: 'hush', category: 'env', sensitive: true }),
  );
  const one = `${list}/${secret.resource.id}`;
  const answers = [
    secret,
    await api.get(one),
    await api.get(list),
    await api.get(`/varsets/${set}?include=vars`),
  ];
  answers.push(await api.patch(one, variable({ description: 'of the cloud' })));
  for (const answer of answers) expect(answer.text).not.toContain('hush');
  expect((await api.get(one)).resource.attributes).toMatchObject({
    value: null,
    description: 'of the cloud',
  });
  expect((await api.patch(one, variable({ sensitive: false }))).pointers).toEqual([
    '/data/attributes/sensitive',
  ]);
  expect((await api.post(list, variable({ key: 'region', category: 'terraform' }))).status).toBe(422);
  expect(await related(api, set, 'vars')).toEqual([plain.resource.id, secret.resource.id]);
  expect((await api.get(`/workspaces/ws-a/vars/${plain.resource.id}`)).status).toBe(404);
  expect((await api.delete(one)).status).toBe(204);
  expect((await api.get(list)).resources).toEqual([plain.resource]);
});

it.each([
  ['workspaces', 'ws-a', 'ws-b'],
  ['projects', 'prj-platform', 'prj-sandbox'],
])(
  'a set is added to %s and removed from them one by one, without a change of the others',
  async (type, first, second) => {
    const api = await serve();
    const set = await createSet(api);
    const path = `/varsets/${set}/relationships/${type}`;
    expect((await api.post(path, identifiers([first], type))).status).toBe(204);
    expect((await api.post(path, identifiers([first, second], type))).status).toBe(204);
    expect(await related(api, set, type)).toEqual([first, second]);
    const include = await api.get(`/varsets/${set}?include=${type}`);
    expect(include.document.included?.map(({ id }) => id)).toEqual([first, second]);
    expect((await api.delete(path, identifiers([first], type))).status).toBe(204);
    expect((await api.delete(path, identifiers([first], type))).status).toBe(204);
    expect(await related(api, set, type)).toEqual([second]);
    expect((await api.post(path, identifiers(['none'], type))).status).toBe(404);
  },
);

it('a set accepts a list of workspaces when it stops being global', async () => {
  const api = await serve();
  const set = await createSet(api, { global: true });
  const path = `/varsets/${set}?include=workspaces,stacks`;
  const patched = await api.patch(path, body({ global: false }, { workspaces: identifiers(['ws-a']) }));
  expect(patched.status).toBe(200);
  expect(patched.document.included?.map(({ attributes }) => attributes['name'])).toEqual(['a']);
  await api.patch(path, body({}, { workspaces: { data: [] } }));
  expect(await related(api, set, 'workspaces')).toEqual([]);
});

it('a set has no lists while it is global and applies to every workspace', async () => {
  const api = await serve();
  const set = await createSet(api, {}, { workspaces: identifiers(['ws-a']) });
  await api.patch(`/varsets/${set}`, body({ global: true }));
  expect(await related(api, set, 'workspaces')).toEqual([]);
  const given = await api.post(`/varsets/${set}/relationships/workspaces`, identifiers(['ws-a']));
  expect(given.status).toBe(422);
  expect((await api.get('/workspaces/ws-b/varsets')).names).toEqual(['shared']);
});

it('a set is listed for the workspaces and projects that have it', async () => {
  const api = await serve();
  await createSet(api, { name: 'of-a' }, { workspaces: identifiers(['ws-a']) });
  await createSet(api, { name: 'of-platform' }, { projects: identifiers(['prj-platform'], 'projects') });
  const parent = { data: { type: 'projects', id: 'prj-sandbox' } };
  const owned = await createSet(api, { name: 'of-sandbox' }, { parent });
  expect((await api.get(`/varsets/${owned}`)).resource.relationships['parent']).toEqual(parent);
  expect((await api.get('/workspaces/ws-a/varsets')).names).toEqual(['of-a', 'of-platform']);
  expect((await api.get('/workspaces/ws-b/varsets')).names).toEqual([]);
  expect((await api.get('/projects/prj-platform/varsets')).names).toEqual(['of-platform']);
  expect((await api.get('/projects/prj-sandbox/varsets')).names).toEqual(['of-sandbox']);
});

it('a set can be read by users who read all workspaces, and changed by users who manage them', async () => {
  const api = await serve();
  const set = await createSet(api, {}, { workspaces: identifiers(['ws-a', 'ws-b']) });
  for (const [token, read, write] of [
    ['devs', 404, 404],
    ['readers', 200, 404],
    ['managers', 200, 200],
    ['eve', 404, 404],
  ] as const) {
    expect([token, (await api.as(token).get(`/varsets/${set}`)).status]).toEqual([token, read]);
    expect([token, (await api.as(token).get(`/varsets/${set}/relationships/vars`)).status]).toEqual([
      token,
      read,
    ]);
    const patched = await api.as(token).patch(`/varsets/${set}`, body({ description: token }));
    expect([token, patched.status]).toEqual([token, write]);
  }
  const [shown] = (await api.as('devs').get('/workspaces/ws-a/varsets')).resources;
  expect(shown?.relationships['workspaces']?.data).toEqual([{ id: 'ws-a', type: 'workspaces' }]);
});
