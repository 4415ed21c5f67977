import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { load } from 'js-yaml';
import { expect, it, onTestFinished } from 'vitest';

import { Database } from '../../src/server/kernel/database.ts';
import { applySeed } from '../../src/server/seed/apply-seed.ts';
import { readSeed } from '../../src/server/seed/read-seed.ts';
import { seedSchema } from '../../src/server/seed/seed-schema.ts';
import { seedWith, serveForTest } from '../support/server/serve-for-test.ts';
import { seedProblems } from '../support/server/seed-problems.ts';

function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'trueup-seed-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'embedded.db');
}

const RICH_ACME: Parameters<typeof seedWith>[0] = {
  'data-retention-policy': { 'delete-older-than-n-days': 30 },
  workspaces: [
    {
      name: 'net',
      id: 'ws-net',
      project: 'platform',
      'resource-count': 4,
      'intermediate-state-version': 'pending',
      'state-versions': [
        { outputs: [{ name: 'url', value: 'https://x' }] },
        { serial: 7, intermediate: true },
      ],
      'configuration-versions': [{ id: 'cv-1', 'ingress-attributes': { branch: 'main' } }],
      runs: [
        { status: 'applied', 'plan-duration': 1, 'configuration-version': 'cv-1' },
        { status: 'planned' },
      ],
      vars: [{ key: 'region', value: 'eu' }],
      'assessment-results': [{ drifted: true }],
      readme: '# Network',
      'auto-destroy-status': 'errored',
      tags: ['Prod'],
      'tag-bindings': { env: 'prod' },
      'global-remote-state': true,
      'source-name': 'trueup/net',
    },
  ],
  teams: [{ name: 'devs', members: ['bob'], token: 'devs', 'workspace-access': { net: 'write' } }],
};

const RICH = seedWith(RICH_ACME);

it('gives a workspace properties that the API cannot set', async () => {
  const api = await serveForTest({ seed: RICH });
  const { resource } = await api.get('/organizations/acme/workspaces/net');
  expect(resource.id).toBe('ws-net');
  expect(resource.attributes).toMatchObject({
    'resource-count': 4,
    'global-remote-state': true,
    'source-name': 'trueup/net',
    'tag-names': ['prod'],
  });
  expect(resource.relationships['project']?.data).toEqual({ id: 'prj-platform', type: 'projects' });
  expect(resource.relationships['current-run']?.data).not.toBeNull();
  expect(resource.attributes['auto-destroy-status']).toBe('errored');
  const links = [
    'current-state-version',
    'current-configuration-version',
    'current-assessment-result',
    'readme',
  ];
  for (const link of links) expect([link, resource.relationships[link]?.data]).not.toEqual([link, null]);
  for (const link of ['outputs', 'vars']) expect(resource.relationships[link]?.data).toHaveLength(1);
  expect((await api.get('/workspaces/ws-net/state-versions')).resources).toHaveLength(3);
});

it('dates runs in the past, the last of the list as the newest, and none before its workspace was created', async () => {
  const now = () => new Date('2026-01-01T00:00:00.000Z');
  const runs = [{ status: 'errored' }, { status: 'applied' }, { status: 'planned', id: 'run-last' }];
  const api = await serveForTest({ now, seed: seedWith({ workspaces: [{ name: 'net', runs }] }) });
  const { resource, document } = await api.get('/organizations/acme/workspaces/net?include=current_run');
  const [current] = document.included ?? [];
  expect(current).toMatchObject({ id: 'run-last', attributes: { 'created-at': '2025-12-31T23:59:59.000Z' } });
  expect(resource.attributes['created-at']).toBe('2025-12-31T23:59:57.000Z');
});

it('changes no row when it is applied again', () => {
  const database = Database.open(':memory:');
  onTestFinished(() => database.close());
  const tables = database
    .all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .map(({ name }) => name);
  const contents = () =>
    tables.map((table) => {
      const rows = database.all(`SELECT * FROM ${table}`).map((row) => JSON.stringify(row));
      return [table, rows.toSorted()];
    });
  const now = new Date('2026-01-01T00:00:00Z');
  applySeed(database, readSeed(RICH), now);
  const before = contents();
  applySeed(database, readSeed(RICH), now);
  expect(contents()).toEqual(before);
});

it('keeps changes that requests made, and records that are not in the seed', async () => {
  const data = temporaryFile();
  const first = await serveForTest({ data, seed: RICH });
  await first.update('ws-net', { description: 'mine', name: 'net' });
  await first.created({ name: 'extra' });
  const second = await serveForTest({ data, seed: RICH });
  expect((await second.attributes('ws-net'))['description']).toBe('mine');
  expect((await second.get('/organizations/acme/workspaces?sort=name')).names).toEqual(['extra', 'net']);
});

