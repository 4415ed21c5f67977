import { expect, it } from 'vitest';

import { serveForTest } from '../../../support/server/serve-for-test.ts';

const REPO = { identifier: 'acme/network', 'oauth-token-id': 'ot-git' };

it('shows the repository with all attributes that depend on it', async () => {
  const api = await serveForTest();
  const { resource } = await api.create({ name: 'a', 'vcs-repo': { ...REPO, branch: 'main' } });
  expect(resource.attributes['vcs-repo']).toEqual({
    branch: 'main',
    'display-identifier': 'acme/network',
    identifier: 'acme/network',
    'ingress-submodules': false,
    'oauth-token-id': 'ot-git',
    'repository-http-url': 'https://git.example.com/acme/network',
    'service-provider': 'github',
    'tags-regex': null,
    'webhook-url': expect.stringMatching(`^${api.url}/webhooks/vcs/${resource.id}/[A-Za-z0-9_-]{43}$`),
  });
  expect(resource.attributes['vcs-repo-identifier']).toBe('acme/network');
  expect(resource.attributes['oauth-client-name']).toBe('git');
});

it.each([
  ['no token', { identifier: 'acme/network' }, 'oauth-token-id'],
  ['no identifier', { 'oauth-token-id': 'ot-git' }, 'identifier'],
  ['an identifier without owner', { ...REPO, identifier: 'network' }, 'identifier'],
  ['an identifier with spaces', { ...REPO, identifier: 'acme/the network' }, 'identifier'],
  ['a token of another organization', { ...REPO, 'oauth-token-id': 'ot-theirs' }, 'oauth-token-id'],
  [
    'an app installation on create',
    { identifier: 'acme/network', 'vcs-app-installation-id': 'ghain-app' },
    'vcs-app-installation-id',
  ],
  ['both connections', { ...REPO, 'vcs-app-installation-id': 'ghain-app' }, 'vcs-app-installation-id'],
])('refuses a repository with %s', async (_case, repo, name) => {
  const api = await serveForTest();
  const answer = await api.create({ name: 'a', 'vcs-repo': repo });
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual([`/data/attributes/vcs-repo/${name}`]);
});

it('accepts the provider-specific form with _git', async () => {
  const api = await serveForTest();
  const repo = { ...REPO, identifier: 'acme/platform/_git/network' };
  expect((await api.create({ name: 'a', 'vcs-repo': repo })).status).toBe(201);
});

it.each(['oauth-token-id', 'vcs-app-installation-id'])('answers 400 to an empty %s alone', async (name) => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', 'vcs-repo': REPO });
  const answer = await api.update(id, { 'vcs-repo': { [name]: '' } });
  expect(answer.status).toBe(400);
  expect(answer.errors[0]?.detail).toBe(`invalid ${name.replaceAll('-', '_')}`);
});

it('reads an empty connection beside the other one as absent, as clients send it', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', 'vcs-repo': REPO });
  const kept = await api.update(id, { 'vcs-repo': { ...REPO, 'vcs-app-installation-id': '' } });
  expect([kept.status, kept.resource.attributes['vcs-repo']]).toMatchObject([200, REPO]);
  const moved = { 'oauth-token-id': '', 'vcs-app-installation-id': 'ghain-app' };
  const app = await api.update(id, { 'vcs-repo': moved });
  expect(app.resource.attributes['vcs-repo']).toMatchObject({
    'oauth-token-id': null,
    'vcs-app-installation-id': 'ghain-app',
  });
});

it('changes only the keys that an update lists', async () => {
  const api = await serveForTest();
  const id = await api.created({
    name: 'a',
    'vcs-repo': { ...REPO, branch: 'main', 'ingress-submodules': true },
  });
  const { resource } = await api.update(id, { 'vcs-repo': { branch: 'release' } });
  expect(resource.attributes['vcs-repo']).toMatchObject({
    ...REPO,
    branch: 'release',
    'ingress-submodules': true,
  });
});

it('distinguishes null, absent and empty', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', 'vcs-repo': REPO });
  expect((await api.update(id, { description: 'x' })).resource.attributes['vcs-repo']).toMatchObject(REPO);
  expect((await api.update(id, { 'vcs-repo': {} })).resource.attributes['vcs-repo']).toMatchObject(REPO);
  expect((await api.attributes(id))['vcs-repo']).toMatchObject({ 'tags-regex': null });
  const tagged = { ...REPO, 'tags-regex': '^v' };
  await api.update(id, { 'vcs-repo': tagged });
  const kept = await api.update(id, { 'vcs-repo': { branch: 'main' } });
  expect(kept.resource.attributes['vcs-repo']).toMatchObject({ ...tagged, branch: 'main' });
  const removed = await api.update(id, { 'vcs-repo': null });
  expect(removed.resource.attributes).toMatchObject({ 'vcs-repo': null, 'vcs-repo-identifier': null });
});

