// A lock that a person or another run takes away, and what the run that held it does.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ApprovedPlan } from '../../../src/model/approval.ts';
import { entry } from '../../support/ledger/ledger-samples.ts';
import type { Checkout } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { holdLock, open, storeOf } from '../../support/cli/locked-stack.ts';

/** Replaces the lock without raising the serial of the ledger, so that only the lock shows it. */
async function replaceLock(stack: Checkout): Promise<void> {
  const store = storeOf(stack);
  await store.unlock((await store.readLock())?.id ?? '');
  await holdLock(stack);
}

/** More than the five seconds for which a check of the lock is valid. */
function letTimePass(): void {
  const later = Date.now() + 6000;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => later);
  onTestFinished(() => clock.mockRestore());
}

describe('trueup unlock', () => {
  it('removes the lock with this id, and says who held it', async () => {
    const { stack } = await open();
    await holdLock(stack);
    const { out } = await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
    expect(out).toContain('Unlocked stack "payments"');
    expect(out).toContain('ann');
    expect(await storeOf(stack).readLock()).toBeUndefined();
  });

  it('does nothing without an id', async () => {
    const { stack } = await open();
    await holdLock(stack);
    const { err } = await stack.run(['unlock'], 1);
    expect(err).toContain("'--id <id>' not specified");
    expect(await storeOf(stack).readLock()).toBeDefined();
  });

  it('does nothing with the id of another lock, and shows the present lock', async () => {
    const { stack } = await open();
    await holdLock(stack);
    const { err } = await stack.run(['unlock', '--id', 'lock-of-bob'], 1);
    expect(err).toContain('is not locked with this id: it is held under another one');
    expect(err).toContain('lock-of-ann');
    expect(await storeOf(stack).readLock()).toBeDefined();
  });

  it('says if the stack is not locked', async () => {
    const { stack } = await open();
    const { err } = await stack.run(['unlock', '--id', 'lock-of-ann'], 1);
    expect(err).toContain('nobody holds it');
  });

  it('works although manifests are broken', async () => {
    const { stack } = await open();
    await holdLock(stack);
    await stack.write('manifests/broken.yaml', 'kind: [');
    await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
  });

  it('removes the lock of a stack that was never applied, and writes no ledger for it', async () => {
    const { stack } = await open();
    await holdLock(stack);
    await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
    expect((await storeOf(stack).read()).known).toBe(false);
  });

  it('raises the serial of the ledger, and changes nothing else in it', async () => {
    const { stack } = await open();
    await stack.run(['apply', '--yes'], 0);
    const before = await storeOf(stack).read();
    await holdLock(stack);
    await stack.run(['unlock', '--id', 'lock-of-bob'], 1);
    expect(await storeOf(stack).read()).toEqual(before);
    await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
    expect(await storeOf(stack).read()).toEqual({ ...before, serial: before.serial + 1 });
  });

  it('works although the ledger is damaged, and says that its serial was not raised', async () => {
    const { stack } = await open();
    await holdLock(stack);
    await stack.write('.trueup/payments.ledger.json', 'half a led');
    const { err } = await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
    expect(err).toMatch(
      /^the serial of the ledger was not raised: the ledger ".*" is damaged: it is not JSON/,
    );
    expect(await storeOf(stack).readLock()).toBeUndefined();
  });

  it('stops the apply whose lock it removed, which reports that', async () => {
    const { bench, stack } = await open();
    const takeAway = async () => {
      const lock = await storeOf(stack).readLock();
      await stack.run(['unlock', '--id', lock?.id ?? ''], 0);
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, fault: { first: takeAway } });
    const { err } = await stack.run(['apply', '--yes'], 1);
    expect(err).toContain('was written by another run meanwhile');
    expect(err).toContain('the lock of this run was taken away');
  });
});

describe('a run whose lock is taken over while it applies', () => {
  const names = Array.from({ length: 30 }, (_, index) => `app-${index}`);

  /** The number of calls to one target that are in flight at once. */
  const inFlight = 8;

  /** So many creates that they take longer than the next write of the ledger. */
  const many = Array.from({ length: 200 }, (_, index) => `app-${index}`);

  /** An apply of creates; once the first ones are in flight, they wait until `act` is done. */
  async function applyWhile(act: (stack: Checkout) => Promise<unknown>, declared = names) {
    const { bench, stack } = await open();
    // Once an ownership tag is seen, creates need not wait for the first one.
    await stack.setUp(workspace('old'));
    await stack.declare(workspace('old'), ...declared.map((name) => workspace(name)));
    const acted = Promise.withResolvers<unknown>();
    let arrived = 0;
    const first = () => {
      arrived += 1;
      if (arrived === inFlight) acted.resolve(act(stack));
      return acted.promise;
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, times: inFlight, fault: { first } });
    const ran = await stack.tryRun(['apply', '--yes']);
    return { bench, stack, ran };
  }

  it('cannot write the ledger any more, sends nothing after that, and keeps the new lock', async () => {
    const { bench, stack, ran } = await applyWhile(async (at) => {
      const lock = await storeOf(at).readLock();
      await at.run(['unlock', '--id', lock?.id ?? ''], 0);
      await holdLock(at);
    }, many);
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.out).toMatch(/skipped .*\n.*not sent: another run has written the ledger/);
    expect(bench.wire.writes().length).toBeLessThan(many.length);
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
  });

  it('sends nothing more after five seconds, even if the ledger did not change', async () => {
    const { bench, stack, ran } = await applyWhile(async (at) => {
      await replaceLock(at);
      letTimePass();
    });
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toMatch(
      /^error: the lock of this run was taken away: ann holds it since 2026-11-20T11:42/m,
    );
    expect(ran.err.match(/taken away|took .* away/g)).toHaveLength(1);
    expect(bench.wire.writes()).toHaveLength(inFlight);
    expect(ran.out).toContain('not sent: the lock of this run was taken away');
    expect(ran.out).toContain(`${inFlight} applied, ${names.length - inFlight} skipped`);
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
    const [entry] = await storeOf(stack).listEntries(1);
    expect(entry?.changes.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(
      names.length - inFlight,
    );
  });

  it('sends nothing more when its lock cannot be read', async () => {
    const { bench, ran } = await applyWhile(async (at) => {
      await at.write('.trueup/payments.ledger.json.lock', 'half a lock');
      letTimePass();
    });
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toMatch(/^error: the lock of this run cannot be seen: the lock ".*" cannot be read/m);
    expect(bench.wire.writes()).toHaveLength(inFlight);
  });

  it('writes neither ledger nor history when that happens during planning', async () => {
    const { bench, stack } = await open();
    const first = async () => {
      await replaceLock(stack);
      letTimePass();
    };
    bench.wire.add({ method: 'GET', path: /workspaces/, fault: { first } });
    const { err } = await stack.run(['apply', '--yes'], 1);
    expect(err).toContain('error: the lock of this run was taken away');
    expect(bench.wire.writes()).toEqual([]);
    expect((await storeOf(stack).read()).known).toBe(false);
    expect(await storeOf(stack).listEntries(1)).toEqual([]);
  });

  it('continues when the lock is still its own', async () => {
    const { bench, ran } = await applyWhile(async () => letTimePass());
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(await bench.idsOf('app-29')).toHaveLength(1);
  });
});