it('adds the new items of an edited seed, and leaves the earlier ones unchanged', async () => {
  const data = temporaryFile();
  await serveForTest({ data, seed: RICH });
  const edited = seedWith({
    ...RICH_ACME,
    'allow-force-delete-workspaces': true,
    workspaces: [{ name: 'net', id: 'ws-net', 'resource-count': 9 }, { name: 'app' }],
    teams: [
      { name: 'devs', members: ['eve'], token: 'devs-too', 'workspace-access': { net: 'read', app: 'read' } },
    ],
  });
  const api = await serveForTest({ data, seed: edited });
  expect((await api.get('/organizations/acme/workspaces?sort=name')).names).toEqual(['app', 'net']);
  expect((await api.attributes('ws-net'))['resource-count']).toBe(4);
  expect((await api.get('/organizations/acme')).resource.attributes).not.toMatchObject({
    'allow-force-delete-workspaces': true,
  });
  for (const holder of ['bob', 'eve', 'devs', 'devs-too']) {
    const { resources } = await api.as(holder).get('/organizations/acme/workspaces?sort=name');
    expect([holder, resources.map(({ attributes }) => attributes['name'])]).toEqual([holder, ['app', 'net']]);
  }
  expect((await api.as('devs').post('/workspaces/ws-net/actions/lock', {})).status).toBe(200);
});

it('grants access to a seeded workspace that was renamed', async () => {
  const data = temporaryFile();
  const first = await serveForTest({ data, seed: RICH });
  await first.update('ws-net', { name: 'core' });
  await first.created({ name: 'net' });
  const teams = [{ name: 'guests', token: 'guests', 'workspace-access': { net: 'read' } }];
  const api = await serveForTest({ data, seed: seedWith({ ...RICH_ACME, teams }) });
  const { resources } = await api.as('guests').get('/organizations/acme/workspaces');
  expect(resources.map(({ id }) => id)).toEqual(['ws-net']);
});

it('adds nothing, and names the reason, when a new item has a name or an id that is taken', async () => {
  const data = temporaryFile();
  const first = await serveForTest({ data, seed: RICH });
  const id = await first.created({ name: 'app' });
  const start = (more: object) =>
    serveForTest({ data, seed: { organizations: [{ name: 'acme', ...more }] } });
  await expect(start({ workspaces: [{ name: 'new' }, { name: 'app' }] })).rejects.toThrow(
    `the seed's workspace "app" cannot be added to organization "acme": its name is taken by "${id}"`,
  );
  await expect(start({ workspaces: [{ name: 'other', id: 'ws-net' }, { name: 'app' }] })).rejects.toThrow(
    'the seed\'s workspace "app"',
  );
  await expect(start({ 'ssh-keys': [{ name: 'new', id: 'sshkey-theirs' }] })).rejects.toThrow(
    'the seed\'s SSH key "new" cannot be added to organization "acme": its id "sshkey-theirs" belongs to another',
  );
  await expect(start({ 'agent-pools': [{ name: 'builders', id: 'apool-2' }] })).rejects.toThrow(
    'the seed\'s agent pool "builders" cannot be added to organization "acme": its name is taken by "apool-builders"',
  );
  const runs = [{ status: 'applied', id: 'run-1' }];
  const both = [
    { name: 'one', runs },
    { name: 'two', runs },
  ];
  await expect(start({ workspaces: both })).rejects.toThrow('the seed\'s run "run-1" cannot be added');
  expect((await first.get('/organizations/acme/workspaces?sort=name')).names).toEqual(['app', 'net']);
});

it('resolves references by id when an edited seed uses other names', async () => {
  const data = temporaryFile();
  const acme = (project: string, more: object = {}) => ({
    organizations: [{ name: 'acme', projects: [{ name: project, id: 'prj-1' }], ...more }],
    users: [{ username: 'ann', token: 'ann' }],
  });
  await serveForTest({ data, seed: acme('before') });
  const workspaces = [{ name: 'net', id: 'ws-net', project: 'after' }];
  const teams = [
    { name: 'owners', members: ['ann'] },
    { name: 'guests', token: 'guests', 'project-access': { after: 'read' } },
  ];
  const api = await serveForTest({ data, seed: acme('after', { workspaces, teams }) });
  const { relationships } = (await api.get('/workspaces/ws-net')).resource;
  expect(relationships['project']?.data).toEqual({ id: 'prj-1', type: 'projects' });
  expect((await api.as('guests').get('/workspaces/ws-net')).status).toBe(200);
});

