// A lock that is taken away, by a person or by another run: what becomes of the run that held it.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ApprovedPlan } from '../../../src/model/approval.ts';
import { entry } from '../../support/ledger/kept-things.ts';
import type { Checkout } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { held, open, storeOf } from '../../support/cli/locked-stack.ts';

/** By hand, past the serial of the ledger: what is left then is the lock itself. */
async function takenByHand(stack: Checkout): Promise<void> {
  const store = storeOf(stack);
  await store.unlock((await store.readLock())?.id ?? '');
  await held(stack);
}

/** More than the five seconds for which a sight of a lock is good. */
function letTimePass(): void {
  const later = Date.now() + 6000;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => later);
  onTestFinished(() => clock.mockRestore());
}

describe('trueup unlock', () => {
  it('takes away the lock with this id, and says whose it was', async () => {
    const { stack } = await open();
    await held(stack);
    const { out } = await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
    expect(out).toContain('Unlocked stack "payments"');
    expect(out).toContain('ann');
    expect(await storeOf(stack).readLock()).toBeUndefined();
  });

  it('does nothing without an id', async () => {
    const { stack } = await open();
    await held(stack);
    const { err } = await stack.run(['unlock'], 1);
    expect(err).toContain("'--id <id>' not specified");
    expect(await storeOf(stack).readLock()).toBeDefined();
  });

  it('does nothing with the id of another lock, and shows the one that is held', async () => {
    const { stack } = await open();
    await held(stack);
    const { err } = await stack.run(['unlock', '--id', 'lock-of-bob'], 1);
    expect(err).toContain('is not locked with this id: it is held under another one');
    expect(err).toContain('lock-of-ann');
    expect(await storeOf(stack).readLock()).toBeDefined();
  });

  it('says when nobody holds the lock', async () => {
    const { stack } = await open();
    const { err } = await stack.run(['unlock', '--id', 'lock-of-ann'], 1);
    expect(err).toContain('nobody holds it');
  });

  it('works although manifests are broken', async () => {
    const { stack } = await open();
    await held(stack);
    await stack.write('manifests/broken.yaml', 'kind: [');
    await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
  });

  it('takes the lock away of a stack that was never applied, and makes no ledger for it', async () => {
    const { stack } = await open();
    await held(stack);
    await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
    expect((await storeOf(stack).read()).known).toBe(false);
  });

  it('raises the serial of the ledger, and changes nothing else of it', async () => {
    const { stack } = await open();
    await stack.run(['apply', '--yes'], 0);
    const before = await storeOf(stack).read();
    await held(stack);
    await stack.run(['unlock', '--id', 'lock-of-bob'], 1);
    expect(await storeOf(stack).read()).toEqual(before);
    await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
    expect(await storeOf(stack).read()).toEqual({ ...before, serial: before.serial + 1 });
  });

  it('works although the ledger is damaged, and says that its serial was not raised', async () => {
    const { stack } = await open();
    await held(stack);
    await stack.write('.trueup/payments.ledger.json', 'half a led');
    const { err } = await stack.run(['unlock', '--id', 'lock-of-ann'], 0);
    expect(err).toMatch(
      /^the serial of the ledger was not raised: the ledger ".*" is damaged: it is not JSON/,
    );
    expect(await storeOf(stack).readLock()).toBeUndefined();
  });

  it('ends the apply whose lock it took, which says so', async () => {
    const { bench, stack } = await open();
    const takeAway = async () => {
      const lock = await storeOf(stack).readLock();
      await stack.run(['unlock', '--id', lock?.id ?? ''], 0);
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, fault: { first: takeAway } });
    const { err } = await stack.run(['apply', '--yes'], 1);
    expect(err).toContain('was written by another run meanwhile');
    expect(err).toContain('somebody took the lock of this run away');
  });
});

