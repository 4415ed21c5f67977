// Workers whose fleet files differ, and repositories whose code host does not answer: the other stacks are checked as usual.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTrueup, trueupProcess } from '../../support/cli/process.ts';
import { openFleet } from '../../support/fleet/scene.ts';
import { git, makeRemote } from '../../support/ledger/git-remote.ts';
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
    const { env, remote, makeDue } = await openFleet(server(), { stacks: ['one'] });
    const silent = await listenForTest(createServer());
    const cwd = folderWith('acme', [
      { name: 'silent', url: `${silent.url}/silent.git` },
      { name: 'infra', url: remote, variables: ['API_TOKEN'] },
    ]);
    const worker = startTrueup(['fleet', 'work'], { cwd, env });
    await worker.waitForText(/one\/trueup\.yaml: no drift/);
    makeDue();
    await worker.waitForText(/no drift[\s\S]*no drift/);
    worker.kill('SIGTERM');
    await worker.ended;
  });

  it('leaves stacks that its fleet file does not have to workers that know them', async () => {
    const names = ['one', 'two', 'three', 'four', 'five', 'six'];
    const { env, fleet, remote, sql, checks } = await openFleet(server(), { stacks: names });
    const cwd = folderWith('other', [{ name: 'others', url: remote, stacks: ['none/*.yaml'] }]);
    const other = startTrueup(['fleet', 'work'], { cwd, env });
    await other.waitForText(/has no stack file/);
    for (let round = 0; round < 2; round += 1) {
      expect(checks(await fleet('run', '--all', '--concurrency', '1'))).toEqual(
        Object.fromEntries(names.map((name) => [name, 'no drift'])),
      );
    }
    expect(sql('select count(*) from trueup_fleet.checks where error is not null').trim()).toBe('0');
    other.kill('SIGTERM');
    await other.ended;
  });

  it('does not check a repository if another fleet uses its name, and checks it under another name', async () => {
    const { env, fleet, sql, stack, checks } = await openFleet(server(), { stacks: ['one'] });
    await fleet('run');
    const stacks = () =>
      sql(
        'select repository, path, removed is null, last_error is null from trueup_fleet.stacks order by repository, path',
      )
        .trim()
        .split('\n');
    const before = stacks();
    const remote = makeRemote();
    const clone = remote.clone();
    for (const [path, text] of Object.entries(stack('uno'))) {
      mkdirSync(dirname(join(clone, path)), { recursive: true });
      writeFileSync(join(clone, path), text);
    }
    git(clone, 'add', '.');
    git(clone, 'commit', '--quiet', '-m', 'one stack');
    git(clone, 'push', '--quiet', 'origin', 'HEAD:main');
    const run = (name: string) => {
      const cwd = folderWith('globex', [{ name, url: remote.directory, variables: ['API_TOKEN'] }]);
      return trueupProcess(['fleet', 'run', '--all'], { cwd, env });
    };
    const refused = await run('infra');
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('the fleet "acme" uses this name for another repository');
    expect(refused.out).toContain('0 checks');
    expect(stacks()).toEqual(before);
    const problem = "select problem from trueup_fleet.repositories where fleet = 'globex'";
    expect(sql(problem)).toContain('give it another name in fleet.yaml');
    expect(checks(await fleet('run', '--all'))).toEqual({ one: 'no drift' });
    expect((await run('globex-infra')).out).toContain('globex-infra/uno/trueup.yaml: ');
    expect(stacks()).toHaveLength(before.length + 1);
  });
});