it('keeps the records of a file that has no list of its seeded items', async () => {
  const data = temporaryFile();
  const first = await serveForTest({ data, seed: RICH });
  await first.update('ws-net', { name: 'core' });
  const database = Database.open(data);
  database.run('DELETE FROM seeded_things');
  database.close();
  const api = await serveForTest({ data, seed: RICH });
  expect((await api.get('/organizations/acme/workspaces')).names).toEqual(['core']);
});

it('gives items without an id the same id in every database', async () => {
  const ids = await Promise.all(
    [1, 2].map(async () => {
      const api = await serveForTest();
      const { relationships } = (await api.create({ name: 'a' })).resource;
      return relationships['project']?.data;
    }),
  );
  expect(ids[0]).toEqual(ids[1]);
});

it('accepts a time that YAML has read as a date', () => {
  const seed = { users: [{ username: 'ann', tokens: [{ token: 't', 'expires-at': new Date(0) }] }] };
  expect(readSeed(seed).users?.[0]?.tokens?.[0]?.['expires-at']).toBe('1970-01-01T00:00:00.000Z');
});

it('reads a missing seed as an empty one', () => {
  expect(readSeed(undefined)).toEqual({});
  expect(readSeed(null)).toEqual({});
  expect(seedProblems({})).toEqual([]);
});

it.each([
  ['a list', [], ['the seed must be a map']],
  ['an unknown key', { organisations: [] }, [expect.stringContaining('organisations is not known here')]],
  ['a nameless organization', { organizations: [{}] }, ['organizations[0] lacks name']],
  [
    'a wrong type',
    { organizations: [{ name: 3 }] },
    ['organizations[0].name must be a text that is not empty'],
  ],
  [
    'a wrong mode deep inside',
    { organizations: [{ name: 'a', projects: [{ name: 'p', 'default-execution-mode': 'cloud' }] }] },
    ['organizations[0].projects[0].default-execution-mode must be one of remote, local, agent'],
  ],
  [
    'a negative count',
    { organizations: [{ name: 'a', workspaces: [{ name: 'w', 'resource-count': -1 }] }] },
    ['organizations[0].workspaces[0].resource-count must be a whole number that is not negative'],
  ],
  [
    'an invalid time',
    { users: [{ username: 'u', tokens: [{ token: 't', 'expires-at': 'tomorrow' }] }] },
    ['users[0].tokens[0].expires-at must be an ISO 8601 time'],
  ],
  [
    'days that do not exist',
    {
      users: [{ username: 'u', tokens: [{ token: 't', 'expires-at': '2026-02-30' }] }],
      'service-tokens': [{ token: 's', policies: [], 'expires-at': '2026-04-31T00:00:00Z' }],
    },
    ['users[0].tokens[0]', 'service-tokens[0]'].map((at) => `${at}.expires-at must be an ISO 8601 time`),
  ],
  [
    'an invalid workspace name',
    { organizations: [{ name: 'a', workspaces: [{ name: 'two words' }] }] },
    ['organizations[0].workspaces[0].name must be made of letters, numbers, - and _'],
  ],
  [
    'an invalid status of a run',
    { organizations: [{ name: 'a', workspaces: [{ name: 'w', runs: [{ status: 'done' }] }] }] },
    [
      expect.stringMatching(
        /^organizations\[0\]\.workspaces\[0\]\.runs\[0\]\.status must be one of pending,/,
      ),
    ],
  ],
  [
    'names and texts that are longer than requests may send',
    {
      organizations: [
        {
          name: 'o'.repeat(91),
          projects: [{ name: 'p'.repeat(91), description: 'd'.repeat(65_537) }],
          'agent-pools': [{ name: 'a'.repeat(91) }],
          'ssh-keys': [{ name: 's'.repeat(91) }],
          'oauth-tokens': [{ id: 'ot-1', name: 'c'.repeat(91) }],
          teams: [{ name: 't'.repeat(91) }],
          workspaces: [{ name: 'w', 'source-name': 's'.repeat(65_537) }],
        },
      ],
    },
    [
      'name has at most 90',
      'projects[0].name has at most 90',
      'projects[0].description has at most 65536',
      'agent-pools[0].name has at most 90',
      'ssh-keys[0].name has at most 90',
      'oauth-tokens[0].name has at most 90',
      'teams[0].name has at most 90',
      'workspaces[0].source-name has at most 65536',
    ].map((problem) => `organizations[0].${problem} characters`),
  ],
  [
    'a reserved tag key',
    { organizations: [{ name: 'a', projects: [{ name: 'p', 'tag-bindings': { 'hc:x': 'y' } }] }] },
    ['organizations[0].projects[0].tag-bindings.hc:x: Tag keys that begin with "hc:" are reserved'],
  ],
  [
    'an unknown permission',
    {
      organizations: [
        {
          name: 'a',
          workspaces: [{ name: 'w' }],
          teams: [{ name: 't', 'workspace-access': { w: ['can-fly'] } }],
        },
      ],
    },
    [
      expect.stringMatching(
        /^organizations\[0\]\.teams\[0\]\.workspace-access\.w\[0\] must be one of can-read-run/,
      ),
    ],
  ],
  [
    'a policy with an unknown capability',
    { policies: [{ name: 'p', rules: [{ path: 'auth/*', capabilities: ['write'] }] }] },
    [expect.stringContaining('policies[0].rules[0].capabilities[0] must be one of create, read')],
  ],
  [
    'releases that are not complete versions',
    { releases: ['1.12.0', '1.12', 1] },
    [1, 2].map((index) => `releases[${index}] must be a whole version, for example 1.9.8`),
  ],
])('refuses %s, and names the place', (_case, data, expected) => {
  expect(seedProblems(data)).toEqual(expected);
});

