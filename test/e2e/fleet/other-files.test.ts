// Workers whose fleet files differ, and repositories whose code host does not answer: the other stacks are checked as ever.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTrueup } from '../../support/cli/process.ts';
import { openFleet } from '../../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { listenForTest } from '../../support/rig/listen.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const bin = findPostgres();
let started: PostgresServer | undefined;
beforeAll(() => {
  if (bin !== undefined) started = startPostgres(bin);
});
afterAll(() => started?.stop());

function server(): PostgresServer {
  if (started === undefined) throw new Error('PostgreSQL is not installed');
  return started;
}

/** A folder with a fleet file. */
function folderWith(name: string, repositories: readonly object[]): string {
  const folder = temporaryFolder();
  const document = { apiVersion: 'trueup.dev/v1', kind: 'Fleet', metadata: { name } };
  writeFileSync(join(folder, 'fleet.yaml'), JSON.stringify({ ...document, spec: { repositories } }));
  return folder;
}

describe.skipIf(bin === undefined)('A worker of a fleet', { timeout: 200_000 }, () => {
  it('checks the stacks of other repositories while a code host does not answer', async () => {
    const { env, fleet, remote, makeDue } = await openFleet(server(), { stacks: ['one'] });
    await fleet('migrate');
    const silent = await listenForTest(createServer());
    const cwd = folderWith('acme', [
      { name: 'silent', url: `${silent.url}/silent.git` },
      { name: 'infra', url: remote, variables: ['API_TOKEN'] },
    ]);
    const worker = startTrueup(['fleet', 'work'], { cwd, env });
    await worker.says(/one\/trueup\.yaml: no drift/);
    makeDue();
    await worker.says(/no drift[\s\S]*no drift/);
    worker.kill('SIGTERM');
    await worker.ended;
  });

  it('leaves stacks that its fleet file does not have to the workers that know them', async () => {
    const names = ['one', 'two', 'three', 'four', 'five', 'six'];
    const { env, fleet, remote, sql, checks } = await openFleet(server(), { stacks: names });
    await fleet('migrate');
    const cwd = folderWith('other', [{ name: 'others', url: remote, stacks: ['none/*.yaml'] }]);
    const other = startTrueup(['fleet', 'work'], { cwd, env });
    await other.says(/has no stack file/);
    for (let round = 0; round < 2; round += 1) {
      expect(checks(await fleet('run', '--all', '--concurrency', '1'))).toEqual(
        Object.fromEntries(names.map((name) => [name, 'no drift'])),
      );
    }
    expect(sql('select count(*) from trueup_fleet.checks where error is not null').trim()).toBe('0');
    other.kill('SIGTERM');
    await other.ended;
  });
});
