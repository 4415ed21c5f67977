/**
 * `trueup serve` under a load of writes, killed with SIGKILL again and again on one data file: after each restart, every answered
 * write is stored, and every other one completely or not at all. The audit trail has exactly the events of the stored writes.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { expect, it } from 'vitest';

import { temporaryFolder } from '../support/rig/temporary-folder.ts';
import { serveProcess } from '../support/cli/process.ts';
import { readTrail, type TrailEvent } from '../support/server/audit-trails/read-trail.ts';
import { bindings, TestClient } from '../support/server/serve-for-test.ts';

const SEED =
  'organizations: [{ name: acme, token: acme-organization, teams: [{ name: owners, token: owner }] }]\n';

/** After how many answered writes each of the servers is killed. */
const KILLED_AFTER = [1, 2, 5, 13, 34, 89, 233, 377];

const WRITERS = 8;

/** What a writer knows of one workspace: the last version that was answered, and the last one that was sent. */
interface Known {
  readonly name: string;
  id?: string;
  answered: number;
  asked: number;
  isDeleted: 'no' | 'asked' | 'answered';
}

/** Writes one workspace after the other until the server is gone: creates it, updates it twice, deletes every third. */
async function writeUntilGone(api: TestClient, names: () => string, answered: () => void): Promise<Known[]> {
  const all: Known[] = [];
  try {
    for (;;) {
      const known: Known = { name: names(), answered: 0, asked: 1, isDeleted: 'no' };
      all.push(known);
      known.id = await api.created(versionOf(1, known.name), bindings({ version: '1' }));
      known.answered = 1;
      answered();
      for (const version of [2, 3]) {
        known.asked = version;
        const { status } = await api.update(
          known.id,
          versionOf(version),
          bindings({ version: String(version) }),
        );
        if (status !== 200) throw new Error(`the update answered ${status}`);
        known.answered = version;
        answered();
      }
      if (all.length % 3 !== 0) continue;
      known.isDeleted = 'asked';
      const { status } = await api.delete(`/workspaces/${known.id}`);
      if (status !== 204) throw new Error(`the delete answered ${status}`);
      known.isDeleted = 'answered';
      answered();
    }
  } catch (error) {
    // fetch throws a TypeError when the connection ends; any other error is a wrong answer
    if (!(error instanceof TypeError)) throw error;
    return all;
  }
}

/** A request writes the version in two places, so that a partly stored request would be found. */
function versionOf(version: number, name?: string): Record<string, string> {
  return { ...(name === undefined ? {} : { name }), description: `version ${version}` };
}

async function check(api: TestClient, known: Known): Promise<void> {
  const shown = await api.get(`/organizations/acme/workspaces/${known.name}`);
  if (known.isDeleted === 'answered') return expect(shown.status, known.name).toBe(404);
  if (shown.status === 404) {
    const mayBeGone = known.answered === 0 || known.isDeleted === 'asked';
    return expect(mayBeGone, `${known.name} is gone`).toBe(true);
  }
  const { id, attributes } = shown.resource;
  const [binding] = (await api.get(`/workspaces/${id}/tag-bindings`)).resources;
  const version = Number(binding?.attributes['value']);
  expect(attributes['description'], known.name).toBe(`version ${version}`);
  expect([known.answered, known.asked], known.name).toContain(version);
  return undefined;
}

/** By workspace: the recorded actions, in the order of the trail. */
async function recordedActions(api: TestClient): Promise<Map<string, string[]>> {
  const events: TrailEvent[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const { data, pagination } = await readTrail(api, `?page[number]=${page}`);
    events.push(...data);
    page = pagination['next_page'] ?? null;
  }
  const byId = Map.groupBy(events, ({ resource }) => resource.id);
  return new Map([...byId].map(([id, of]) => [id, of.map(({ resource }) => resource.action)]));
}

/** Each version of a workspace was one request, and so it is one event. */
async function checkTrail(api: TestClient, all: readonly Known[]): Promise<void> {
  const recorded = await recordedActions(api);
  const expected = new Map<string, string[]>();
  for (const { name, id } of all) {
    const shown = await api.get(`/organizations/acme/workspaces/${name}`);
    if (shown.status === 404) {
      if (id !== undefined) expected.set(id, ['create', 'update', 'update', 'destroy']);
      continue;
    }
    const version = Number(String(shown.resource.attributes['description']).replace('version ', ''));
    expected.set(shown.resource.id, ['create', ...Array.from({ length: version - 1 }, () => 'update')]);
  }
  const sorted = (of: Map<string, string[]>) => [...of].toSorted(([a], [b]) => a.localeCompare(b));
  expect(sorted(recorded)).toEqual(sorted(expected));
}

it.each([
  ['with the default options', []],
  ['with relaxed writes', ['--relaxed-writes']],
])(
  'loses no answered write when it is killed at any time, %s',
  async (_how, more) => {
    const cwd = temporaryFolder();
    await writeFile(join(cwd, 'seed.yaml'), SEED);
    const args = ['--data', 'service.db', '--seed', 'seed.yaml', ...more];
    const all: Known[] = [];
    let made = 0;
    for (const last of KILLED_AFTER) {
      const serving = await serveProcess(args, { cwd, durable: true });
      const api = new TestClient(serving.url, 'owner');
      for (const known of all) await check(api, known);
      let answers = 0;
      let killed: Promise<unknown> | undefined;
      const count = (): void => {
        answers += 1;
        if (answers >= last) killed ??= serving.stop('SIGKILL');
      };
      const writers = Array.from({ length: WRITERS }, () => writeUntilGone(api, () => `w-${made++}`, count));
      all.push(...(await Promise.all(writers)).flat());
      await killed;
      expect(answers).toBeGreaterThanOrEqual(last);
    }
    const serving = await serveProcess(args, { cwd, durable: true });
    const api = new TestClient(serving.url, 'owner');
    for (const known of all) await check(api, known);
    await checkTrail(api, all);
    await serving.stop();
    const database = new DatabaseSync(join(cwd, 'service.db'), { readOnly: true });
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    expect(database.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
    database.close();
  },
  300_000,
);
