// Workers that are stopped, and databases that go down: no check is lost, and no process or folder is left.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdRequest } from '../../support/cli/held-request.ts';
import { childrenOf, openFleet } from '../../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
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

const exists = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] !== 'Z';
  } catch {
    return false;
  }
};

const foldersOfFleets = (parent: string) =>
  readdirSync(parent).filter((name) => name.startsWith('trueup-fleet-'));

describe.skipIf(bin === undefined)('A worker of a fleet', { timeout: 200_000 }, () => {
  it.each(['CONT', 'STOP'] as const)(
    'that is stopped leaves no processes and folders, and its check to others: children that %s',
    async (state) => {
      const temporary = temporaryFolder();
      const env = { TMPDIR: temporary };
      const { bench, fleet, work, checks } = await openFleet(server(), { stacks: ['one'], env });
      const held = holdRequest({ method: 'GET', path: /workspaces/ });
      bench.wire.add(held.rule);
      const worker = work();
      await held.reached;
      expect(foldersOfFleets(temporary)).toHaveLength(1);
      const children = childrenOf(worker.pid);
      expect(children.length).toBeGreaterThan(0);
      for (const child of children) process.kill(child, `SIG${state}`);
      worker.kill('SIGTERM');
      const { code } = await worker.ended;
      held.release();
      expect(code).toBe(0);
      expect(children.filter(exists)).toEqual([]);
      expect(foldersOfFleets(temporary)).toEqual([]);
      const run = await fleet('run');
      expect(checks(run)).toEqual({ one: 'no drift' });
      expect(run.out).toContain('1 check:');
    },
  );

  it('that is killed leaves its checks to the next "fleet run"', async () => {
    const { bench, fleet, work, checks, sql } = await openFleet(server(), { stacks: ['one'] });
    const held = holdRequest({ method: 'GET', path: /workspaces/ });
    bench.wire.add(held.rule);
    const worker = work();
    await held.reached;
    worker.kill('SIGKILL');
    await worker.ended;
    held.release();
    // After 20 seconds without a heartbeat, a worker counts as dead.
    sql(`update trueup_fleet_jobs.job set heartbeat_on = heartbeat_on - interval '1 minute' where state = 'active';
      update trueup_fleet_jobs.queue set monitor_on = null, monitor_claim_on = null`);
    expect(checks(await fleet('run'))).toEqual({ one: 'no drift' });
  });

  it('checks a commit that another worker found', async () => {
    const { work, sql, push, stack } = await openFleet(server(), { stacks: ['one'] });
    const worker = work();
    await worker.waitForText(/one\/trueup\.yaml: no drift/);
    push(stack('two'));
    sql(`insert into trueup_fleet.stacks (repository, path, seconds_between_checks, phase, next_due, first_seen, tree)
      values ('infra', 'two/trueup.yaml', 900, 0, now(), now(), 'newer')`);
    await worker.waitForText(/two\/trueup\.yaml: no drift/);
    worker.kill('SIGTERM');
    await worker.ended;
  });

  it('continues after the database was down', async () => {
    const { work, makeDue } = await openFleet(server(), { stacks: ['one'] });
    const worker = work();
    await worker.waitForText(/one\/trueup\.yaml: no drift/);
    started?.halt();
    await sleep(3000);
    started?.start();
    makeDue();
    await worker.waitForText(/no drift[\s\S]*no drift/);
    worker.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({
      code: 0,
      err: expect.stringContaining('the database of the fleet cannot be used'),
    });
  });
});