describe('a run whose lock is taken away during the plan after its apply', () => {
  /** An apply that has written everything; `act` runs during the plan that it makes afterwards. */
  async function applyUntil(act: (stack: Checkout) => Promise<unknown>, ...how: readonly string[]) {
    const { bench, stack } = await open();
    const { digest } = await stack.plan();
    const first = async () =>
      bench.wire.add({ method: 'GET', path: /workspaces\?/, fault: { first: () => act(stack) } });
    bench.wire.add({ method: 'POST', path: /workspaces$/, fault: { first } });
    const ran = await stack.tryRun(['apply', ...(how.length > 0 ? how : ['--approve', digest])]);
    expect(await bench.idsOf('app')).toHaveLength(1);
    return { stack, ran };
  }

  const theirs: ApprovedPlan = { version: 2, digest: 'd'.repeat(32), atoms: [] };

  /** Somebody unlocks the stack, and another run begins to apply what was approved there. */
  async function overtaken(stack: Checkout): Promise<void> {
    const store = storeOf(stack);
    const lock = await store.readLock();
    await stack.run(['unlock', '--id', lock?.id ?? ''], 0);
    await holdLock(stack);
    await store.write({ ...(await store.read()), approved: theirs });
  }

  it('keeps the approved plan of the other run in the ledger, reports that, and exits with 1', async () => {
    const { stack, ran } = await applyUntil(overtaken);
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toContain('was written by another run meanwhile');
    expect(ran.out).not.toContain('nothing is left to do');
    expect((await storeOf(stack).read()).approved).toEqual(theirs);
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
  });

  it('checks its lock before it removes the approved plan from the ledger', async () => {
    const { stack, ran } = await applyUntil(async (at) => {
      await replaceLock(at);
      letTimePass();
    });
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toContain('error: the lock of this run was taken away: ann holds it');
    expect((await storeOf(stack).read()).approved).toBeDefined();
  });

  it('reports that and exits with 1 also when there is nothing more to write', async () => {
    const { stack, ran } = await applyUntil(replaceLock, '--yes');
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toBe('error: the lock of this run was taken away while it was working\n');
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
  });

  it('reports that in JSON, too', async () => {
    const { ran } = await applyUntil(replaceLock, '--yes', '--format', 'json');
    expect(ran).toMatchObject({ code: 1, err: expect.not.stringContaining('error') });
    expect(JSON.parse(ran.out)).toMatchObject({
      diagnostics: [
        { code: 'lock-lost', message: 'the lock of this run was taken away while it was working' },
      ],
    });
  });

  it('does not complete a history entry that another run began since', async () => {
    const { bench, stack } = await open();
    await stack.run(['apply', '--yes'], 0);
    const begun = entry('99991231T000000000Z-f00d');
    const first = async () => {
      await replaceLock(stack);
      await storeOf(stack).keepEntries([begun]);
    };
    bench.wire.add({ method: 'GET', path: /workspaces\?/, fault: { first } });
    const { err } = await stack.run(['apply', '--yes'], 1);
    expect(err).toContain(
      'error: the history lacks what this apply found about earlier ones: the lock of this run was taken away',
    );
    expect(await storeOf(stack).showEntry(begun.id)).toEqual(begun);
  });
});

describe('a ledger that another run writes during an apply', () => {
  it('stops the apply with one error, after the outcomes are reported', async () => {
    const { bench, stack } = await open();
    await stack.declare(...['a', 'b', 'c', 'd'].map((name) => workspace(name)));
    const store = storeOf(stack);
    const overtake = async (): Promise<unknown> => store.write(await store.read()).catch(overtake);
    bench.wire.add({ method: 'POST', path: /workspaces/, fault: { first: overtake } });
    const { err, out } = await stack.run(['apply', '--yes'], 1);
    expect(err.match(/was written by another run meanwhile/g)).toHaveLength(1);
    expect(out).toMatch(/applied/);
    expect(await store.readLock()).toBeUndefined();
    const [entry] = await store.listEntries(1);
    expect(entry?.changes.every(({ outcome }) => outcome !== undefined)).toBe(true);
  });
});
