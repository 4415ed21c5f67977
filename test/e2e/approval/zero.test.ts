/** The guard "zero" counts what is declared: resources that are kept do not hide that nothing else remains. */
import { expect, it } from 'vitest';
import { openBench } from '../../support/cli/bench.ts';
import { role, workspace } from '../../support/cli/documents.ts';

it('Apply blocks the deletion of all declared workspaces even if a protected one stays', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(
    role('other'),
    workspace('one'),
    workspace('two'),
    workspace('kept', {}, { protect: true }),
  );
  await stack.declare(role('other'));
  bench.wire.reset();
  const { guards } = await stack.plan();
  expect(guards.find(({ id }) => id === 'zero')).toMatchObject({
    effect: 'blocks',
    message:
      '2 of 3 Workspace that this stack owns in "acme" would be deleted or released; no other of them is declared',
  });
  await stack.run(['apply', '--yes'], 5);
  expect(bench.wire.writes()).toEqual([]);
});

it('Apply deletes some of several workspaces without the guard', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(workspace('one'), workspace('two'), workspace('three'));
  await stack.declare(workspace('two'), workspace('three'));
  expect((await stack.plan()).guards.map(({ id }) => id)).not.toContain('zero');
  await stack.run(['apply', '--yes'], 0);
});

it('Accept blocks the removal of the manifests of all declared roles, even if another role has a record', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(role('one'), role('two'), role('kept'));
  const changed = {
    bound_service_account_names: ['app'],
    bound_service_account_namespaces: ['x'],
    token_ttl: 77,
  };
  await bench.byHandMount('POST', 'role/kept', changed);
  await stack.declare(role('one'), role('two'));
  await stack.run(['apply', '--yes'], 0);
  expect((await stack.ledger()).records).toHaveProperty(['ClusterAuthRole/prod/kept']);
  for (const name of ['one', 'two', 'kept']) await bench.byHandMount('DELETE', `role/${name}`);
  const { err } = await stack.run(['accept', '--all', '--remove', '--yes'], 5);
  expect(err).toContain('zero: 2 of 3 ClusterAuthRole');
});
