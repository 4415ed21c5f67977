/** The origin of a role decides what happens when its manifest is removed: a created role is deleted, an adopted role stays. */
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { role, removalRequest } from '../../support/cli/documents.ts';
import { storeOf } from '../../support/cli/locked-stack.ts';
import { startTrueup } from '../../support/cli/process.ts';

const anchor = role('anchor');
const shared = role('shared');

/** Somebody else creates a role with the values that `role` declares. */
const byAnother = (bench: Bench, name: string) =>
  bench.byHandMount('POST', `role/${name}`, {
    bound_service_account_names: ['app'],
    bound_service_account_namespaces: ['payments'],
    token_ttl: 3600,
    audience: 'vault',
  });

const originOf = async (stack: Checkout) =>
  (await stack.ledger()).records['ClusterAuthRole/prod/shared']?.origin;

/** A stack that adopted an equal role of somebody else. */
async function adopted(metadata: object = {}, clusterAuth: object = {}) {
  const bench = await openBench();
  await byAnother(bench, 'shared');
  const stack = await bench.checkout({ clusterAuth });
  await stack.setUp(anchor, role('shared', {}, metadata));
  return { bench, stack };
}

describe('an equal role that somebody creates just before we do', () => {
  it('is adopted: dropped later, it is released and stays', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(role('anchor'));
    await stack.declare(role('anchor'), role('web'));
    const first = () =>
      bench.byHandMount('POST', 'role/web', {
        bound_service_account_names: ['app'],
        bound_service_account_namespaces: ['payments'],
        token_ttl: 3600,
        audience: 'vault',
      });
    bench.wire.add({ method: 'GET', path: /role\/web/, fault: { first } });
    expect((await stack.run(['apply', '--yes'], 0)).out).toMatch(/unchanged +\+ ClusterAuthRole\/prod\/web/);
    expect((await stack.ledger()).records['ClusterAuthRole/prod/web']?.origin).toBe('adopted');
    await stack.declare(role('anchor'));
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual([]);
    expect(await bench.byHandMount('GET', 'role/web')).toMatchObject({ audience: 'vault' });
  });
});

describe('a role that was created by an apply that could not write its ledger', () => {
  const origin = async (stack: Checkout) =>
    (await stack.ledger()).records['ClusterAuthRole/prod/web']?.origin;

  /** Another run writes the ledger while the role is created: the creation cannot be recorded. */
  async function unrecorded() {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(anchor);
    await stack.declare(anchor, role('web'));
    const store = storeOf(stack);
    const first = async () => store.write(await store.read());
    bench.wire.add({ method: 'POST', path: /role\/web/, fault: { first } });
    const { out } = await stack.run(['apply', '--yes'], 1);
    expect(out).toMatch(/applied +\+ ClusterAuthRole\/prod\/web/);
    expect(await origin(stack)).toBeUndefined();
    return { bench, stack };
  }

  it('is recorded as created by the next apply, and deleted when it is dropped', async () => {
    const { bench, stack } = await unrecorded();
    expect((await stack.run(['apply', '--yes'], 0)).out).not.toContain('adopt');
    expect(await origin(stack)).toBe('created');
    await stack.declare(anchor);
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/web']);
  });

  it('is reported in the history as what the ledger may lack', async () => {
    const { stack } = await unrecorded();
    const [{ id, unrecorded: lacks }] = JSON.parse(
      (await stack.run(['history', '--format', 'json'], 0)).out,
    ).entries;
    expect(lacks).toBe(true);
    const { out } = await stack.run(['history', 'show', id], 0);
    expect(out).toMatch(/^ledger +may lack what was done/m);
  });
});