it('requires identifier and connection when an update adds a repository', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a' });
  const answer = await api.update(id, { 'vcs-repo': { branch: 'main' } });
  expect(answer.pointers).toEqual([
    '/data/attributes/vcs-repo/identifier',
    '/data/attributes/vcs-repo/oauth-token-id',
  ]);
  expect((await api.update(id, { 'vcs-repo': REPO })).status).toBe(200);
});

it.each(['', null])('reads the branch %j as the default branch', async (branch) => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', 'vcs-repo': { ...REPO, branch: 'main' } });
  const { resource } = await api.update(id, { 'vcs-repo': { branch } });
  expect(resource.attributes['vcs-repo']).toMatchObject({ branch: '' });
});

it('replaces the OAuth token with an app installation and back, and shows the current one', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', 'vcs-repo': REPO });
  const app = await api.update(id, { 'vcs-repo': { 'vcs-app-installation-id': 'ghain-app' } });
  expect(app.resource.attributes['vcs-repo']).toMatchObject({
    'oauth-token-id': null,
    'vcs-app-installation-id': 'ghain-app',
    'service-provider': 'github',
  });
  const back = await api.update(id, { 'vcs-repo': { 'oauth-token-id': 'ot-other' } });
  expect(back.resource.attributes['vcs-repo']).not.toHaveProperty('vcs-app-installation-id');
  expect(back.resource.attributes['vcs-repo']).toMatchObject({ 'oauth-token-id': 'ot-other' });
});

it('refuses an unknown app installation, and both connections in one update', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', 'vcs-repo': REPO });
  const pointers = ['/data/attributes/vcs-repo/vcs-app-installation-id'];
  const unknown = await api.update(id, { 'vcs-repo': { 'vcs-app-installation-id': 'ghain-none' } });
  expect(unknown.pointers).toEqual(pointers);
  const both = await api.update(id, {
    'vcs-repo': { 'vcs-app-installation-id': 'ghain-app', 'oauth-token-id': 'ot-git' },
  });
  expect(both.pointers).toEqual(pointers);
});

const PREFIXES = { 'trigger-prefixes': ['/modules'] };
const PATTERNS = { 'trigger-patterns': ['/**/*.tf'] };
const REGEX = { 'vcs-repo': { ...REPO, 'tags-regex': '^v\\d+' } };

it.each([
  ['prefixes and patterns', { ...PREFIXES, ...PATTERNS }],
  ['patterns and a tag expression', { ...PATTERNS, ...REGEX }],
  ['prefixes and a tag expression', { ...PREFIXES, ...REGEX }],
  ['file triggers and a tag expression', { ...REGEX, 'file-triggers-enabled': true }],
])('refuses %s in one request', async (_case, attributes) => {
  const api = await serveForTest();
  expect((await api.create({ name: 'a', ...attributes })).status).toBe(422);
});

it.each(['[', '(', '*', 'v(\\d+', '(?<1>x)'])('refuses the tag expression "%s"', async (expression) => {
  const api = await serveForTest();
  const broken = { ...REPO, 'tags-regex': expression };
  const answer = await api.create({ name: 'a', 'vcs-repo': broken });
  expect(answer.status).toBe(422);
  expect(answer.pointers).toEqual(['/data/attributes/vcs-repo/tags-regex']);
  const id = await api.created({ name: 'a', 'vcs-repo': REPO });
  expect((await api.update(id, { 'vcs-repo': { 'tags-regex': expression } })).status).toBe(422);
});

it.each(['^v\\d+\\.\\d+$', '(?i)^release-', '(?P<major>\\d+)', '\\Av\\d+\\z'])(
  'accepts the tag expression "%s", in any language of regular expressions',
  async (expression) => {
    const api = await serveForTest();
    const id = await api.created({ name: 'a', 'vcs-repo': { ...REPO, 'tags-regex': expression } });
    expect((await api.attributes(id))['vcs-repo']).toMatchObject({ 'tags-regex': expression });
  },
);

