/** A move between stacks that is killed: at each moment one stack owns the resources, and the next apply completes the move. */
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { removalRequest, role, workspace } from '../../support/cli/documents.ts';
import { trueupProcess } from '../../support/cli/process.ts';

const spec = { autoApply: true, tags: { env: 'prod' } };
const preload = fileURLToPath(new URL('../../support/simulation/kill-at-rename.ts', import.meta.url));
const quiet = { ...secrets, TRUEUP_RUN_ID: '771', NODE_NO_WARNINGS: '1' };

const away = (kind: string, name: string) => ({
  apiVersion: 'trueup.dev/v1',
  kind,
  metadata: { name, movedTo: { stack: 'payments' } },
});
const marks = [away('Workspace', 'app'), away('ClusterAuthRole', 'web')];

/** The stack `payments` is about to take over a workspace and a role of `billing`; the role changes with it. */
async function aboutToMove() {
  const bench = await openBench();
  const billing = await bench.checkout({ name: 'billing' });
  await billing.begin(workspace('app', spec), role('web'));
  const payments = await bench.checkout({ name: 'payments' });
  const folder = relative(payments.directory, join(billing.directory, '.trueup'));
  const from = { movedFrom: { stack: 'billing', folder } };
  await payments.declare(workspace('app', spec, from), role('web', { tokenTtl: '2h' }, from));
  const { digest, acknowledge } = await payments.plan();
  const job = ['apply', '--approve', digest, '--ack', acknowledge.join(',')];
  return { bench, billing, payments, job };
}

const ledgerOf = ({ ledgerFile }: Checkout, name: string) => localLedger(ledgerFile, name);

/** The lock of `billing` goes, as somebody would remove it who knows that the other apply is dead. */
async function unlock(billing: Checkout): Promise<void> {
  const lock = await ledgerOf(billing, 'billing').readLock();
  if (lock !== undefined) await billing.run(['unlock', '--id', lock.id], 0);
}

type Scene = Awaited<ReturnType<typeof aboutToMove>>;

/** The stacks that own the workspace and the role by what their own plans say; both are always of one owner. */
async function owners({ billing, payments }: Scene): Promise<string[]> {
  const sources = (await ledgerOf(billing, 'billing').read()).records.size > 0 ? ['billing'] : [];
  const { records, incoming = [] } = await ledgerOf(payments, 'payments').read();
  const isGiven = incoming.length > 0 && sources.length === 0;
  return [...sources, ...(records.size > 0 || isGiven ? ['payments'] : [])];
}

async function expectCompleted({ bench, billing, payments, job }: Scene): Promise<void> {
  const again = await trueupProcess(job, { cwd: payments.directory, env: quiet });
  expect(again, again.out + again.err).toMatchObject({ code: 0 });
  const [former, present] = [
    await ledgerOf(billing, 'billing').read(),
    await ledgerOf(payments, 'payments').read(),
  ];
  expect([former.records.size, former.movedAway?.size]).toEqual([0, 3]);
  expect([present.records.size, present.incoming]).toEqual([3, undefined]);
  for (const [stack, name] of [
    [billing, 'billing'],
    [payments, 'payments'],
  ] as const)
    expect(await ledgerOf(stack, name).readLock()).toBeUndefined();
  expect(await bench.tagsOf('app')).toEqual({ env: 'prod', 'trueup-stack': 'payments' });
  await payments.run(['plan', '--exit-code'], 0);
  const { entries } = JSON.parse((await payments.run(['history', '--format', 'json'], 0)).out);
  const copied = entries.filter(({ stack }: { stack: string }) => stack === 'billing');
  expect(copied).toHaveLength(1);
}

describe('A move that was killed', () => {
  const points = Array.from({ length: 14 }, (_, index) => index + 1).flatMap((at) =>
    (['before', 'after'] as const).map((when) => ({ at, when })),
  );

  it.each(points)(
    '$when write $at of locks, ledgers and history left one owner, and is completed',
    async ({ at, when }) => {
      const scene = await aboutToMove();
      const { bench, billing, payments, job } = scene;
      const killing = { NODE_OPTIONS: `--import ${preload}`, KILL_AT_RENAME: `${at}:${when}` };
      await trueupProcess(job, { cwd: payments.directory, env: { ...quiet, ...killing } });
      expect(await owners(scene)).toHaveLength(1);
      await unlock(billing);
      // Whatever the former stack declares, it writes nothing of what it no longer owns.
      const writes = bench.wire.writes().length;
      const hasMoved = (await owners(scene))[0] === 'payments';
      await billing.declare(...(hasMoved ? [removalRequest('Workspace', 'gone', 'safe')] : marks));
      await billing.insist();
      const made = bench.written().slice(writes);
      expect(made.filter((line) => !line.startsWith('POST /api/v2/organizations'))).toEqual([]);
      await expectCompleted(scene);
    },
  );

  it.each([1, 2])('at write %i to a service is completed', async (at) => {
    const scene = await aboutToMove();
    const { bench, billing, payments, job } = scene;
    let count = 0;
    let kill = () => {};
    const dead = Promise.withResolvers<void>();
    bench.wire.guardBy(async ({ method }, pass) => {
      if (method === 'GET' || method === 'LIST') return pass();
      count += 1;
      if (count !== at) return pass();
      kill();
      await dead.promise;
      return undefined;
    });
    await trueupProcess(job, { cwd: payments.directory, env: quiet }, async ({ signals }) => {
      kill = () => signals('SIGKILL');
    });
    dead.resolve();
    bench.wire.guardBy(undefined);
    await unlock(billing);
    await billing.declare(...marks);
    await billing.run(['apply', '--yes'], 0);
    await expectCompleted(scene);
  });
});
