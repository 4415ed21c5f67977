/** A manifest that keeps its `adopt: true`: it applies to the resource that was adopted, but to no later one of that name. */
import { describe, expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { tagBindings, workspace } from '../../support/cli/documents.ts';

const allowed = { spec: { guards: { allow: ['adopt'] } } };

describe('A standing "adopt: true"', () => {
  const replacedByAnotherTeam = async (
    document = workspace('app', { description: 'ours' }, { adopt: true }),
  ) => {
    const bench = await openBench();
    await bench.byHand.create({ name: 'app' });
    const stack = await bench.checkout(allowed);
    await stack.declare(document);
    await stack.run(['apply', '--yes'], 0);
    await bench.byHand.delete(`/workspaces/${await bench.idOf('app')}`);
    await bench.byHand.create({ name: 'app', description: 'of another team' });
    bench.wire.reset();
    return { bench, stack };
  };

  it('is blocked by the guard "adopt" for a later workspace, even if the stack allows the guard', async () => {
    const { bench, stack } = await replacedByAnotherTeam();
    const { guards } = await stack.plan();
    expect(guards).toMatchObject([{ id: 'adopt', effect: 'blocks' }]);
    const { out } = await stack.run(['apply', '--yes'], 5);
    expect(out.replace(/\s+/g, ' ')).toMatch(
      /the ledger has "ws-\w+" under this name, but the live resource is "ws-\w+"/,
    );
    expect(bench.written()).toEqual([]);
    await stack.applyAcknowledged();
    expect(await bench.tagsOf('app')).toHaveProperty('trueup-stack');
    await stack.run(['plan', '--exit-code'], 0);
  });

  it('is blocked also if nothing differs', async () => {
    const { stack } = await replacedByAnotherTeam(workspace('app', {}, { adopt: true }));
    await stack.run(['apply', '--yes'], 5);
  });

  it('is blocked also if only tags were adopted', async () => {
    const { bench, stack } = await replacedByAnotherTeam(
      tagBindings('app', { tags: { team: 'ours' } }, { adopt: true }),
    );
    await stack.run(['apply', '--yes'], 5);
    expect(bench.written()).toEqual([]);
  });

  it('adopts the first time without a guard', async () => {
    const bench = await openBench();
    await bench.byHand.create({ name: 'app' });
    const stack = await bench.checkout();
    await stack.declare(workspace('app', { description: 'ours' }, { adopt: true }));
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});
