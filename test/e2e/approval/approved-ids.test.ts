/** An approval covers the resources that the reviewer saw, not others that have their names later. */
import { describe, expect, it } from 'vitest';
import { type Bench, openBench } from '../../support/cli/bench.ts';
import { consumers, tagBindings, workspace, role } from '../../support/cli/documents.ts';
import { planInto } from '../../support/cli/two-clones.ts';

/** Somebody deletes a workspace and makes another one of the same name. */
async function replaceByHand(bench: Bench, name: string): Promise<{ was: string; is: string }> {
  const was = await bench.idOf(name);
  await bench.byHand.delete(`/workspaces/${was}`);
  await bench.byHand.created({ name });
  return { was, is: await bench.idOf(name) };
}

describe('An approved plan is not applied to another workspace that has the name now', () => {
  it('when it adopts the workspace', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await bench.byHand.created({ name: 'app' });
    await stack.declare(workspace('app', { description: 'one' }, { adopt: true }));
    const { digest } = await planInto(stack);
    const { was, is } = await replaceByHand(bench, 'app');
    bench.wire.reset();
    const { out } = await stack.run(['apply', 'plan.json'], 4);
    expect(out).toMatch(new RegExp(`approved +${was}\n +now +${is}\n`));
    await stack.run(['apply', '--approve', digest], 4);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('when it adopts the tags of the workspace', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await bench.byHand.created({ name: 'app' });
    await stack.declare(tagBindings('app', { tags: { team: 'a' } }, { adopt: true }));
    const { digest } = await planInto(stack);
    await replaceByHand(bench, 'app');
    bench.wire.reset();
    await stack.run(['apply', 'plan.json'], 4);
    await stack.run(['apply', '--approve', digest], 4);
    expect(bench.wire.writes()).toEqual([]);
  });

  it('when it gives the workspace access to a state', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(workspace('net'));
    await bench.byHand.created({ name: 'app' });
    await stack.declare(workspace('net'), consumers('net', { consumers: ['app'] }));
    const plan = await planInto(stack);
    expect(plan.changes).toEqual([
      expect.objectContaining({ references: { 'Workspace/acme/app': await bench.idOf('app') } }),
    ]);
    const { was, is } = await replaceByHand(bench, 'app');
    bench.wire.reset();
    const { out } = await stack.run(['apply', 'plan.json'], 4);
    expect(out).toMatch(new RegExp(`id of Workspace/acme/app\n +approved +${was}\n +now +${is}\n`));
    await stack.run(['apply', '--approve', plan.digest], 4);
    expect(bench.wire.writes()).toEqual([]);
  });
});

describe('An approved plan that creates a workspace and gives it access to a state', () => {
  const documents = [workspace('net'), workspace('app'), consumers('net', { consumers: ['app'] })];

  it.each([
    ['its digest', (digest: string) => ['--approve', digest]],
    ['its file', () => ['plan.json']],
  ])('can be continued by %s after it was interrupted', async (_, approval) => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(...documents);
    const { digest, changes } = await planInto(stack);
    expect(changes.map(({ references }) => references)).toContainEqual({
      'Workspace/acme/app': 'Workspace/acme/app',
    });
    bench.wire.add({ method: 'POST', path: /remote-state-consumers/, times: 9, fault: { answer: 422 } });
    await stack.run(['apply', ...approval(digest)], 6);
    bench.wire.reset();
    await stack.run(['apply', ...approval(digest)], 0);
    expect(bench.written()).toEqual(['POST /api/v2/workspaces/ws-…/relationships/remote-state-consumers']);
  });

  it('stops if somebody else created a workspace with that name', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.declare(...documents);
    const { digest } = await planInto(stack);
    bench.wire.add({ method: 'POST', path: /remote-state-consumers/, times: 9, fault: { answer: 422 } });
    await stack.run(['apply', '--approve', digest], 6);
    await replaceByHand(bench, 'app');
    await stack.declare(workspace('net'), consumers('net', { consumers: ['app'] }));
    bench.wire.reset();
    await stack.run(['apply', '--approve', digest], 4);
    await stack.run(['apply', 'plan.json'], 4);
    expect(bench.wire.writes()).toEqual([]);
  });
});

it('An approval that widens a role does not cover access that the plan did not show', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  const spec = { boundServiceAccountNames: ['web'], boundServiceAccountNamespaces: ['app'] };
  await stack.setUp(role('web', spec));
  await stack.declare(role('web', { ...spec, boundServiceAccountNames: ['*'] }));
  const { digest, acknowledge } = await stack.plan();
  await bench.byHandMount('POST', 'role/web', { token_policies: ['root'] });
  await stack.run(['apply', '--approve', digest, '--ack', acknowledge.join(',')], 4);
});