describe('a role that was found exactly as declared', () => {
  it('is shown as adopted, without a guard and without a request', async () => {
    const bench = await openBench();
    await byAnother(bench, 'shared');
    const stack = await bench.checkout();
    await stack.declare(shared);
    const plan = await stack.plan(0);
    expect(plan).toMatchObject({ changes: [{ action: 'adopt', fields: [], calls: [] }], guards: [] });
    expect(plan.changes[0]?.reason).toContain('nothing is sent, it is recorded');
    await stack.run(['plan', '--exit-code'], 2);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    expect(await originOf(stack)).toBe('adopted');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is released when its document goes, and its access stays', async () => {
    const { bench, stack } = await adopted();
    await stack.declare(anchor);
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out.replace(/\s+/g, ' ')).toContain(
      'it was adopted, so it is released and its access stays: "onRemove: delete" or a removal request removes it',
    );
    expect(bench.wire.writes()).toEqual([]);
    expect(await originOf(stack)).toBeUndefined();
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is deleted after "onRemove: delete", with a reason that does not say that we wrote it', async () => {
    const { bench, stack } = await adopted({ onRemove: 'delete' });
    await stack.declare(anchor);
    const [change] = (await stack.plan()).changes;
    expect(change).toMatchObject({
      action: 'delete',
      reason: 'no longer declared, and unchanged since it was adopted or last written',
    });
    await bench.byHandMount('POST', 'role/shared', { token_policies: ['by-hand'] });
    expect((await stack.plan()).mentions).toMatchObject([
      { message: 'no longer declared, but changed since it was adopted or last written: it is kept' },
    ]);
  });

  it('stays with the stack that created it when the stack that adopted it drops it', async () => {
    const bench = await openBench();
    const [maker, user] = [await bench.checkout({ name: 'maker' }), await bench.checkout({ name: 'user' })];
    await maker.setUp(anchor, shared);
    await user.setUp(role('own'), shared);
    await user.declare(role('own'));
    await user.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
    await maker.run(['plan', '--exit-code'], 0);
  });

  it.each([
    ['its manifest said so with "onRemove: delete"', { onRemove: 'delete' }, []],
    ['a removal request asks for it', {}, [removalRequest('ClusterAuthRole', 'shared', 'safe')]],
  ] as const)('is deleted when %s', async (_, metadata, more) => {
    const { bench, stack } = await adopted(metadata);
    await stack.declare(anchor, ...more);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/shared']);
  });

  it('is deleted from an exclusive target only after the guard "no-record" is acknowledged', async () => {
    const { bench, stack } = await adopted({}, { exclusive: true });
    await stack.declare(anchor);
    expect((await stack.run(['apply', '--yes'], 5)).err).toContain('no-record');
    expect(bench.wire.writes()).toEqual([]);
    await stack.applyAcknowledged();
    expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/shared']);
  });
});

describe('a role whose creation was interrupted', () => {
  /** @param ahead by how much the clock of the machine of an apply before that was ahead */
  async function interrupted(ahead?: number) {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(anchor);
    if (ahead !== undefined) {
      await stack.declare(anchor, role('early'));
      const before = { cwd: stack.directory, env: secrets, now: () => Date.now() + ahead };
      expect(await trueup(['apply', '--yes'], before)).toMatchObject({ code: 0 });
      await stack.declare(anchor);
      await stack.run(['apply', '--yes'], 0);
    }
    await stack.declare(anchor, shared);
    let applying = startTrueup(['--version'], { cwd: stack.directory });
    const env = { ...secrets, TRUEUP_RUN_ID: '771' };
    // The service carries it out, but the apply is killed before the answer.
    bench.wire.setHandler(async ({ method, path }, pass) => {
      const answer = await pass();
      if (method !== 'POST' || !path.endsWith('role/shared')) return answer;
      applying.kill('SIGKILL');
      await applying.ended;
      return undefined;
    });
    applying = startTrueup(['apply', '--yes'], { cwd: stack.directory, env });
    await applying.ended;
    bench.wire.setHandler(undefined);
    bench.wire.reset();
    expect(await originOf(stack)).toBeUndefined();
    return {
      bench,
      stack,
      again: () => startTrueup(['apply', '--yes'], { cwd: stack.directory, env }).ended,
    };
  }

  it.each([
    ['', undefined],
    [', also after an apply on a machine whose clock was a day ahead', 24 * 3_600_000],
  ])(
    'is ours because the history says that we were creating it, and is deleted later%s',
    async (_, ahead) => {
      const { bench, stack, again } = await interrupted(ahead);
      await stack.run(['plan', '--exit-code'], 0);
      expect(await again()).toMatchObject({ code: 0 });
      expect(await originOf(stack)).toBe('created');
      await stack.declare(anchor);
      await stack.run(['apply', '--yes'], 0);
      expect(bench.written()).toEqual(['DELETE /v1/auth/cluster/role/shared']);
    },
  );

  it.each([
    ['that changed something', [role('one-more')]],
    ['with nothing to do', []],
  ])('is adopted if somebody else created it after an apply %s ended without it', async (_, more) => {
    const { bench, stack, again } = await interrupted();
    await bench.byHandMount('DELETE', 'role/shared');
    await stack.declare(anchor, ...more);
    expect(await again()).toMatchObject({ code: 0 });
    await byAnother(bench, 'shared');
    await stack.declare(anchor, ...more, shared);
    expect((await stack.plan()).changes).toMatchObject([{ action: 'adopt' }]);
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(anchor, ...more);
    bench.wire.reset();
    await stack.run(['apply', '--yes'], 0);
    expect(bench.wire.writes()).toEqual([]);
  });
});