it.each(['trigger-prefixes', 'trigger-patterns'])(
  'accepts %s of 1,000 entries of 4,096 characters, and refuses more and longer ones',
  async (name) => {
    const api = await serveForTest();
    const most = Array.from({ length: 1000 }, (_, index) => `/${index}`);
    const longest = '/'.padEnd(4096, 'x');
    const id = await api.created({ name: 'a', [name]: [...most.slice(1), longest] });
    const refused = [
      await api.update(id, { [name]: [...most, '/more'] }),
      await api.update(id, { [name]: [`${longest}x`] }),
      await api.create({ name: 'b', [name]: [`${longest}x`] }),
    ];
    for (const answer of refused)
      expect([answer.status, answer.pointers]).toEqual([422, [`/data/attributes/${name}`]]);
    expect((await api.attributes(id))[name]).toEqual([...most.slice(1), longest]);
  },
);

it('accepts an empty list beside a populated one', async () => {
  const api = await serveForTest();
  const answer = await api.create({ name: 'a', ...PREFIXES, 'trigger-patterns': [] });
  expect(answer.resource.attributes).toMatchObject({ ...PREFIXES, 'trigger-patterns': [] });
});

it('clears the other kind of trigger when one is set', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', ...PREFIXES, 'vcs-repo': REPO });
  expect((await api.update(id, PATTERNS)).resource.attributes).toMatchObject({
    'trigger-prefixes': [],
    ...PATTERNS,
  });
  expect((await api.update(id, PREFIXES)).resource.attributes).toMatchObject({
    ...PREFIXES,
    'trigger-patterns': [],
  });
  const tagged = await api.update(id, { 'vcs-repo': { 'tags-regex': '^v' } });
  expect(tagged.resource.attributes).toMatchObject({
    'trigger-prefixes': [],
    'file-triggers-enabled': false,
    'vcs-repo': { 'tags-regex': '^v' },
  });
  const patterned = await api.update(id, PATTERNS);
  expect(patterned.resource.attributes).toMatchObject({ ...PATTERNS, 'vcs-repo': { 'tags-regex': null } });
});

it.each([
  ['trigger-prefixes', PATTERNS],
  ['trigger-patterns', PREFIXES],
])('clears the other list when %s is sent empty, and keeps a tag expression', async (empty, other) => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', ...other });
  expect((await api.update(id, { [empty]: [] })).resource.attributes).toMatchObject({
    'trigger-prefixes': [],
    'trigger-patterns': [],
  });
  const tagged = await api.created({ name: 'b', ...REGEX });
  expect((await api.update(tagged, { [empty]: [] })).resource.attributes['vcs-repo']).toMatchObject(
    REGEX['vcs-repo'],
  );
});

it('refuses patterns with disabled file triggers in the dialect hcp-terraform, but not in neutral', async () => {
  const idle = { ...PATTERNS, 'file-triggers-enabled': false };
  const pointers = ['/data/attributes/trigger-patterns'];
  const api = await serveForTest({ dialects: ['hcp-terraform'] });
  expect((await api.create({ name: 'a', ...idle })).pointers).toEqual(pointers);
  const id = await api.created({ name: 'a' });
  expect((await api.update(id, idle)).pointers).toEqual(pointers);
  expect((await api.update(id, { ...idle, 'trigger-patterns': [] })).status).toBe(200);
  const neutral = await serveForTest();
  expect((await neutral.create({ name: 'a', ...idle })).status).toBe(201);
});

it('empties a trigger list with [] and with null', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', ...PREFIXES });
  expect((await api.update(id, { 'trigger-prefixes': [] })).resource.attributes['trigger-prefixes']).toEqual(
    [],
  );
  await api.update(id, PREFIXES);
  expect(
    (await api.update(id, { 'trigger-prefixes': null })).resource.attributes['trigger-prefixes'],
  ).toEqual([]);
});

it('refuses to turn file triggers on while a tag expression is set', async () => {
  const api = await serveForTest();
  const id = await api.created({ name: 'a', ...REGEX });
  expect((await api.attributes(id))['file-triggers-enabled']).toBe(false);
  const refused = await api.update(id, { 'file-triggers-enabled': true });
  expect(refused.pointers).toEqual(['/data/attributes/file-triggers-enabled']);
  const both = await api.update(id, { 'file-triggers-enabled': true, 'vcs-repo': { 'tags-regex': null } });
  expect(both.resource.attributes['file-triggers-enabled']).toBe(true);
});
