/** Guards compare a part with all resources of the stack, and add up deletes of parts within a day. */
import { describe, expect, it } from 'vitest';
import { type Bench, type Checkout, openBench, secrets } from '../../support/cli/bench.ts';
import { removalRequest, workspace } from '../../support/cli/documents.ts';
import { trueup } from '../../support/captured-host.ts';
import { selecting } from '../../support/selection/parts.ts';

const names = Array.from({ length: 12 }, (_, index) => `w${String(index + 1).padStart(2, '0')}`);
const hour = 3_600_000;

interface Clocked {
  readonly bench: Bench;
  readonly stack: Checkout;
  /** Runs a command so many hours later. */
  at(hours: number, args: readonly string[], code: number): Promise<string>;
}

/** Twelve applied workspaces, with removal requests for all but the last two. */
async function openRemoving(spec: object): Promise<Clocked> {
  const bench = await openBench();
  const stack = await bench.checkout({ spec });
  await stack.setUp(...names.map((name) => workspace(name)));
  await stack.declare(
    ...names.slice(0, 10).map((name) => removalRequest('Workspace', name, 'safe')),
    ...names.slice(10).map((name) => workspace(name)),
  );
  const begin = Date.now();
  const at = async (hours: number, args: readonly string[], code: number) => {
    const now = () => begin + hours * hour;
    const ran = await trueup(args, { cwd: stack.directory, env: secrets, now });
    expect(ran, ran.out + ran.err).toMatchObject({ code });
    // Without the line breaks for the width of a terminal.
    return `${ran.out}${ran.err}`.replace(/\s+/g, ' ');
  };
  return { bench, stack, at };
}

const part = (...numbers: number[]) =>
  selecting(...numbers.map((number) => `Workspace/acme/${names[number - 1]}`));

describe('Deletes of parts', () => {
  it('add up within 24 hours, for the next part and for the whole stack', async () => {
    const { bench, at } = await openRemoving({ guards: { maxDeletes: 3, maxDeletePercent: 100 } });
    await at(0, ['apply', ...part(1, 2), '--yes'], 0);
    await at(1, ['apply', ...part(3), '--yes'], 0);
    const output = await at(2, ['apply', ...part(4), '--yes'], 5);
    expect(output).toContain(
      '4 of 12 Workspace in "acme" would be deleted or released, 3 of them by applies of parts of the stack within the last 24 hours, more than 3',
    );
    expect(await at(2, ['plan', '--format', 'json', ...part(4)], 0)).toContain('"deletes"');
    await at(2, ['apply', '--yes'], 5);
    expect(await bench.idsOf('w04')).toHaveLength(1);
    // A part without deletes is not affected.
    await at(2, ['apply', ...selecting('Workspace/acme/w11'), '--yes'], 0);
    await at(25.5, ['apply', ...part(4), '--yes'], 0);
  });

  it('add up for the percentage of all resources of the stack, too', async () => {
    const { at } = await openRemoving({ guards: { maxDeletes: 100, maxDeletePercent: 25 } });
    await at(0, ['apply', ...part(1, 2, 3), '--yes'], 0);
    const output = await at(1, ['apply', ...part(4), '--yes'], 5);
    expect(output).toContain('4 of 12 Workspace in "acme" would be deleted or released');
    expect(output).toContain('33.3 %, more than 25 %');
  });

  it('count only once if a failed apply is repeated', async () => {
    const { bench, at } = await openRemoving({ guards: { maxDeletes: 3, maxDeletePercent: 100 } });
    bench.wire.add({ path: /actions\/safe-delete/, fault: { answer: 500 }, times: 99 });
    await at(0, ['apply', ...part(1, 2, 3), '--yes'], 1);
    bench.wire.reset();
    await at(1, ['apply', ...part(1, 2, 3), '--yes'], 0);
    await at(2, ['apply', ...part(4), '--yes'], 5);
  });

  it('stay counted after the history was pruned', async () => {
    const { stack, at } = await openRemoving({ guards: { maxDeletes: 3, maxDeletePercent: 100 } });
    await at(0, ['apply', ...part(1, 2, 3), '--yes'], 0);
    await stack.declare(...names.slice(3).map((name) => workspace(name, { description: 'kept' })));
    await at(1, ['apply', '--yes'], 0);
    await stack.declare(
      removalRequest('Workspace', 'w04', 'safe'),
      ...names.slice(4).map((name) => workspace(name, { description: 'kept' })),
    );
    await at(2, ['ledger', 'prune', '--older-than', '30m', '--yes'], 0);
    await at(3, ['apply', ...part(4), '--yes'], 5);
    await at(25, ['ledger', 'prune', '--older-than', '30m', '--yes'], 0);
    await at(25, ['apply', ...part(4), '--yes'], 0);
  });

  it('do not add up for applies of the whole stack', async () => {
    const { stack, at } = await openRemoving({ guards: { maxDeletes: 3, maxDeletePercent: 100 } });
    const declare = (removed: number) =>
      stack.declare(
        ...names.slice(0, removed).map((name) => removalRequest('Workspace', name, 'safe')),
        ...names.slice(removed).map((name) => workspace(name)),
      );
    await declare(3);
    await at(0, ['apply', '--yes'], 0);
    await declare(6);
    await at(1, ['apply', '--yes'], 0);
  });
});

describe('A guard of a part', () => {
  it('counts against all resources of the stack, and not against the part', async () => {
    const { stack, at } = await openRemoving({ guards: { maxDeletes: 100, maxDeletePercent: 20 } });
    const plan = JSON.parse(await at(0, ['plan', '--format', 'json', ...part(1, 2)], 0));
    expect(plan.guards).toEqual([]);
    const three = JSON.parse(await at(0, ['plan', '--format', 'json', ...part(1, 2, 3)], 0));
    expect(three.guards).toMatchObject([{ id: 'delete-percent', counted: 3, of: 12 }]);
    void stack;
  });

  it('fires for the last declared resource of a kind, even if others are left out', async () => {
    const { stack, at } = await openRemoving({});
    await stack.declare(...names.slice(0, 1).map((name) => removalRequest('Workspace', name, 'safe')));
    const plan = JSON.parse(await at(0, ['plan', '--format', 'json', ...part(1)], 0));
    expect(plan.part.leftOut).toBe(11);
    expect(plan.acknowledge).toContain('zero');
  });
});
