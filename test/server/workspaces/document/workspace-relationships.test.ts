import { expect, it } from 'vitest';

import {
  seedWith,
  serveForTest,
  type TestClient,
  type TestResource,
} from '../../../support/server/serve-for-test.ts';

const RECORDS = {
  'configuration-versions': [{ id: 'cv-1', 'ingress-attributes': { branch: 'main' } }],
  runs: [{ id: 'run-1', status: 'applied', 'configuration-version': 'cv-1' }],
  'state-versions': [{ id: 'sv-1', outputs: [{ name: 'url', value: 'https://x' }] }],
  vars: [{ id: 'var-1', key: 'region', value: 'eu' }],
  'assessment-results': [{ id: 'asmtres-1' }],
  readme: '# Hello',
};

const SEED = seedWith({
  'data-retention-policy': { 'delete-older-than-n-days': 30 },
  'default-agent-pool': 'builders',
  workspaces: [
    { name: 'full', id: 'ws-full', project: 'platform', ...RECORDS, 'tag-bindings': { a: 'b' } },
    { name: 'held', id: 'ws-held', 'locked-by-run': 'run-9' },
    { name: 'team-held', id: 'ws-team-held' },
    { name: 'bare', id: 'ws-bare' },
  ],
  teams: ['read', 'write', ['can-lock']].map((access, index) => ({
    name: `level-${index}`,
    token: `level-${index}`,
    'workspace-access': { full: access, held: access, 'team-held': access, bare: access },
  })),
});

async function prepared(): Promise<TestClient> {
  const api = await serveForTest({ seed: SEED });
  await api.update('ws-full', { 'execution-mode': 'agent', 'agent-pool-id': 'apool-builders' });
  await api.patch('/workspaces/ws-full/relationships/ssh-key', {
    data: { type: 'workspaces', attributes: { id: 'sshkey-deploy' } },
  });
  await api.post('/workspaces/ws-full/relationships/data-retention-policy', {
    data: { type: 'data-retention-policy-dont-deletes' },
  });
  await api.post('/workspaces/ws-full/actions/lock');
  await api.as('managers').post('/workspaces/ws-team-held/actions/lock');
  await api.post('/runs', {
    data: { type: 'runs', relationships: { workspace: { data: { type: 'workspaces', id: 'ws-bare' } } } },
  });
  return api;
}

/** Every address that a resource links to, except pages for browsers. */
function addressesIn({ relationships, links }: TestResource): string[] {
  const related = Object.values(relationships ?? {}).flatMap((one) => one.links?.related ?? []);
  const own = Object.entries(links ?? {}).flatMap(([name, link]) => (name === 'self-html' ? [] : link));
  return [...related, ...own];
}

/** Follows all links, starting at a list of workspaces, and returns the status of each address. */
async function follow(api: TestClient): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  const waiting = ['/api/v2/organizations/acme/workspaces'];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (statuses.has(path)) continue;
    const answer = await api.get(path.replace('/api/v2', ''));
    statuses.set(path, answer.status);
    if (answer.status === 200)
      waiting.push(...[answer.document.data].flat().flatMap((one) => addressesIn(one as TestResource)));
  }
  return statuses;
}

it.each(['ann', 'managers', 'readers', 'level-0', 'level-1', 'level-2', 'acme-organization'])(
  'has only links that the caller can follow: %s',
  async (token) => {
    const api = await prepared();
    const statuses = await follow(api.as(token));
    expect([...statuses].filter(([, status]) => status !== 200)).toEqual([]);
    expect(statuses.size).toBeGreaterThan(20);
  },
);

it('shows the owner links to everything that a workspace has', async () => {
  const api = await prepared();
  const paths = [...(await follow(api)).keys()].map((path) => path.replace('/api/v2', ''));
  const expected = [
    '/organizations/acme',
    '/projects/prj-platform',
    '/agent-pools/apool-builders',
    '/ssh-keys/sshkey-deploy',
    '/runs/run-1',
    '/runs/run-9',
    '/configuration-versions/cv-1',
    '/configuration-versions/cv-1/ingress-attributes',
    '/workspaces/ws-full/current-state-version',
    '/state-versions/sv-1/outputs',
    '/workspaces/ws-full/current-state-version-outputs',
    '/assessment-results/asmtres-1',
    '/workspaces/ws-full/vars',
    '/workspaces/ws-full/relationships/remote-state-consumers',
    '/workspaces/ws-full/relationships/data-retention-policy',
    '/workspaces/ws-full/tag-bindings',
    '/workspaces/ws-full/effective-tag-bindings',
  ];
  expect(expected.filter((path) => !paths.includes(path))).toEqual([]);
  for (const type of ['users', 'teams', 'plans', 'applies']) {
    expect(paths.filter((path) => path.startsWith(`/${type}/`))).not.toEqual([]);
  }
});

it('shows the current state version only to callers who may read state versions', async () => {
  const api = await prepared();
  const shown = async (token: string) =>
    (await api.as(token).get('/workspaces/ws-full')).resource.relationships['current-state-version'];
  expect(await shown('level-2')).toEqual({ data: null });
  expect((await shown('level-0'))?.data).toEqual({ id: 'sv-1', type: 'state-versions' });
});
