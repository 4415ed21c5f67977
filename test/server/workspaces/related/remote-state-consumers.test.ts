import { expect, it } from 'vitest';

import {
  identifiers,
  seedWith,
  serveForTest,
  type TestClient,
  tickingClock,
} from '../../../support/server/serve-for-test.ts';

const SUBJECT = { name: 'subject', id: 'ws-subject' };
const PATH = '/workspaces/ws-subject/relationships/remote-state-consumers';
const three = [
  { name: 'a', id: 'ws-a' },
  { name: 'b', id: 'ws-b' },
  { name: 'c', id: 'ws-c' },
];

function serve(): Promise<TestClient> {
  return serveForTest({ seed: seedWith({ workspaces: [SUBJECT, ...three] }) });
}

async function consumers(api: TestClient): Promise<unknown[]> {
  return (await api.get(PATH)).names;
}

it('adds consumers, ignoring existing ones', async () => {
  const api = await serve();
  const first = await api.post(PATH, identifiers(['ws-a']));
  expect([first.status, first.text]).toEqual([204, '']);
  expect((await api.post(PATH, identifiers(['ws-a', 'ws-b', 'ws-b']))).status).toBe(204);
  expect(await consumers(api)).toEqual(['a', 'b']);
});

it('removes consumers, ignoring workspaces that are not consumers', async () => {
  const api = await serve();
  await api.post(PATH, identifiers(['ws-a', 'ws-b']));
  expect((await api.delete(PATH, identifiers(['ws-b', 'ws-c']))).status).toBe(204);
  expect(await consumers(api)).toEqual(['a']);
});

it('replaces all consumers, also by none', async () => {
  const api = await serve();
  await api.post(PATH, identifiers(['ws-a', 'ws-b']));
  expect((await api.patch(PATH, identifiers(['ws-b', 'ws-c']))).status).toBe(204);
  expect(await consumers(api)).toEqual(['b', 'c']);
  expect((await api.patch(PATH, identifiers([]))).status).toBe(204);
  expect(await consumers(api)).toEqual([]);
});

it('lets two workspaces read each other', async () => {
  const api = await serve();
  await api.post(PATH, identifiers(['ws-a']));
  await api.post('/workspaces/ws-a/relationships/remote-state-consumers', identifiers(['ws-subject']));
  expect(await consumers(api)).toEqual(['a']);
  expect((await api.get('/workspaces/ws-a/relationships/remote-state-consumers')).names).toEqual(['subject']);
});

it('answers pages of complete workspace documents', async () => {
  const workspaces = Array.from({ length: 130 }, (_, index) => ({ name: `w-${index}`, id: `ws-${index}` }));
  const api = await serveForTest({ seed: seedWith({ workspaces: [SUBJECT, ...workspaces] }) });
  await api.post(PATH, identifiers(workspaces.map(({ id }) => id)));
  const first = await api.get(PATH);
  expect(first.resources).toHaveLength(20);
  expect(first.document.meta?.pagination).toMatchObject({ 'total-count': 130, 'page-size': 20 });
  const second = await api.get(`${PATH}?page[size]=100&page[number]=2`);
  expect(second.resources).toHaveLength(30);
  expect(second.resources[0]).toEqual((await api.get(`/workspaces/${second.resources[0]?.id}`)).resource);
});

it('lists every other workspace of the organization while sharing is global', async () => {
  const api = await serve();
  await api.post(PATH, identifiers(['ws-a']));
  await api.update('ws-subject', { 'global-remote-state': true });
  expect(await consumers(api)).toEqual(['a', 'b', 'c']);
  await api.update('ws-subject', { 'global-remote-state': false });
  expect(await consumers(api)).toEqual(['a']);
});

it.each([
  ['hcp-terraform', ['b']],
  ['neutral', ['b', 'c', 'subject']],
])(
  'lists only configured consumers while more may read the state, if the dialect can: %s',
  async (dialect, configured) => {
    const seed = seedWith({ workspaces: [SUBJECT, ...three] });
    const api = await serveForTest({ seed, dialects: [dialect] });
    const path = '/workspaces/ws-a/relationships/remote-state-consumers';
    await api.post(path, identifiers(['ws-b']));
    const listed = async (query: string) => (await api.get(`${path}?${query}`)).names;
    for (const sharing of [
      'global-remote-state',
      ...(dialect === 'neutral' ? [] : ['project-remote-state']),
    ]) {
      expect((await api.update('ws-a', { [sharing]: true })).status).toBe(200);
      expect(await listed('show_only_configured=true')).toEqual(configured);
      expect(await listed('show_only_configured=false')).toEqual(['b', 'c', 'subject']);
      expect(await listed('')).toEqual(['b', 'c', 'subject']);
      await api.update('ws-a', { [sharing]: false });
      expect(await listed('')).toEqual(['b']);
    }
  },
);

it('refuses every write while sharing is global', async () => {
  const api = await serve();
  await api.update('ws-subject', { 'global-remote-state': true });
  for (const method of ['PATCH', 'POST', 'DELETE']) {
    const answer = await api.send(method, PATH, identifiers(['ws-a']));
    expect(answer.status).toBe(422);
    expect(answer.errors[0]?.detail).toContain('global-remote-state');
  }
});

