/** Events that a repository sends to the webhook of a workspace, and the runs that they start. */
import { expect, it } from 'vitest';

import { trailOf } from '../../support/server/audit-trails/read-trail.ts';
import { serveForTest, type TestClient } from '../../support/server/serve-for-test.ts';

const REPOSITORY = { full_name: 'acme/net', default_branch: 'main' };

interface Watched {
  readonly api: TestClient;
  readonly id: string;
  /** Sends an event, and returns the `reason` of the answer: null if the event started a run. */
  send(kind: string, body: object): Promise<string | null>;
  runs(): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

async function watch(attributes: object = {}, repo: object = {}): Promise<Watched> {
  const api = await serveForTest({ dialects: ['hcp-terraform'] });
  const made = await api.create({
    name: 'net',
    'queue-all-runs': true,
    'vcs-repo': { identifier: 'acme/net', 'oauth-token-id': 'ot-git', ...repo },
    ...attributes,
  });
  if (made.status !== 201) throw new Error(made.text);
  const { id } = made.resource;
  const url = String((made.resource.attributes['vcs-repo'] as Record<string, unknown>)['webhook-url']);
  const list = async () => (await api.get(`/workspaces/${id}/runs`)).resources;
  const first = (await list()).map((run) => run.id);
  return {
    api,
    id,
    send: async (kind, body) => {
      const headers = { 'content-type': 'application/json', 'x-github-event': kind };
      const sent = { repository: REPOSITORY, sender: { login: 'ann' }, ...body };
      const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(sent) });
      expect(answer.status).toBe(202);
      return ((await answer.json()) as { reason?: string }).reason ?? null;
    },
    runs: async () => (await list()).filter((run) => !first.includes(run.id)).map((run) => run.attributes),
  };
}

function push(name: string, ...files: string[]) {
  return {
    ref: name.includes('/') ? name : `refs/heads/${name}`,
    after: 'c0ffee',
    head_commit: { message: 'a change', url: 'https://git.example.com/acme/net/commit/c0ffee' },
    commits: [{ added: files, modified: [], removed: [] }],
  };
}

const pullRequest = {
  action: 'opened',
  number: 7,
  pull_request: { title: 'a proposal', head: { ref: 'topic', sha: 'beef' }, base: { ref: 'main' } },
};

it('starts a run for a push, with the commit that was pushed', async () => {
  const { api, id, send, runs } = await watch();
  expect(await send('push', push('main', 'main.tf'))).toBeNull();
  expect(await runs()).toMatchObject([
    { status: 'errored', 'plan-only': false, message: 'a change', source: 'tfe-configuration-version' },
  ]);
  const include = 'include=current_run.configuration_version.ingress_attributes';
  const { included = [] } = (await api.get(`/workspaces/${id}?${include}`)).document;
  expect(included.find(({ type }) => type === 'ingress-attributes')?.attributes).toMatchObject({
    branch: 'main',
    'commit-sha': 'c0ffee',
    'commit-message': 'a change',
    identifier: 'acme/net',
    'sender-username': 'ann',
    'is-pull-request': false,
  });
  const events = (await trailOf(api)).map(({ resource }) => `${resource.type} ${resource.action}`);
  expect(events.slice(-2)).toEqual(['configuration_version create', 'run create']);
});

it('starts a speculative run for a pull request, also if no run was queued before', async () => {
  const { api, id, send, runs } = await watch({ 'queue-all-runs': false });
  expect(await send('pull_request', pullRequest)).toBeNull();
  expect(await runs()).toMatchObject([{ status: 'errored', 'plan-only': true, message: 'a proposal' }]);
  const [configuration] = (await api.get(`/workspaces/${id}/configuration-versions`)).resources;
  expect(configuration?.attributes).toMatchObject({ speculative: true, status: 'uploaded' });
});

it.each([
  ['a pull request for another branch', { ...pullRequest, pull_request: { base: { ref: 'old' } } }, {}],
  ['a closed pull request', { ...pullRequest, action: 'closed' }, {}],
  ['a pull request while speculative plans are disabled', pullRequest, { 'speculative-enabled': false }],
])('starts no run for %s', async (_case, body, attributes) => {
  const { send, runs } = await watch(attributes);
  expect(await send('pull_request', body)).toEqual(expect.any(String));
  expect(await runs()).toEqual([]);
});

it.each([
  ['v1.2.3', 1],
  ['nightly', 0],
])('starts a run for a tag that the expression matches: %s (%i)', async (tag, count) => {
  const { send, runs } = await watch({}, { 'tags-regex': '^v\\d+' });
  await send('push', push(`refs/tags/${tag}`));
  expect(await send('push', push('main', 'main.tf'))).toBe('the workspace follows tags');
  expect(await runs()).toHaveLength(count);
});

it('starts no run for a tag if no expression is set', async () => {
  const { send } = await watch();
  expect(await send('push', push('refs/tags/v1'))).toBe('the tag does not match');
});