describe('a run whose lock is taken over while it applies', () => {
  const names = Array.from({ length: 30 }, (_, index) => `app-${index}`);

  /** So many calls to one target are in flight at once. */
  const underWay = 8;

  /** More than a target is asked for at once, which would take seconds: nobody is that slow to write a ledger. */
  const many = Array.from({ length: 200 }, (_, index) => `app-${index}`);

  /** An apply of creates; something happens once the first are under way, and all of those wait for it. */
  async function applyWhile(act: (stack: Checkout) => Promise<unknown>, declared = names) {
    const { bench, stack } = await open();
    // Once an ownership tag is seen, creates need not wait for the first one.
    await stack.begin(workspace('old'));
    await stack.declare(workspace('old'), ...declared.map((name) => workspace(name)));
    const acted = Promise.withResolvers<unknown>();
    let arrived = 0;
    const first = () => {
      arrived += 1;
      if (arrived === underWay) acted.resolve(act(stack));
      return acted.promise;
    };
    bench.wire.add({ method: 'POST', path: /workspaces/, times: underWay, fault: { first } });
    const ran = await stack.tryRun(['apply', '--yes']);
    return { bench, stack, ran };
  }

  it('has its next write to the ledger refused, sends nothing after that, and leaves the new lock alone', async () => {
    const { bench, stack, ran } = await applyWhile(async (at) => {
      const lock = await storeOf(at).readLock();
      await at.run(['unlock', '--id', lock?.id ?? ''], 0);
      await held(at);
    }, many);
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.out).toMatch(/skipped .*\n.*not sent: another run has written the ledger/);
    expect(bench.wire.writes().length).toBeLessThan(many.length);
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
  });

  it('sends nothing more five seconds later, whatever became of the ledger', async () => {
    const { bench, stack, ran } = await applyWhile(async (at) => {
      await takenByHand(at);
      letTimePass();
    });
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toMatch(
      /^error: the lock of this run was taken away: ann holds it since 2026-11-20T11:42/m,
    );
    expect(ran.err.match(/taken away|took .* away/g)).toHaveLength(1);
    expect(bench.wire.writes()).toHaveLength(underWay);
    expect(ran.out).toContain('not sent: the lock of this run was taken away');
    expect(ran.out).toContain(`${underWay} applied, ${names.length - underWay} skipped`);
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
    const [entry] = await storeOf(stack).listEntries(1);
    expect(entry?.changes.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(
      names.length - underWay,
    );
  });

  it('sends nothing more when nobody can see its lock', async () => {
    const { bench, ran } = await applyWhile(async (at) => {
      await at.write('.trueup/payments.ledger.json.lock', 'half a lock');
      letTimePass();
    });
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toMatch(/^error: the lock of this run cannot be seen: the lock ".*" cannot be read/m);
    expect(bench.wire.writes()).toHaveLength(underWay);
  });

  it('writes neither ledger nor history when that happens while it plans', async () => {
    const { bench, stack } = await open();
    const first = async () => {
      await takenByHand(stack);
      letTimePass();
    };
    bench.wire.add({ method: 'GET', path: /workspaces/, fault: { first } });
    const { err } = await stack.run(['apply', '--yes'], 1);
    expect(err).toContain('error: the lock of this run was taken away');
    expect(bench.wire.writes()).toEqual([]);
    expect((await storeOf(stack).read()).known).toBe(false);
    expect(await storeOf(stack).listEntries(1)).toEqual([]);
  });

  it('goes on when it is still its own', async () => {
    const { bench, ran } = await applyWhile(async () => letTimePass());
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(await bench.idsOf('app-29')).toHaveLength(1);
  });
});

describe('a run whose lock is taken away while it reads whether anything is left', () => {
  /** An apply that has written all; something happens during the plan that it makes afterwards. */
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
    await held(stack);
    await store.write({ ...(await store.read()), approved: theirs });
  }

  it('leaves the approved plan of its successor in the ledger, says so, and exits with 1', async () => {
    const { stack, ran } = await applyUntil(overtaken);
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toContain('was written by another run meanwhile');
    expect(ran.out).not.toContain('nothing is left to do');
    expect((await storeOf(stack).read()).approved).toEqual(theirs);
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
  });

  it('reads its lock before it forgets what was approved', async () => {
    const { stack, ran } = await applyUntil(async (at) => {
      await takenByHand(at);
      letTimePass();
    });
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toContain('error: the lock of this run was taken away: ann holds it');
    expect((await storeOf(stack).read()).approved).toBeDefined();
  });

  it('says so and exits with 1 also when there is nothing more to write', async () => {
    const { stack, ran } = await applyUntil(takenByHand, '--yes');
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toBe('error: somebody took the lock of this run away while it was working\n');
    expect(await storeOf(stack).readLock()).toMatchObject({ id: 'lock-of-ann' });
  });

  it('names that in JSON, too', async () => {
    const { ran } = await applyUntil(takenByHand, '--yes', '--format', 'json');
    expect(ran).toMatchObject({ code: 1, err: expect.not.stringContaining('error') });
    expect(JSON.parse(ran.out)).toMatchObject({
      diagnostics: [
        { code: 'lock-lost', message: 'somebody took the lock of this run away while it was working' },
      ],
    });
  });

  it('settles nothing in the history that another run has begun since', async () => {
    const { bench, stack } = await open();
    await stack.run(['apply', '--yes'], 0);
    const begun = entry('99991231T000000000Z-f00d');
    const first = async () => {
      await takenByHand(stack);
      await storeOf(stack).keepEntries([begun]);
    };
    bench.wire.add({ method: 'GET', path: /workspaces\?/, fault: { first } });
    const { err } = await stack.run(['apply', '--yes'], 1);
    expect(err).toContain(
      'error: the history lacks what this apply settled: the lock of this run was taken away',
    );
    expect(await storeOf(stack).showEntry(begun.id)).toEqual(begun);
  });
});

describe('a ledger that another run writes while an apply is under way', () => {
  it('ends the apply with one clear error, after what was done is reported', async () => {
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
