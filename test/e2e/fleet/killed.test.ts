// Workers that are killed or stopped in the middle of a check, as real processes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdRequest } from '../../support/cli/held-request.ts';
import { type FleetScene, openFleet } from '../../support/fleet/scene.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';

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

/** A worker whose check does not get the answer to its request with this number (from 0) yet. */
async function workerAt(request: number, { bench, work }: FleetScene) {
  const held = holdRequest({ path: /./ });
  if (request > 0) bench.wire.add({ path: /./, times: request, fault: { first: async () => {} } });
  bench.wire.add(held.rule);
  const worker = work();
  await held.reached;
  return { worker, release: held.release };
}

async function openOne(): Promise<FleetScene> {
  const scene = await openFleet(server(), { stacks: ['one'] });
  scene.bench.wire.reset();
  return scene;
}

const checked = /infra\/one\/trueup\.yaml: no drift/;

describe.skipIf(bin === undefined)('A stack', () => {
  it('is checked again by another worker after a kill at any request of the first one', {
    timeout: 300_000,
  }, async () => {
    const all = await openOne();
    await all.fleet('run');
    const requests = all.bench.wire.seen.length;
    expect(requests).toBeGreaterThan(1);
    const scenes = await Promise.all(Array.from({ length: requests }, openOne));
    await Promise.all(
      scenes.map(async (scene, request) => {
        const { worker, release } = await workerAt(request, scene);
        worker.kill('SIGKILL');
        await worker.ended;
        release();
        const next = scene.work();
        await next.waitForText(checked);
        next.kill('SIGTERM');
        expect((await next.ended).out).toMatch(/^1 check: 0 with drift, 0 failed$/m);
        expect(scene.sql('select count(*) from trueup_fleet.checks')).toBe('1');
        expect(scene.bench.wire.writes()).toEqual([]);
      }),
    );
  });

  it('is not recorded by a worker that was stopped until another one checked it', {
    timeout: 300_000,
  }, async () => {
    const scene = await openOne();
    const { worker, release } = await workerAt(1, scene);
    worker.kill('SIGSTOP');
    const next = scene.work();
    await next.waitForText(checked);
    release();
    worker.kill('SIGCONT');
    // The first worker continues with checks that are due.
    scene.makeDue();
    await Promise.race([worker.waitForText(checked), next.waitForText(/(?:no drift[\s\S]*){2}/)]);
    for (const one of [worker, next]) one.kill('SIGTERM');
    const outputs = await Promise.all([worker, next].map(async ({ ended }) => (await ended).out));
    const checks = outputs.join('').match(/no drift/g) ?? [];
    expect(Number(scene.sql('select count(*) from trueup_fleet.checks'))).toBe(checks.length);
    expect(checks).toHaveLength(2);
  });
});