it('refuses two items with the same name or id', () => {
  const acme = {
    name: 'acme',
    workspaces: [{ name: 'a', id: 'ws-1' }, { name: 'b', id: 'ws-1' }, { name: 'a' }],
    projects: [{ name: 'a' }],
    'oauth-tokens': [
      { id: 'ot-1', name: 'git' },
      { id: 'ot-2', name: 'git' },
    ],
  };
  const rival = { name: 'rival', workspaces: [{ name: 'a' }], 'oauth-tokens': [{ id: 'ot-2' }] };
  expect(seedProblems({ organizations: [acme, rival] })).toEqual([
    'organizations[0].workspaces[1] repeats the id "ws-1"',
    'organizations[0].workspaces[2] repeats the name "a"',
    'organizations[1].oauth-tokens[0] repeats the id "ot-2"',
  ]);
});

it('refuses references to unknown items', () => {
  const data = {
    organizations: [
      {
        name: 'acme',
        'default-agent-pool': 'none',
        members: ['nobody'],
        workspaces: [
          { name: 'w', project: 'nowhere', runs: [{ status: 'applied', 'configuration-version': 'cv-1' }] },
        ],
        teams: [{ name: 'devs', 'workspace-access': { other: 'read' } }],
      },
    ],
  };
  expect(seedProblems(data)).toEqual([
    'organizations[0] names the user "nobody", who is not among users',
    'organizations[0] names the agent pool "none", which is not among its agent-pools',
    'organizations[0] names the project "nowhere", which is not among its projects',
    'organizations[0] names the configuration version "cv-1", which is not among those of the workspace "w"',
    'organizations[0] names the workspace "other", which is not among its workspaces',
  ]);
});

it('reports all problems in one message', () => {
  const read = () => readSeed({ moon: 1, organizations: [{}] });
  expect(read).toThrow(/the seed is malformed:\n {2}moon is not known.*\n {2}organizations\[0\] lacks name/);
});

it('an invalid seed is refused before the service starts', async () => {
  await expect(serveForTest({ seed: JSON.parse('{"users": [{}]}') })).rejects.toThrow(
    'users[0] lacks username',
  );
});

/** All keys that a schema names, at any depth. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) =>
    keyword === 'properties' ? [...Object.keys(value), ...keysOf(Object.values(value))] : keysOf(value),
  );
}

it('the documentation of seeds has all keys and a valid example', () => {
  const page = readFileSync(new URL('../../docs/guides/embedded-service.md', import.meta.url), 'utf8');
  const keys = keysOf(JSON.parse(JSON.stringify(seedSchema)));
  expect(keys.length).toBeGreaterThan(50);
  const section = /### Keys of a seed\n([\s\S]*?)\n### /.exec(page)?.[1] ?? '';
  const named = new Set(
    [...section.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => code.split(/[^\w-]+/)),
  );
  expect(keys.filter((key) => !named.has(key))).toEqual([]);
  const example = /```yaml\n(users:[^`]*)```/.exec(page)?.[1] ?? '';
  expect(seedProblems(load(example))).toEqual([]);
  expect(load(example)).toHaveProperty('organizations');
});
