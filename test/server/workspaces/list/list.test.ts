import { expect, it } from 'vitest';

import {
  bindings,
  seedWith,
  serveForTest,
  type TestClient,
  tickingClock,
} from '../../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';
const IN_PLATFORM = { project: { data: { type: 'projects', id: 'prj-platform' } } };

/** The names that a query finds, sorted by name. */
async function found(api: TestClient, query: string): Promise<unknown[]> {
  const answer = await api.get(`${LIST}?sort=name&page[size]=100&${query}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.names;
}

async function withTags(api: TestClient, tags: Readonly<Record<string, string[]>>): Promise<void> {
  for (const [name, names] of Object.entries(tags)) {
    const data = names.map((tag) => ({ type: 'tags', attributes: { name: tag } }));
    await api.created({ name }, { tags: { data } });
  }
}

it('answers twenty workspaces per page by default, with links and totals', async () => {
  const workspaces = Array.from({ length: 45 }, (_, index) => ({
    name: `w-${String(index).padStart(2, '0')}`,
  }));
  const api = await serveForTest({ seed: seedWith({ workspaces }) });
  const answer = await api.get(`${LIST}?sort=name&page[number]=2`);
  expect(answer.names).toEqual(workspaces.slice(20, 40).map(({ name }) => name));
  expect(Object.keys(answer.document).toSorted()).toEqual(['data', 'links', 'meta']);
  expect(answer.document.meta?.pagination).toEqual({
    'current-page': 2,
    'page-size': 20,
    'prev-page': 1,
    'next-page': 3,
    'total-pages': 3,
    'total-count': 45,
  });
});

it('lists every workspace once over all pages, in any order', async () => {
  const workspaces = Array.from({ length: 250 }, (_, index) => ({ name: `w-${index}` }));
  const api = await serveForTest({ seed: seedWith({ workspaces }) });
  for (const sort of [
    '',
    'sort=name',
    'sort=-name',
    'sort=latest-change-at',
    'sort=current-run.created-at',
  ]) {
    const names: unknown[] = [];
    for (const number of [1, 2, 3]) {
      names.push(...(await api.get(`${LIST}?${sort}&page[size]=100&page[number]=${number}`)).names);
    }
    expect(new Set(names).size, sort).toBe(250);
  }
});

it('the list is empty for an organization without workspaces', async () => {
  const api = await serveForTest();
  const answer = await api.get(LIST);
  expect(answer.resources).toEqual([]);
  expect(answer.document.meta?.pagination).toMatchObject({ 'total-count': 0, 'total-pages': 1 });
});

it('finds a part of the name with any case and separators', async () => {
  const api = await serveForTest();
  for (const name of ['network-prod', 'network_dev', 'storage']) await api.created({ name });
  expect(await found(api, 'search[name]=NETW')).toEqual(['network-prod', 'network_dev']);
  expect(await found(api, 'search[name]=workprod')).toEqual(['network-prod']);
  expect(await found(api, 'search[name]=network+dev')).toEqual(['network_dev']);
  expect(await found(api, 'search[name]=%25')).toEqual([]);
  expect(await found(api, 'search[name]=')).toHaveLength(3);
});

it('accepts * as prefix, as suffix and as both in search[wildcard-name]', async () => {
  const api = await serveForTest();
  for (const name of ['prod-net', 'net-prod', 'a-prod-b', 'a_b', 'axb']) await api.created({ name });
  expect(await found(api, 'search[wildcard-name]=prod*')).toEqual(['prod-net']);
  expect(await found(api, 'search[wildcard-name]=*prod')).toEqual(['net-prod']);
  expect(await found(api, 'search[wildcard-name]=*prod*')).toEqual(['a-prod-b', 'net-prod', 'prod-net']);
  expect(await found(api, 'search[wildcard-name]=a_b')).toEqual(['a_b']);
});

it('finds workspaces with all of search[tags] and none of search[exclude-tags]', async () => {
  const api = await serveForTest();
  await withTags(api, { a: ['red', 'big'], b: ['red'], c: ['blue'], d: [] });
  expect(await found(api, 'search[tags]=red')).toEqual(['a', 'b']);
  expect(await found(api, 'search[tags]=Red,big,red')).toEqual(['a']);
  expect(await found(api, 'search[exclude-tags]=big,blue')).toEqual(['b', 'd']);
  expect(await found(api, 'search[tags]=red&search[exclude-tags]=big')).toEqual(['b']);
  expect(await found(api, 'search[tags]=green')).toEqual([]);
});

it('filters by project', async () => {
  const api = await serveForTest();
  await api.created({ name: 'in' }, IN_PLATFORM);
  await api.created({ name: 'out' });
  expect(await found(api, 'filter[project][id]=prj-platform')).toEqual(['in']);
});

it('filters by the status of the current run, and not of older ones', async () => {
  const workspaces = [
    { name: 'done', runs: [{ status: 'errored' }, { status: 'applied' }] },
    { name: 'bad', runs: [{ status: 'applied' }, { status: 'errored' }] },
    { name: 'idle' },
  ];
  const api = await serveForTest({ seed: seedWith({ workspaces }) });
  expect(await found(api, 'filter[current-run][status]=errored')).toEqual(['bad']);
  expect(await found(api, 'filter[current-run][status]=applied,errored')).toEqual(['bad', 'done']);
});

it('filters by tag bindings: by key, by key and value, and by several of them', async () => {
  const api = await serveForTest();
  await api.created({ name: 'a' }, bindings({ env: 'prod', team: 'net' }));
  await api.created({ name: 'b' }, bindings({ env: 'dev', team: 'net' }));
  await api.created({ name: 'c' }, bindings({ owner: 'prod' }));
  expect(await found(api, 'filter[tagged][0][key]=env')).toEqual(['a', 'b']);
  expect(await found(api, 'filter[tagged][0][key]=env&filter[tagged][0][value]=')).toEqual(['a', 'b']);
  expect(await found(api, 'filter[tagged][0][key]=env&filter[tagged][0][value]=prod')).toEqual(['a']);
  expect(await found(api, 'filter[tagged][0][value]=prod')).toEqual(['a', 'c']);
  expect(
    await found(api, 'filter[tagged][0][key]=team&filter[tagged][1][key]=env&filter[tagged][1][value]=dev'),
  ).toEqual(['b']);
});

it('counts inherited bindings in filters, unless the workspace has its own value', async () => {
  const api = await serveForTest();
  await api.created({ name: 'inherits' }, IN_PLATFORM);
  await api.created({ name: 'overrides' }, { ...IN_PLATFORM, ...bindings({ env: 'prod' }) });
  expect(await found(api, 'filter[tagged][0][key]=tier')).toEqual(['inherits', 'overrides']);
  expect(await found(api, 'filter[tagged][0][key]=env&filter[tagged][0][value]=shared')).toEqual([
    'inherits',
  ]);
});

it('reads brackets encoded and unencoded alike', async () => {
  const api = await serveForTest();
  for (const name of ['a', 'b', 'c']) await api.created({ name });
  expect((await api.get(`${LIST}?sort=name&page%5Bsize%5D=1&page%5Bnumber%5D=2`)).names).toEqual(['b']);
  expect((await api.get(`${LIST}?sort=name&page[size]=1&page[number]=2`)).names).toEqual(['b']);
});

it('ignores unknown parameters', async () => {
  const api = await serveForTest();
  await api.created({ name: 'a' });
  expect(
    await found(api, 'TagBindings=%7B%20key%20value%20%7D&filter[moon]=full&search[colour]=red'),
  ).toEqual(['a']);
});

it('sorts by name, by the last change and by the current run, both ways', async () => {
  const workspaces = [{ name: 'old-run', runs: [{ status: 'applied' }] }, { name: 'idle' }];
  const api = await serveForTest({ seed: seedWith({ workspaces }), now: tickingClock() });
  const newest = await api.created({ name: 'newest' });
  const sorted = async (sort: string) => (await api.get(`${LIST}?sort=${sort}`)).names;
  expect(await sorted('name')).toEqual(['idle', 'newest', 'old-run']);
  expect(await sorted('-name')).toEqual(['old-run', 'newest', 'idle']);
  expect((await sorted('-latest-change-at'))[0]).toBe('newest');
  expect((await sorted('latest-change-at'))[2]).toBe('newest');
  expect((await sorted('-current-run.created-at'))[0]).toBe('old-run');
  await api.update(newest, { description: 'x' });
  expect((await sorted('-latest-change-at'))[0]).toBe('newest');
});

it('lists workspaces without a run last by their current run, in both directions', async () => {
  const run = (name: string) => ({ name, runs: [{ status: 'applied' as const }] });
  const workspaces = [{ name: 'idle' }, run('first'), { name: 'unused' }, run('second')];
  const api = await serveForTest({ seed: seedWith({ workspaces }), now: tickingClock() });
  const body = {
    data: { type: 'runs', relationships: { workspace: { data: { type: 'workspaces', id: '' } } } },
  };
  const ids = new Map((await api.get(LIST)).resources.map(({ id, attributes }) => [attributes['name'], id]));
  const postRun = async (name: string) => {
    body.data.relationships.workspace.data.id = ids.get(name) ?? '';
    expect((await api.post('/runs', body)).status).toBe(201);
  };
  await postRun('first');
  const sorted = async (sort: string) => (await api.get(`${LIST}?sort=${sort}`)).names;
  expect(await sorted('current-run.created-at')).toEqual(['second', 'first', 'idle', 'unused']);
  expect(await sorted('-current-run.created-at')).toEqual(['first', 'second', 'idle', 'unused']);
});

it('refuses an unknown sort order', async () => {
  const api = await serveForTest();
  const answer = await api.get(`${LIST}?sort=colour`);
  expect(answer.status).toBe(400);
  expect(answer.errors[0]?.source).toEqual({ parameter: 'sort' });
});

it('lists and counts only what the caller can read', async () => {
  const seed = seedWith({
    workspaces: [{ name: 'mine' }, { name: 'hidden' }, { name: 'shared', project: 'platform' }],
    teams: [
      { name: 'devs', members: ['bob'], 'workspace-access': { mine: 'read' } },
      { name: 'locksmiths', token: 'locksmiths', 'workspace-access': { hidden: ['can-lock'] } },
    ],
    members: ['eve'],
  });
  const api = await serveForTest({ seed });
  const seen = async (token: string) => {
    const answer = await api.as(token).get(`${LIST}?sort=name`);
    expect(answer.document.meta?.pagination['total-count']).toBe(answer.resources.length);
    return answer.names;
  };
  expect(await seen('ann')).toEqual(['hidden', 'mine', 'shared']);
  expect(await seen('readers')).toEqual(['hidden', 'mine', 'shared']);
  expect(await seen('acme-organization')).toEqual(['hidden', 'mine', 'shared']);
  expect(await seen('bob')).toEqual(['mine']);
  expect(await seen('platform-admins')).toEqual(['shared']);
  expect(await seen('locksmiths')).toEqual(['hidden']);
  expect(await seen('eve')).toEqual([]);
});

it('answers 404 for an organization that is unknown or not the caller`s', async () => {
  const api = await serveForTest();
  expect((await api.get('/organizations/nowhere/workspaces')).status).toBe(404);
  expect((await api.get('/organizations/rival/workspaces')).status).toBe(404);
  expect((await api.as('acme-organization').get('/organizations/rival/workspaces')).status).toBe(404);
});

it('answers 404 to users of other organizations before it reads the query', async () => {
  const api = (await serveForTest()).as('eve');
  for (const query of ['', '?include=nothing', '?sort=nothing']) {
    expect((await api.get(`/organizations/acme/workspaces${query}`)).status).toBe(404);
  }
});
