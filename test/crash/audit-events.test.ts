/**
 * No event without its change, and no change without its event: the service is killed before each statement of the
 * transaction of one update, before its end and just after it, and started again with the database that it left.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { startServer } from '../../src/server/start-server.ts';
import { serveProcess } from '../support/cli/process.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';
import { trailOf } from '../support/server/audit-trails/read-trail.ts';
import { bindings, TestClient } from '../support/server/serve-for-test.ts';
import { preload } from '../support/simulation/preload.ts';

const killer = preload('kill-at-statement');

const SEED = `
organizations:
  - { name: acme, token: acme-organization, teams: [{ name: owners, token: owner }], workspaces: [{ name: a, id: ws-a }] }
`;
const MARKED = 'the change';

/** Whether the update was answered, and whether the change and its event exist after a restart. */
async function updateKilledAt(statement: number): Promise<Record<'answered' | 'changed' | 'told', boolean>> {
  const cwd = temporaryFolder();
  await writeFile(join(cwd, 'seed.yaml'), SEED);
  const args = ['--data', 'service.db', '--seed', 'seed.yaml'];
  const env = {
    NODE_OPTIONS: `--import ${killer}`,
    NODE_NO_WARNINGS: '1',
    KILL_AT_STATEMENT: String(statement),
    KILL_AT_DESCRIPTION: MARKED,
  };
  const killed = await serveProcess(args, { cwd, env });
  const update = new TestClient(killed.url, 'owner').update(
    'ws-a',
    { description: MARKED },
    bindings({ by: 'request' }),
  );
  const answered = await update.then(
    ({ status }) => status === 200,
    () => false,
  );
  await killed.stop('SIGKILL');
  const again = await startServer({ data: join(cwd, 'service.db'), relaxed: true });
  const api = new TestClient(again.url, 'owner');
  const changed = (await api.attributes('ws-a'))['description'] === MARKED;
  const trail = await trailOf(api);
  expect(trail.map(({ resource }) => `${resource.id} ${resource.action}`)).toEqual(
    trail.length === 0 ? [] : ['ws-a update'],
  );
  await again.close();
  return { answered, changed, told: trail.length > 0 };
}

it('adds an event to the trail if and only if the update was made, wherever it is killed', async () => {
  const met: string[] = [];
  for (let statement = 0; statement < 20; statement += 1) {
    const { answered, changed, told } = await updateKilledAt(statement);
    expect([statement, told]).toEqual([statement, changed]);
    met.push(`${answered ? 'answered' : 'killed'}, ${changed ? 'made' : 'not made'}`);
    if (answered) break;
  }
  expect(new Set(met)).toEqual(new Set(['killed, not made', 'killed, made', 'answered, made']));
}, 300_000);
