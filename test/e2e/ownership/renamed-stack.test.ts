/** A stack that is renamed: what it takes along, what has to be acknowledged, and what is never deleted. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { trueup } from '../../support/captured-host.ts';
import { type Checkout, openBench, secrets, type StackOptions } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';
import { trueupProcess } from '../../support/cli/process.ts';

const documents = [
  workspace('app', { tags: { env: 'prod' } }),
  workspace('kept', {}, { protect: true }),
  role('web'),
];
const renamed = { name: 'payments', renamedFrom: 'billing' };

/** The stack `billing`, applied, and the same directory with the stack's new name in its file. */
async function rename(more: readonly object[] = [], options: StackOptions = {}) {
  const bench = await openBench();
  const before = await bench.checkout({ ...options, name: 'billing' });
  await before.setUp(...documents, ...more);
  return { bench, before, after: await before.reconfigure(renamed) };
}

const guardsOf = async (stack: Checkout) =>
  (await stack.plan()).guards.flatMap(({ id, concerns }) =>
    concerns.map(({ address, says }) => [id, address, ...says].join(' ')),
  );

const storeOf = ({ directory }: Checkout, name: string) =>
  localLedger(join(directory, '.trueup', `${name}.ledger.json`), name);

describe('a stack that was renamed', () => {
  it('takes over the resources of its former name only after an acknowledgement, with their records', async () => {
    const { bench, after } = await rename([workspace('old')]);
    const id = await bench.idOf('app');
    const plan = await after.plan();
    expect(plan.problems).toEqual([]);
    expect(plan.changes.map(({ address, action }) => [address, action])).toEqual([
      ['Workspace/acme/app', 'adopt'],
      ['Workspace/acme/kept', 'adopt'],
      ['Workspace/acme/old', 'adopt'],
      ['ClusterAuthRole/prod/web', 'adopt'],
    ]);
    expect(plan.changes[1]?.fields).toEqual([
      expect.objectContaining({ path: '/claim', before: 'billing:protect', after: 'payments:protect' }),
    ]);
    expect(plan.coverage.ledgerNotes).toEqual([
      '5 records were taken over from stack "billing": the next apply closes its ledger',
    ]);
    expect(await guardsOf(after)).toEqual([
      'takeover ClusterAuthRole/prod/web',
      'takeover Workspace/acme/app',
      'takeover Workspace/acme/kept',
      'takeover Workspace/acme/old',
    ]);
    expect((await after.run(['apply', '--yes'], 5)).err).toContain('1 guard blocks this plan: takeover');
    expect(bench.wire.writes()).toEqual([]);
    await after.applyAcknowledged();
    expect(await bench.tagsOf('app')).toEqual({ env: 'prod', 'trueup-stack': 'payments' });
    expect(await bench.tagsOf('kept')).toEqual({ 'trueup-stack': 'payments:protect' });
    const { records } = await after.ledger();
    expect(records['Workspace/acme/app']).toMatchObject({ id, origin: 'created' });
    expect(records['ClusterAuthRole/prod/web']).toMatchObject({ origin: 'created' });
    await after.run(['plan', '--exit-code'], 0);

    bench.wire.reset();
    await after.declare(...documents);
    await after.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['POST /api/v2/workspaces/ws-…/actions/safe-delete']);
    expect(await bench.idsOf('old')).toEqual([]);
  });

  it('resets and deletes what it applied under its former name, as if it had always had the new one', async () => {
    const { bench, after } = await rename();
    await after.declare(workspace('app'), documents[1] ?? {});
    expect(await guardsOf(after)).toContain('takeover ClusterAuthRole/prod/web and deleted');
    await after.applyAcknowledged();
    expect(await bench.tagsOf('app')).toEqual({ 'trueup-stack': 'payments' });
    expect(bench.written()).toContain('DELETE /v1/auth/cluster/role/web');
  });

  it('keeps its history, and nothing is planned or applied under the former name any more', async () => {
    const { bench, before, after } = await rename();
    await after.applyAcknowledged();
    const history = JSON.parse((await after.run(['history', '--format', 'json'], 0)).out);
    expect(history.entries.map(({ stack }: { stack: string }) => stack)).toEqual(['payments', 'billing']);
    bench.wire.reset();
    const old = await before.reconfigure({});
    for (const args of [['plan'], ['apply', '--yes']]) {
      const { err } = await old.run(args, 9);
      expect(err).toContain('stack "billing" was renamed to "payments", which has taken over its ledger');
      expect(err).toContain(
        'To rename it back, write "renamedFrom: payments" into the "metadata" of this stack',
      );
    }
    const third = await before.reconfigure({ name: 'third', renamedFrom: 'billing' });
    expect((await third.run(['plan'], 9)).err).toContain('stack "billing" was renamed to "payments"');
    expect(bench.wire.seen).toEqual([]);
    const again = await before.reconfigure(renamed);
    await again.run(['plan', '--exit-code'], 0);
  });

  it('gets "renamedFrom" proposed if ownership tags have another name, and can be renamed back', async () => {
    const { bench, before, after } = await rename();
    const plain = await after.reconfigure({ renamedFrom: undefined });
    const { problems } = await plain.plan(9);
    expect(problems).toContainEqual(
      expect.objectContaining({
        code: 'claimed-by-another-stack',
        fix: expect.stringContaining('write "renamedFrom: billing" into the "metadata" of the stack'),
      }),
    );
    await (await after.reconfigure({})).applyAcknowledged();
    const back = await before.reconfigure({ name: 'billing', renamedFrom: 'payments' });
    await back.applyAcknowledged();
    expect(await bench.tagsOf('app')).toMatchObject({ 'trueup-stack': 'billing' });
  });

  it('is named by an apply under its former name, without waiting for the lock of that name', async () => {
    const { bench, before, after } = await rename();
    await after.applyAcknowledged();
    const run = { id: 'github/acme/infra/771/apply', who: 'ann', where: 'ci-runner-7', pid: 4711 };
    const lock = { id: 'lock-of-ann', since: '2026-11-20T11:42:00.000Z', run };
    await storeOf(after, 'billing').lock(lock);
    bench.wire.reset();
    const old = await before.reconfigure({});
    const { err } = await old.run(['apply', '--yes', '--lock-timeout', '10m'], 9);
    expect(err).toContain('stack "billing" was renamed to "payments"');
    // That lock blocks nothing, and is not removed.
    const again = await before.reconfigure(renamed);
    await again.run(['apply', '--yes'], 0);
    expect(await storeOf(after, 'billing').readLock()).toMatchObject({ id: lock.id });
    expect(bench.wire.writes()).toEqual([]);
  });

  it('may get its former name back', async () => {
    const { before, after } = await rename();
    await after.applyAcknowledged();
    const back = await before.reconfigure({ name: 'billing', renamedFrom: 'payments' });
    await back.applyAcknowledged();
    const alone = await before.reconfigure({});
    await alone.run(['plan', '--exit-code'], 0);
    expect(Object.keys((await back.ledger()).records)).toContain('ClusterAuthRole/prod/web');
  });

  it('is blocked by an apply under its former name, whose lock "unlock" removes', async () => {
    const { bench, after } = await rename();
    const run = { id: 'github/acme/infra/771/apply', who: 'ann', where: 'ci-runner-7', pid: 4711 };
    await storeOf(after, 'billing').lock({ id: 'lock-of-ann', since: '2026-11-20T11:42:00.000Z', run });
    expect((await after.run(['apply', '--yes'], 8)).err).toContain('stack "billing" is locked');
    expect(bench.wire.writes()).toEqual([]);
    expect(await storeOf(after, 'payments').readLock()).toBeUndefined();
    const { out } = await after.run(['unlock', '--id', 'lock-of-ann'], 0);
    expect(out).toContain('Unlocked stack "billing"');
    await after.applyAcknowledged();
    expect(await storeOf(after, 'billing').readLock()).toBeUndefined();
  });

  it('deletes nothing of its former name if the ledger of that name is not found, and says so', async () => {
    const bench = await openBench();
    const before = await bench.checkout({ name: 'billing' });
    await before.setUp(...documents, workspace('old'));
    const after = await bench.checkout(renamed);
    await after.declare(...documents);
    const plan = await after.plan();
    expect(plan.coverage.ledgerNotes).toEqual([
      'the ledger of stack "billing" was not found where this stack keeps its own: resources with its ownership tag are not deleted',
    ]);
    expect(plan.mentions).toEqual([
      expect.objectContaining({
        address: 'Workspace/acme/old',
        message: 'not declared; it belongs to stack "billing", whose ledger was not found: it is kept',
      }),
    ]);
    await after.applyAcknowledged();
    expect(await bench.idsOf('old')).toHaveLength(1);
    expect(await readdir(join(after.directory, '.trueup'))).not.toContain('billing.ledger.json');
    // Records that could be proved were taken over anyway.
    expect((await after.ledger()).records['Workspace/acme/app']).toMatchObject({ origin: 'created' });
    expect((await after.ledger()).records['ClusterAuthRole/prod/web']).toMatchObject({ origin: 'adopted' });
  });

  it('keeps the records of a target whose address changed, which is one finding', async () => {
    const { bench, before, after } = await rename();
    const moved = await after.reconfigure({ ...renamed, clusterAuth: { mount: 'other' } });
    const { out } = await moved.run(['apply', '--yes'], 9);
    expect(out).toContain('target-moved');
    const { err } = await moved.run(['recover', '--moved', 'prod', '--yes'], 1);
    expect(err).toContain('the records are still in the ledger of stack "billing"');
    expect(bench.wire.writes()).toEqual([]);
    const back = await before.reconfigure(renamed);
    expect(await guardsOf(back)).toContain('takeover ClusterAuthRole/prod/web');
    await back.applyAcknowledged();
  });

  it('does not take over a target if it applied another address under the same name itself', async () => {
    const bench = await openBench({ mounts: ['cluster', 'other'] });
    const own = await bench.checkout({ name: 'payments', clusterAuth: { mount: 'other' } });
    await own.setUp(role('api'));
    const before = await own.reconfigure({ name: 'billing', clusterAuth: { mount: 'cluster' } });
    await before.setUp(role('web'));
    const after = await own.reconfigure(renamed);
    const plan = await after.plan(9);
    expect(plan.problems).toMatchObject([
      { code: 'target-moved', allowed: expect.stringContaining('auth/cluster') },
    ]);
    expect(plan.problems[0]?.message).toContain('stack "billing" applied target "prod" at another address');
    await after.run(['apply', '--yes'], 9);
    expect(bench.wire.writes()).toEqual([]);
    expect(Object.keys((await before.ledger()).records)).toEqual(['ClusterAuthRole/prod/web']);
  });

  it('is taken over as a whole: before that, a selection of it is refused', async () => {
    const { bench, after } = await rename();
    const stdin = JSON.stringify(role('web'));
    for (const args of [
      ['plan', '-'],
      ['apply', '-', '--yes'],
    ]) {
      const ran = await trueup(args, { cwd: after.directory, env: secrets, stdin });
      expect(ran).toMatchObject({ code: 1 });
      expect(ran.err).toContain('whose ledger is not imported yet: plan and apply the whole stack before');
    }
    expect(bench.wire.writes()).toEqual([]);
    await after.applyAcknowledged();
    expect((await trueup(['plan', '-'], { cwd: after.directory, env: secrets, stdin })).code).toBe(0);
  });

  it('needs an acknowledgement for every record, even if nothing is changed', async () => {
    const bench = await openBench();
    const before = await bench.checkout({ name: 'billing' });
    await before.setUp(role('web', {}, { protect: true }), workspace('app'));
    const after = await before.reconfigure(renamed);
    await after.declare(workspace('app', {}, {}));
    const app = 'takeover Workspace/acme/app';
    expect(await guardsOf(after)).toEqual(['takeover ClusterAuthRole/prod/web', app]);
    await bench.byHand.delete(`/workspaces/${await bench.idOf('app')}`);
    await after.declare();
    await after.write(
      'manifests/all.yaml',
      JSON.stringify(role('other', {}, { remove: 'safe' })).replace(/,"spec":.*}$/, '}'),
    );
    const { digest, acknowledge, changes } = await after.plan();
    expect([changes, acknowledge]).toEqual([[], ['takeover']]);
    expect((await after.run(['apply', '--yes'], 5)).err).toContain('takeover');
    await after.run(['apply', '--approve', digest, '--ack', 'takeover'], 0);
    expect((await after.plan()).guards).toEqual([]);
  });

  it('does not close its former ledger if it lost the lock of it, and later applies there count', async () => {
    const { bench, before, after } = await rename([role('r')]);
    const { digest } = await after.plan();
    bench.wire.setHandler(async ({ method }, pass) => {
      if (method === 'LIST') {
        bench.wire.setHandler(undefined);
        const lock = await storeOf(after, 'billing').readLock();
        await after.run(['unlock', '--id', lock?.id ?? ''], 0);
      }
      return pass();
    });
    await after.run(['apply', '--approve', digest, '--ack', 'takeover'], 1);
    expect(bench.wire.writes()).toEqual([]);
    expect(await storeOf(after, 'payments').read()).toMatchObject({ known: false });
    const billing = await before.reconfigure({});
    await billing.declare(...documents, role('r', {}, { onRemove: 'release' }));
    await billing.run(['apply', '--yes'], 0);
    await billing.declare(...documents);
    await billing.run(['apply', '--yes'], 0);
    const again = await before.reconfigure(renamed);
    bench.wire.reset();
    await again.applyAcknowledged();
    expect(bench.written().filter((line) => line.includes('role'))).toEqual([]);
  });

  it.each([1, 2, 3, 5, 6, 7])(
    'that was killed at write %i of its locks and ledgers is completed by the same job, without locks',
    async (at) => {
      const { bench, after } = await rename();
      const { digest, acknowledge } = await after.plan();
      const job = ['apply', '--approve', digest, '--ack', acknowledge.join(',')];
      const preload = fileURLToPath(new URL('../../support/simulation/kill-at-rename.ts', import.meta.url));
      const env = {
        ...secrets,
        TRUEUP_RUN_ID: '771',
        NODE_NO_WARNINGS: '1',
        NODE_OPTIONS: `--import ${preload}`,
      };
      const killed = await trueupProcess(job, {
        cwd: after.directory,
        env: { ...env, KILL_AT_RENAME: `${at}:after` },
      });
      expect(killed.code).not.toBe(0);
      expect(bench.wire.writes()).toEqual([]);
      const again = await trueupProcess(job, {
        cwd: after.directory,
        env: { ...secrets, TRUEUP_RUN_ID: '771' },
      });
      expect(again, again.out + again.err).toMatchObject({ code: 0 });
      expect((await after.ledger()).records['ClusterAuthRole/prod/web']).toMatchObject({ origin: 'created' });
      expect(await storeOf(after, 'billing').read()).toMatchObject({
        closedFor: 'payments',
        records: new Map(),
      });
      for (const name of ['billing', 'payments'])
        expect(await storeOf(after, name).readLock()).toBeUndefined();
      await after.run(['plan', '--exit-code'], 0);
    },
  );

  it('is not rebuilt by "recover" while the ledger of its former name exists', async () => {
    const { after } = await rename();
    expect((await after.run(['recover', '--yes'], 1)).err).toContain(
      'exists, and the next apply takes it over',
    );
  });

  it('cannot have its own name as its former name', async () => {
    const bench = await openBench();
    const stack = await bench.checkout({ name: 'payments', renamedFrom: 'payments' });
    await stack.declare(...documents);
    expect((await stack.run(['validate'], 7)).err).toContain(
      '"metadata.renamedFrom" of stack "payments" is its own name',
    );
  });

  it('no longer needs "renamedFrom" once all ownership tags have its name', async () => {
    const { before, after } = await rename();
    await after.applyAcknowledged();
    const now = await before.reconfigure({ name: 'payments' });
    await now.run(['plan', '--exit-code'], 0);
  });

  it('is another stack without "renamedFrom": every ownership tag is a conflict', async () => {
    const { bench, before } = await rename();
    const after = await before.reconfigure({ name: 'payments' });
    expect((await after.run(['apply', '--yes'], 9)).out).toContain('belongs to stack "billing"');
    expect(bench.wire.writes()).toEqual([]);
  });
});
