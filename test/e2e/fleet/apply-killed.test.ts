// Workers as real processes that are killed, stopped, or lose their database during an apply: nothing is written twice.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdRequest } from '../../support/cli/held-request.ts';
import { workspace } from '../../support/cli/documents.ts';
import { childrenOf, type FleetScene, openFleet } from '../../support/fleet/scene.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../../support/ledger/postgres-server.ts';
import { documentsText } from '../../support/rig/stack-folder.ts';

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

/** A stack that was applied and checked once, and whose merged manifests then have another description of the workspaces. */
async function openMerged(names: readonly string[] = ['one-app']): Promise<FleetScene> {
  const { scene, merge } = await openChecked(names);
  merge();
  return scene;
}

/** A stack that was applied and checked once. `merge` changes the descriptions of its workspaces. */
async function openChecked(names: readonly string[] = ['one-app']) {
  const scene = await openFleet(server(), { stacks: [], repository: { apply: { stacks: ['**'] } } });
  const manifests = (description: string) => ({
    'one/manifests.yaml': documentsText(names.map((name) => workspace(name, { description }))),
  });
  scene.push({
    ...scene.stack('one', { spec: { approvals: { accept: ['none'] } } }),
    ...manifests('before'),
  });
  await scene.apply('one');
  await scene.fleet('run');
  const merge = () => {
    scene.push(manifests('after'));
    scene.bench.wire.reset();
  };
  return { scene, merge };
}

/** The same as `openMerged`, and how many requests a check sends. The first check of a fleet also asks whose token it is. */
async function openCounted() {
  const { scene, merge } = await openChecked();
  scene.bench.wire.reset();
  await scene.fleet('run', '--all');
  const checkRequests = scene.bench.wire.seen.length;
  merge();
  return { scene, checkRequests };
}

/** A worker whose request with this number (from 0) does not get its answer yet. */
async function workerAt(request: number, { bench, work }: FleetScene) {
  const held = holdRequest({ path: /./ });
  if (request > 0) bench.wire.add({ path: /./, times: request, fault: { first: async () => {} } });
  bench.wire.add(held.rule);
  const worker = work();
  await held.reached;
  return { worker, release: held.release };
}

/** Waits until a check of the newest commit has found that nothing is left to apply. */
function settled({ clone, until }: FleetScene): Promise<void> {
  const head = git(clone, 'rev-parse', 'HEAD');
  return until(
    `select count(*)::text as found from trueup_fleet.stacks where last_summary->>'pending' = '0' and failures = 0
      and queued_until is null and last_commit = '${head}'`,
    '1',
  );
}