it.each([
  ['trigger-prefixes', { 'trigger-prefixes': ['/modules/', 'shared'] }, 'modules/a/main.tf', 1],
  ['trigger-prefixes', { 'trigger-prefixes': ['/modules/', 'shared'] }, 'modules-old/main.tf', 0],
  ['the working directory', { 'working-directory': 'env/prod' }, 'env/prod/main.tf', 1],
  ['the working directory', { 'working-directory': 'env/prod' }, 'env/test/main.tf', 0],
  ['trigger-patterns', { 'trigger-patterns': ['/**/net/*.tf'] }, 'a/b/net/main.tf', 1],
  ['trigger-patterns', { 'trigger-patterns': ['/net/*'] }, 'net/a/main.tf', 0],
  ['no file triggers', { 'working-directory': 'a', 'file-triggers-enabled': false }, 'b/main.tf', 1],
  ['no setting', {}, 'any/file', 1],
])('starts a run for changed files that match %s: %j, %s (%i)', async (_what, attributes, file, count) => {
  const { send, runs } = await watch(attributes);
  await send('push', push('main', file));
  expect(await runs()).toHaveLength(count);
});

it('a workspace follows one branch: the configured one, or the default one', async () => {
  const named = await watch({}, { branch: 'release' });
  expect(await named.send('push', push('main', 'a'))).toBe('the workspace follows the branch release');
  expect(await named.send('push', push('release', 'a'))).toBeNull();
  const byDefault = await watch();
  expect(await byDefault.send('push', push('topic', 'a'))).toBe('the workspace follows the branch main');
  expect(await byDefault.send('push', { ...push('main', 'a'), deleted: true })).not.toBeNull();
});

it('starts no run before one was queued if queue-all-runs is false', async () => {
  const { api, id, send, runs } = await watch({ 'queue-all-runs': false });
  expect(await send('push', push('main', 'a'))).toContain('queue-all-runs');
  const workspace = { data: { type: 'workspaces', id } };
  await api.post('/runs', { data: { type: 'runs', attributes: {}, relationships: { workspace } } });
  expect(await send('push', push('main', 'a'))).toBeNull();
  expect(await runs()).toHaveLength(2);
});

it('starts no run for other events or repositories, or in a workspace with local execution', async () => {
  const { api, id, send, runs } = await watch();
  expect(await send('ping', { zen: 'less' })).not.toBeNull();
  expect(await send('push', { ...push('main', 'a'), repository: { full_name: 'acme/else' } })).toContain(
    'acme/else',
  );
  await api.update(id, { 'execution-mode': 'local' });
  expect(await send('push', push('main', 'a'))).toBe('the execution mode of the workspace is local');
  expect(await runs()).toEqual([]);
});

it('a webhook has a secret URL, which is shown only to callers who may queue runs', async () => {
  const { api, id } = await watch();
  const shown = async (token: string) => {
    const { attributes } = (await api.as(token).get(`/workspaces/${id}`)).resource;
    return String((attributes['vcs-repo'] as Record<string, unknown>)['webhook-url']);
  };
  const short = `${api.url}/webhooks/vcs/${id}`;
  expect([await shown('readers'), (await shown('ann')).startsWith(`${short}/`)]).toEqual([short, true]);
  const other = (await shown('ann')).replace(id, 'ws-other');
  for (const url of [short, `${short}/x`, other]) {
    const headers = { 'content-type': 'application/json', 'x-github-event': 'push' };
    expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(404);
  }
});

it('also starts runs in neutral, where they wait for earlier runs', async () => {
  const api = await serveForTest();
  const { resource } = await api.create({
    name: 'net',
    'queue-all-runs': true,
    'vcs-repo': { identifier: 'acme/net', 'oauth-token-id': 'ot-git' },
  });
  await api.post('/runs', {
    data: { type: 'runs', relationships: { workspace: { data: { type: 'workspaces', id: resource.id } } } },
  });
  const url = String((resource.attributes['vcs-repo'] as Record<string, unknown>)['webhook-url']);
  const headers = { 'content-type': 'application/json', 'x-github-event': 'push' };
  await fetch(url, { method: 'POST', headers, body: JSON.stringify(push('main', 'a')) });
  const runs = (await api.get(`/workspaces/${resource.id}/runs`)).resources;
  expect(runs.map(({ attributes }) => attributes['status'])).toEqual(['pending', 'planned']);
});

it('records when a workspace gets a repository, and when it gets another one', async () => {
  const { api, id } = await watch();
  const created = async () =>
    (await trailOf(api)).filter(({ resource }) => resource.type === 'vcs_repo').length;
  expect(await created()).toBe(1);
  await api.update(id, { 'vcs-repo': { branch: 'release' } });
  expect(await created()).toBe(1);
  await api.update(id, { 'vcs-repo': null });
  await api.update(id, { 'vcs-repo': { identifier: 'acme/else', 'oauth-token-id': 'ot-git' } });
  expect(await created()).toBe(2);
  expect((await trailOf(api)).at(-1)?.resource).toMatchObject({ action: 'create', meta: null });
});
