import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { Database } from '../../src/server/database.ts';
import { applySeed } from '../../src/server/seed/apply-seed.ts';
import { readSeed } from '../../src/server/seed/read-seed.ts';
import { SeedError } from '../../src/server/seed/seed-reader.ts';
import { SEED, seedWith, serveForTest } from './serve-for-test.ts';

/** The lines of a refused seed; none when it is fine. */
function problems(data: unknown): readonly string[] {
  try {
    readSeed(data);
    return [];
  } catch (error) {
    if (error instanceof SeedError) return error.problems;
    throw error;
  }
}

const RICH = seedWith({
  'data-retention-policy': { 'delete-older-than-n-days': 30 },
  workspaces: [
    {
      name: 'net',
      id: 'ws-net',
      project: 'platform',
      'resource-count': 4,
      'intermediate-state-version': 'pending',
      runs: [{ status: 'applied', 'plan-duration': 1 }, { status: 'planned' }],
      tags: ['Prod'],
      'tag-bindings': { env: 'prod' },
      'global-remote-state': true,
      'source-name': 'trueup/net',
    },
  ],
  teams: [{ name: 'devs', members: ['bob'], token: 'devs', 'workspace-access': { net: 'write' } }],
});

it('gives a workspace what the API cannot make', async () => {
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
});

it('dates runs in the past, the last of the list as the newest, and none before its workspace', async () => {
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
  const contents = () => tables.map((table) => [table, database.all(`SELECT * FROM ${table} ORDER BY 1, 2`)]);
  const now = new Date('2026-01-01T00:00:00Z');
  applySeed(database, readSeed(RICH), now);
  const before = contents();
  applySeed(database, readSeed(RICH), now);
  expect(contents()).toEqual(before);
});

it('keeps what requests have changed and the seed does not mention', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'trueup-seed-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const data = join(directory, 'embedded.db');
  const first = await serveForTest({ data, seed: RICH });
  await first.update('ws-net', { description: 'mine', name: 'net' });
  await first.created({ name: 'extra' });
  const second = await serveForTest({ data, seed: RICH });
  expect((await second.attributes('ws-net'))['description']).toBe('mine');
  expect((await second.get('/organizations/acme/workspaces?sort=name')).names).toEqual(['extra', 'net']);
});

it('corrects settings of an organization that an earlier seed made', async () => {
  const database = Database.open(':memory:');
  onTestFinished(() => database.close());
  applySeed(database, readSeed(SEED), new Date());
  applySeed(database, readSeed(seedWith({ 'allow-force-delete-workspaces': true })), new Date());
  const rows = database.all(
    "SELECT allow_force_delete_workspaces AS allowed FROM organizations WHERE name = 'acme'",
  );
  expect(rows).toEqual([{ allowed: 1 }]);
});

it('gives things without an id the same id in every database', async () => {
  const ids = await Promise.all(
    [1, 2].map(async () => {
      const api = await serveForTest();
      const { relationships } = (await api.create({ name: 'a' })).resource;
      return relationships['project']?.data;
    }),
  );
  expect(ids[0]).toEqual(ids[1]);
});

it('seeds nothing from nothing', () => {
  expect(readSeed(undefined)).toEqual({});
  expect(readSeed(null)).toEqual({});
  expect(problems({})).toEqual([]);
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
    'an impossible workspace name',
    { organizations: [{ name: 'a', workspaces: [{ name: 'two words' }] }] },
    ['organizations[0].workspaces[0].name must be made of letters, numbers, - and _'],
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
])('refuses %s, naming the place', (_case, data, expected) => {
  expect(problems(data)).toEqual(expected);
});

it('refuses references to what the seed does not make', () => {
  const data = {
    organizations: [
      {
        name: 'acme',
        'default-agent-pool': 'none',
        members: ['nobody'],
        workspaces: [{ name: 'w', project: 'nowhere' }],
        teams: [{ name: 'devs', 'workspace-access': { other: 'read' } }],
      },
    ],
  };
  expect(problems(data)).toEqual([
    'organizations[0] names the user "nobody", who is not among users',
    'organizations[0] names the agent pool "none", which is not among its agent-pools',
    'organizations[0] names the project "nowhere", which is not among its projects',
    'organizations[0] names the workspace "other", which is not among its workspaces',
  ]);
});

it('tells all problems in one message', () => {
  const read = () => readSeed({ moon: 1, organizations: [{}] });
  expect(read).toThrow(/the seed is malformed:\n {2}moon is not known.*\n {2}organizations\[0\] lacks name/);
});

it('is refused before anything starts', async () => {
  await expect(serveForTest({ seed: JSON.parse('{"users": [{}]}') })).rejects.toThrow(
    'users[0] lacks username',
  );
});

it('keeps the keys of its type and of its checks the same', () => {
  const type = readFileSync(new URL('../../src/server/seed/seed.ts', import.meta.url), 'utf8');
  const checks = readFileSync(new URL('../../src/server/seed/read-seed.ts', import.meta.url), 'utf8');
  const keys = [...type.matchAll(/^ {2}readonly '?([a-z-]+)'?\??:/gm)].map((match) => match[1] ?? '');
  expect(keys.length).toBeGreaterThan(50);
  const missing = keys.filter((key) => !new RegExp(`'?\\b${key}'?:`).test(checks));
  expect(missing).toEqual([]);
});