describe.skipIf(bin === undefined)('An apply of a fleet', { timeout: 600_000 }, () => {
  it('is finished by another worker after a kill at any request, and writes nothing twice', async () => {
    const { scene: calm, checkRequests } = await openCounted();
    await calm.fleet('run');
    const { seen } = calm.bench.wire;
    // There is a check before the apply and one after it. Another test kills workers in checks.
    const ofApply = [...seen.keys()].slice(checkRequests, -checkRequests);
    expect(ofApply).toContain(seen.findIndex(({ method }) => method === 'PATCH'));
    const scenes = await Promise.all(ofApply.map(() => openMerged()));
    await Promise.all(
      scenes.map(async (scene, index) => {
        const request = ofApply[index] ?? 0;
        const { worker, release } = await workerAt(request, scene);
        // A child that is not killed ends by itself when its worker is gone.
        const children = request % 2 === 0 ? childrenOf(worker.pid) : [];
        for (const pid of children) process.kill(pid, 'SIGKILL');
        worker.kill('SIGKILL');
        await worker.ended;
        release();
        const next = scene.work();
        await settled(scene);
        next.kill('SIGTERM');
        await next.ended;
        expect(scene.bench.wire.writes().map(({ method }) => method)).toEqual(['PATCH']);
      }),
    );
  });

  it('that was stopped until another worker took over writes nothing when it continues', async () => {
    const scene = await openMerged(['one-app', 'two-app', 'three-app']);
    const held = holdRequest({ method: 'PATCH', path: /./ });
    scene.bench.wire.add(held.rule);
    const worker = scene.work('--concurrency', '1');
    await held.reached;
    const pids = [worker.pid, ...childrenOf(worker.pid)];
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    held.release();
    const next = scene.work();
    await settled(scene);
    const written = scene.bench.wire.writes().length;
    expect(written).toBe(3);
    for (const pid of pids.toReversed()) process.kill(pid, 'SIGCONT');
    // The second worker has ended before the first one continues with due checks.
    next.kill('SIGTERM');
    await next.ended;
    scene.makeDue();
    await worker.waitForText(/no drift[\s\S]*no drift/);
    worker.kill('SIGTERM');
    await worker.ended;
    expect(scene.bench.wire.writes()).toHaveLength(written);
    expect(scene.sql('select outcome from trueup_fleet.applies order by id')).toBe('lost\napplied');
  });

  it('that wrote nothing yet does not start in a freeze, and one that wrote is finished in it', async () => {
    const { scene: planned, checkRequests } = await openCounted();
    const begun = await openMerged(['one-app', 'two-app', 'three-app']);
    /** Adds a freeze that begins in the next minute, and moves the time by two minutes. */
    const freeze = ({ folder, sql }: FleetScene) => {
      const begin = new Date(Date.now() + 60_000);
      const schedule = `${begin.getUTCMinutes()} ${begin.getUTCHours()} * * *`;
      sql("insert into trueup_fleet.moved_time values (interval '2 min')");
      const file = join(folder, 'fleet.yaml');
      const fleet = JSON.parse(readFileSync(file, 'utf8'));
      fleet.spec.freezes = [{ name: 'release', schedule, duration: '50m' }];
      writeFileSync(file, JSON.stringify(fleet));
    };
    for (const scene of [planned, begun]) {
      const held = holdRequest({ method: scene === begun ? 'PATCH' : 'GET', path: /./ });
      if (scene === planned)
        scene.bench.wire.add({ path: /./, times: checkRequests, fault: { first: async () => {} } });
      scene.bench.wire.add(held.rule);
      const worker = scene.work();
      await held.reached;
      worker.kill('SIGTERM');
      // A stopped worker cancels a read, and waits for a write.
      if (scene === begun) held.release();
      await worker.ended;
      held.release();
      freeze(scene);
    }
    expect((await planned.fleet('run')).out).toContain('not applied: the freeze "release"');
    expect(planned.bench.wire.writes()).toEqual([]);
    expect((await begun.fleet('run')).out).toMatch(/[12] changes? applied/);
    expect(begun.bench.wire.writes()).toHaveLength(3);
    // A later commit is not a part of the interrupted apply.
    begun.push({ 'one/manifests.yaml': documentsText([workspace('one-app', { description: 'later' })]) });
    expect((await begun.fleet('run', '--all')).out).toContain('not applied: the freeze "release"');
  });

  it('does not block checks of its stack when fleet.yaml allows no applies any more', async () => {
    const { scene, checkRequests } = await openCounted();
    const { worker, release } = await workerAt(checkRequests + 1, scene);
    worker.kill('SIGKILL');
    await worker.ended;
    release();
    const file = join(scene.folder, 'fleet.yaml');
    const fleet = JSON.parse(readFileSync(file, 'utf8'));
    delete fleet.spec.repositories[0].apply;
    writeFileSync(file, JSON.stringify(fleet));
    const next = scene.work();
    await next.waitForText(/one\/trueup.yaml: no drift/);
    next.kill('SIGTERM');
    await next.ended;
    expect(scene.bench.wire.writes()).toEqual([]);
  });

  it('is recorded with its approvals when the database comes back', async () => {
    const scene = await openMerged();
    const held = holdRequest({ method: 'PATCH', path: /./ });
    scene.bench.wire.add(held.rule);
    const worker = scene.work();
    await held.reached;
    server().halt();
    held.release();
    await sleep(5000);
    server().start();
    await worker.waitForText(/1 change applied/);
    worker.kill('SIGTERM');
    await worker.ended;
    expect(scene.sql('select outcome from trueup_fleet.applies')).toBe('applied');
  });
});
