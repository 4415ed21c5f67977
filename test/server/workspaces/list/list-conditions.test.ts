import { expect, it } from 'vitest';

import { identifiers, seedWith, serveForTest } from '../../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';

const seed = seedWith({
  workspaces: [
    { name: 'net-one', project: 'platform', tags: ['net'], 'tag-bindings': { env: 'prod', team: 'a' } },
    { name: 'net-two', tags: ['net', 'old'], 'tag-bindings': { env: 'dev', team: 'a' } },
    { name: 'app-one', tags: ['app'], 'tag-bindings': { stage: 'prod' } },
  ],
});

it.each([
  ['only a value', 'filter[tagged][0][value]=prod', ['app-one', 'net-one']],
  [
    'indexes that are not consecutive',
    'filter[tagged][7][key]=env&filter[tagged][3][key]=team',
    ['net-one', 'net-two'],
  ],
  [
    'an empty value beside its key',
    'filter[tagged][0][key]=env&filter[tagged][0][value]=',
    ['net-one', 'net-two'],
  ],
  ['a wildcard name without a wildcard', 'search[wildcard-name]=net-one', ['net-one']],
  ['a wildcard name that is only a part of a name', 'search[wildcard-name]=net', []],
  [
    'a name, a tag and a project',
    'search[name]=one&search[tags]=net&filter[project][id]=prj-platform',
    ['net-one'],
  ],
  ['a tag, without another', 'search[tags]=net&search[exclude-tags]=old,none', ['net-one']],
  ['conditions that no workspace meets together', 'search[tags]=app&filter[tagged][0][key]=env', []],
])('finds by %s', async (_what, query, names) => {
  const api = await serveForTest({ seed });
  const answer = await api.get(`${LIST}?sort=name&${query}`);
  expect(answer.status).toBe(200);
  expect(answer.names).toEqual(names);
  expect(answer.document.meta?.pagination['total-count']).toBe(names.length);
});

const tagged = seedWith({
  workspaces: [
    { name: 'prod', 'tag-bindings': { env: 'prod' } },
    { name: 'team', 'tag-bindings': { team: 'a', blue: '' } },
    { name: 'both', 'tag-bindings': { env: 'prod', team: 'a', blue: 'yes' } },
    { name: 'bare' },
  ],
});

function byTags(...tags: [key: string, value?: string][]): string {
  return tags
    .map(([key, value], index) => {
      const filter = `filter[tagged][${index}]`;
      return `${filter}[key]=${key}${value === undefined ? '' : `&${filter}[value]=${value}`}`;
    })
    .join('&');
}

it.each([
  ['hcp-terraform', '', ['both']],
  ['hcp-terraform', '&filter[tag-union]=false', ['both']],
  ['hcp-terraform', '&filter[tag-union]=true', ['both', 'prod', 'team']],
  ['neutral', '&filter[tag-union]=true', ['both']],
])(
  'finds workspaces with all of the tags, or any of them in a union, in the dialect %s: "%s"',
  async (dialect, union, names) => {
    const api = await serveForTest({ seed: tagged, dialects: [dialect] });
    const query = byTags(['env', 'prod'], ['team', 'a']);
    expect((await api.get(`${LIST}?sort=name&${query}${union}`)).names).toEqual(names);
    // Without a tag the union has no effect.
    expect((await api.get(`${LIST}?sort=name${union}`)).names).toHaveLength(4);
  },
);

it.each([
  ['hcp-terraform', '', ['both', 'team']],
  ['hcp-terraform', '&filter[tag-value-default-null]=false', ['both', 'team']],
  ['hcp-terraform', '&filter[tag-value-default-null]=true', ['team']],
  ['neutral', '&filter[tag-value-default-null]=true', ['both', 'team']],
])(
  'finds a key with any value, or without one if the default is null, in the dialect %s: "%s"',
  async (dialect, option, names) => {
    const api = await serveForTest({ seed: tagged, dialects: [dialect] });
    expect((await api.get(`${LIST}?sort=name&${byTags(['blue'])}${option}`)).names).toEqual(names);
    const withValue = byTags(['team', 'a'], ['blue']);
    expect((await api.get(`${LIST}?sort=name&${withValue}${option}`)).names).toEqual(names);
  },
);

it('answers twenty consumers or tags per page by default, and at most a hundred', async () => {
  const names = Array.from({ length: 120 }, (_, index) => `w-${index}`);
  const workspaces = [
    { name: 'a', id: 'ws-a', tags: names },
    ...names.map((name) => ({ name, id: `ws-${name}` })),
  ];
  const api = await serveForTest({ seed: seedWith({ workspaces }) });
  const consumers = '/workspaces/ws-a/relationships/remote-state-consumers';
  await api.post(consumers, identifiers(names.map((name) => `ws-${name}`)));
  for (const path of [consumers, '/workspaces/ws-a/relationships/tags']) {
    expect((await api.get(path)).resources, path).toHaveLength(20);
    const largest = await api.get(`${path}?page[size]=1000`);
    expect(largest.resources, path).toHaveLength(100);
    expect(largest.document.meta?.pagination).toMatchObject({ 'page-size': 100, 'total-count': 120 });
    expect(largest.document.links?.['next']).toEqual(expect.stringContaining(path));
  }
});
