/** An approval ends with its apply: the same plan is applied again only after a new approval. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type HostOptions, type CommandResult, trueup } from '../../support/captured-host.ts';
import { type Bench, type Checkout, openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';
import { planFileOf, planInto, setByHand } from '../../support/cli/two-clones.ts';

/** A stack with a plan that was approved and applied by `approval`; then somebody reverts it in the service. */
async function revertedAfter(approval: (digest: string) => readonly string[]) {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('app', { description: 'one' }));
  await stack.declare(workspace('app', { description: 'two' }));
  const { digest } = await planInto(stack);
  await stack.run(['apply', ...approval(digest)], 0);
  await setByHand(bench, 'app', { description: 'one' });
  bench.wire.reset();
  return { bench, stack, digest };
}

async function expectEnded(bench: Bench, stack: Checkout, args: readonly string[]): Promise<string> {
  const { err } = await stack.run(['apply', ...args], 4);
  expect(err).toContain('and there is something to do again');
  expect(bench.wire.writes()).toEqual([]);
  return err;
}

/** Runs a command with its own standard input or clock. */
async function runWith(
  stack: Checkout,
  own: Pick<HostOptions, 'stdin' | 'now'>,
  args: readonly string[],
  code: number,
): Promise<CommandResult> {
  const ran = await trueup(args, { cwd: stack.directory, env: stack.env, ...own });
  expect(ran.code, ran.err).toBe(code);
  return ran;
}

describe('An approval whose apply succeeded', () => {
  it('by its digest alone needs --again when there are changes again', async () => {
    const { bench, stack, digest } = await revertedAfter((one) => ['--approve', one]);
    const err = await expectEnded(bench, stack, ['--approve', digest]);
    expect(err).toContain(`"--approve ${digest} --again"`);
    await stack.run(['apply', '--approve', digest, '--again'], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
    await setByHand(bench, 'app', { description: 'one' });
    bench.wire.reset();
    await expectEnded(bench, stack, ['--approve', digest]);
  });

  it('by its plan file counts again only after a new plan file was written', async () => {
    const { bench, stack, digest } = await revertedAfter(() => ['plan.json']);
    await copyFile(planFileOf(stack), join(stack.directory, 'old.json'));
    const err = await expectEnded(bench, stack, ['plan.json']);
    expect(err).toContain('the plan file "plan.json" is not newer: plan again, and approve again');
    await expectEnded(bench, stack, ['plan.json', '--approve', digest]);
    expect((await planInto(stack)).digest).toBe(digest);
    await expectEnded(bench, stack, ['old.json']);
    await stack.run(['apply', 'plan.json', '--approve', digest], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });

  it('has ended also if the same plan was applied in another way', async () => {
    const { bench, stack, digest } = await revertedAfter(() => ['--yes']);
    await expectEnded(bench, stack, ['--approve', digest]);
    await expectEnded(bench, stack, ['plan.json']);
  });

  it('has ended also after the ledger was lost and recovered', async () => {
    const { bench, stack, digest } = await revertedAfter((one) => ['--approve', one]);
    await stack.loseLedger();
    await stack.run(['recover', '--yes'], 0);
    await expectEnded(bench, stack, ['--approve', digest]);
  });

  it('has ended also after a recovery if only some of its changes were left, or none', async () => {
    for (const byHand of [['app'], ['app', 'web']]) {
      const bench = await openBench();
      const stack = await bench.checkout();
      const both = (description: string) => ['app', 'web'].map((name) => workspace(name, { description }));
      await stack.setUp(...both('one'));
      await stack.declare(...both('two'));
      await planInto(stack);
      for (const name of byHand) await setByHand(bench, name, { description: 'two' });
      await stack.run(['apply', 'plan.json'], 0);
      for (const name of ['app', 'web']) await setByHand(bench, name, { description: 'one' });
      await stack.loseLedger();
      await stack.run(['recover', '--yes'], 0);
      bench.wire.reset();
      await expectEnded(bench, stack, ['plan.json']);
    }
  });

  it('has ended also after a recovery if it was for a selection', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'one' }), workspace('web'));
    const stdin = JSON.stringify(workspace('app', { description: 'two' }));
    await runWith(stack, { stdin }, ['plan', '--out', 'plan.json', '-'], 0);
    await runWith(stack, { stdin }, ['apply', 'plan.json', '-'], 0);
    await setByHand(bench, 'app', { description: 'one' });
    await stack.loseLedger();
    await stack.run(['recover', '--yes'], 0);
    const { err } = await runWith(stack, { stdin }, ['apply', 'plan.json', '-'], 4);
    expect(err).toContain('and there is something to do again');
  });

  it('does not count again because the clock of the machine that planned is ahead', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('app', { description: 'one' }));
    await stack.declare(workspace('app', { description: 'two' }));
    const planAt = (hours: number) => {
      const now = () => Date.now() + hours * 3_600_000;
      return runWith(stack, { now }, ['plan', '--out', 'plan.json'], 0);
    };
    const revert = async () => {
      await setByHand(bench, 'app', { description: 'one' });
      bench.wire.reset();
    };
    await planAt(24);
    await stack.run(['apply', 'plan.json'], 0);
    await revert();
    await expectEnded(bench, stack, ['plan.json']);
    // A plan that was made after that apply counts even if its clock is behind.
    await planAt(-24);
    await stack.run(['apply', 'plan.json'], 0);
    await revert();
    await expectEnded(bench, stack, ['plan.json']);
  });

  it.each([
    ['digest', (digest: string) => ['--approve', digest]],
    ['plan file', () => ['plan.json']],
  ])('exits with 0 when the same %s is given again and nothing is left to do', async (_, approval) => {
    const { bench, stack, digest } = await revertedAfter(approval);
    await stack.run(['apply', '--approve', digest, '--again'], 0);
    bench.wire.reset();
    const ended = (await stack.ledger()) as unknown as { endedApprovals: Record<string, string> };
    const { out } = await stack.run(['apply', ...approval(digest)], 0);
    expect(out).toContain(
      `The approval of the plan "${digest}" ended at ${ended.endedApprovals[digest]}; nothing is left to do`,
    );
    expect(bench.wire.writes()).toEqual([]);
    expect(await stack.ledger()).toEqual(ended);
  });
});