it.each([
  ['itself', 'ws-subject'],
  ['an unknown workspace', 'ws-unknown'],
])('refuses %s as a consumer, and then changes nothing', async (_who, id) => {
  const api = await serve();
  for (const method of ['PATCH', 'POST', 'DELETE']) {
    const answer = await api.send(method, PATH, identifiers(['ws-a', id]));
    expect(answer.status).toBe(422);
    expect(answer.pointers).toEqual(['/data/1/id']);
  }
  expect(await consumers(api)).toEqual([]);
});

it('refuses a workspace of another organization', async () => {
  const api = await serveForTest({ seed: seedWith({ workspaces: [SUBJECT] }) });
  const theirs = await api.as('eve').post('/organizations/rival/workspaces', {
    data: { type: 'workspaces', attributes: { name: 'theirs' } },
  });
  expect((await api.post(PATH, identifiers([theirs.resource.id]))).status).toBe(422);
});

it.each([
  ['data that is not a list', { data: { type: 'workspaces', id: 'ws-a' } }, '/data'],
  ['another type', identifiers(['ws-a'], 'projects'), '/data/0/type'],
  ['an item without id', { data: [{ type: 'workspaces' }] }, '/data/0/id'],
])('answers 422 to %s', async (_case, body, pointer) => {
  const api = await serve();
  const answer = await api.post(PATH, body);
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual([pointer]);
});

it('ignores other members beside type and id', async () => {
  const api = await serve();
  const data = [
    { type: 'workspaces', id: 'ws-a', attributes: { name: '', 'auto-apply': null }, relationships: {} },
  ];
  expect((await api.post(PATH, { data })).status).toBe(204);
});

it('does not change the attributes of the consumers or of the workspace', async () => {
  const api = await serveForTest({
    seed: seedWith({ workspaces: [SUBJECT, ...three] }),
    now: tickingClock(),
  });
  const read = async () => [await api.attributes('ws-subject'), await api.attributes('ws-a')];
  const before = await read();
  await api.post(PATH, identifiers(['ws-a']));
  expect(await read()).toEqual(before);
});

const RESTRICTED = {
  workspaces: [SUBJECT, ...three],
  teams: [
    { name: 'admins', token: 'admins', 'workspace-access': { subject: 'admin', a: 'read' } },
    { name: 'writers', token: 'writers', 'workspace-access': { subject: 'write', a: 'read' } },
  ],
};

it('lets only callers who manage all workspaces replace the list', async () => {
  const api = await serveForTest({ seed: seedWith(RESTRICTED) });
  expect((await api.as('admins').patch(PATH, identifiers(['ws-a']))).status).toBe(404);
  expect((await api.as('admins').post(PATH, identifiers(['ws-a']))).status).toBe(204);
  expect((await api.as('admins').delete(PATH, identifiers(['ws-a']))).status).toBe(204);
  expect((await api.as('managers').patch(PATH, identifiers(['ws-a']))).status).toBe(204);
  expect((await api.as('acme-organization').patch(PATH, identifiers(['ws-b']))).status).toBe(204);
});

it('refuses to replace the list for callers who may only read all workspaces', async () => {
  const seed = seedWith({
    workspaces: [SUBJECT, ...three],
    teams: [
      { name: 'both', token: 'both', 'read-workspaces': true, 'workspace-access': { subject: 'admin' } },
    ],
  });
  const api = (await serveForTest({ seed })).as('both');
  expect((await api.patch(PATH, identifiers(['ws-a']))).status).toBe(404);
  expect((await api.post(PATH, identifiers(['ws-a']))).status).toBe(204);
});

it('requires an admin of the workspace for every write', async () => {
  const api = await serveForTest({ seed: seedWith(RESTRICTED) });
  expect((await api.as('writers').post(PATH, identifiers(['ws-a']))).status).toBe(404);
  expect((await api.as('writers').delete(PATH, identifiers(['ws-a']))).status).toBe(404);
  expect((await api.as('writers').get(PATH)).status).toBe(200);
});

it('hides and refuses consumers that the caller cannot read', async () => {
  const api = await serveForTest({ seed: seedWith(RESTRICTED) });
  await api.post(PATH, identifiers(['ws-a', 'ws-b']));
  const seen = await api.as('admins').get(PATH);
  expect(seen.names).toEqual(['a']);
  expect(seen.document.meta?.pagination['total-count']).toBe(1);
  expect((await api.as('admins').post(PATH, identifiers(['ws-b']))).pointers).toEqual(['/data/0/id']);
  expect((await api.as('admins').delete(PATH, identifiers(['ws-b']))).pointers).toEqual(['/data/0/id']);
});

it('does not reveal whether a consumer exists to a caller who may not replace the list', async () => {
  const seed = seedWith({
    workspaces: [
      { name: 'net', id: 'ws-net' },
      { name: 'web', id: 'ws-web' },
    ],
    teams: [{ name: 'admins', token: 'admins', 'workspace-access': { net: 'admin', web: 'read' } }],
  });
  const api = (await serveForTest({ seed })).as('admins');
  const path = '/workspaces/ws-net/relationships/remote-state-consumers';
  const bodies = [identifiers(['ws-web']), identifiers(['ws-unknown']), identifiers(['ws-net']), 'null'];
  for (const body of bodies) expect((await api.patch(path, body)).status).toBe(404);
  expect((await api.post(path, identifiers(['ws-unknown']))).status).toBe(422);
});