describe('An approval whose apply failed', () => {
  it.each([
    ['digest', (digest: string) => ['--approve', digest]],
    ['plan file', () => ['plan.json']],
  ])('is used when the same job runs again with its %s', async (_, approval) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(workspace('app'), workspace('web'));
    const { digest } = await planInto(stack);
    bench.wire.add({ method: 'POST', path: /workspaces/, times: 1, fault: { answer: 422 } });
    await stack.run(['apply', ...approval(digest)], 6);
    expect(await stack.ledger()).not.toHaveProperty('endedApprovals');
    await stack.run(['apply', ...approval(digest)], 0);
    expect(await stack.ledger()).toHaveProperty(['endedApprovals', digest]);
  });

  it.each([
    ['--yes', async () => ['--yes']],
    [
      'other plan files',
      async (stack: Checkout, bench: Bench) => {
        // The first of them fails as well.
        await stack.run(['plan', '--out', 'rest.json'], 0);
        await stack.run(['apply', 'rest.json'], 6);
        bench.wire.reset();
        await stack.run(['plan', '--out', 'last.json'], 0);
        return ['last.json'];
      },
    ],
  ])('ends once the rest is applied by %s', async (_, applyingRest) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const all = (description: string) =>
      ['app', 'mid', 'web'].map((name) => workspace(name, { description }));
    await stack.setUp(...all('one'));
    await stack.declare(...all('two'));
    await planInto(stack);
    const ids = await Promise.all(['mid', 'web'].map((name) => bench.idOf(name)));
    const refuse = (id: string | undefined, times: number) =>
      bench.wire.add({ method: 'PATCH', path: new RegExp(`${id}`), times, fault: { answer: 422 } });
    refuse(ids[0], 1);
    refuse(ids[1], 2);
    await stack.run(['apply', 'plan.json'], 6);
    const rest = await applyingRest(stack, bench);
    bench.wire.reset();
    await stack.run(['apply', ...rest], 0);
    for (const name of ['app', 'mid', 'web']) await setByHand(bench, name, { description: 'one' });
    bench.wire.reset();
    await expectEnded(bench, stack, ['plan.json']);
  });

  it('stays open after a selection was applied, and ends with a later apply of the whole stack', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    const all = (description: string) => ['app', 'web'].map((name) => workspace(name, { description }));
    await stack.setUp(...all('one'), workspace('job'));
    const declareAll = () => stack.declare(...all('two'), workspace('job'));
    await declareAll();
    const { digest } = await planInto(stack);
    const id = await bench.idOf('web');
    bench.wire.add({ method: 'PATCH', path: new RegExp(`${id}`), times: 2, fault: { answer: 422 } });
    await stack.run(['apply', 'plan.json'], 6);
    const selection = JSON.stringify(workspace('job', { description: 'selected' }));
    await runWith(stack, { stdin: selection }, ['apply', '-', '--yes'], 0);
    expect(await stack.ledger()).toMatchObject({ approved: { digest } });
    // Still open: the same job continues, and the service refuses its write once more.
    await setByHand(bench, 'job', { description: null });
    await stack.run(['apply', '--approve', digest], 1);
    await stack.declare(...all('three'), workspace('job'));
    await stack.run(['apply', '--yes'], 0);
    for (const name of ['app', 'web']) await setByHand(bench, name, { description: 'one' });
    await declareAll();
    bench.wire.reset();
    await expectEnded(bench, stack, ['plan.json']);
  });

  it('needs no second --again after an apply with --again failed', async () => {
    const { bench, stack, digest } = await revertedAfter((one) => ['--approve', one]);
    bench.wire.add({ method: 'PATCH', path: /workspaces/, times: 9, fault: { answer: 422 } });
    await stack.run(['apply', '--approve', digest, '--again'], 1);
    bench.wire.reset();
    await stack.run(['apply', '--approve', digest], 0);
    expect(bench.written()).toEqual(['PATCH /api/v2/workspaces/ws-…']);
  });
});

it('--again needs --approve without a plan file', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.declare(workspace('app'));
  await planInto(stack);
  for (const args of [['--yes'], ['plan.json']]) {
    const { err } = await stack.run(['apply', ...args, '--again'], 1);
    expect(err).toContain('"--again" goes with "--approve" and a digest alone');
  }
});
