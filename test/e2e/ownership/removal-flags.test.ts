/**
 * `protect` and `onRemove` without an ownership tag: of a role, and of a workspace with `ownership: ledger`. They are planned,
 * approved and recorded like any other field, and recording them sends nothing.
 */
import { describe, expect, it } from 'vitest';
import { openBench, type Checkout } from '../../support/cli/bench.ts';
import { type Document, role, workspace } from '../../support/cli/documents.ts';

const owns = { clusterAuth: { owns: ['*'] }, workspaces: { ownership: 'ledger' } };

const declared: readonly (readonly [string, (name: string, metadata?: object) => Document])[] = [
  ['ClusterAuthRole/prod', (name, metadata) => role(name, {}, metadata)],
  ['Workspace/acme', (name, metadata) => workspace(name, {}, metadata)],
];

const fieldsOf = async (stack: Checkout, code = 0) => {
  const { changes } = await stack.plan(code);
  return changes.flatMap(({ address, action, calls, fields }) =>
    fields.map(({ path, before, after }) => [address, action, calls.length, path, before, after]),
  );
};

describe.each(declared)('protect and onRemove of a %s', (place, document) => {
  const begun = async () => {
    const bench = await openBench();
    const stack = await bench.checkout(owns);
    await stack.setUp(document('a'), document('b'));
    return { bench, stack };
  };

  it('are a change of the plan, which apply records without a request', async () => {
    const { bench, stack } = await begun();
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(document('a', { protect: true, onRemove: 'release' }), document('b'));
    await stack.run(['plan', '--exit-code'], 2);
    expect(await fieldsOf(stack)).toEqual([
      [`${place}/a`, 'update', 0, '/protect', false, true],
      [`${place}/a`, 'update', 0, '/onRemove', undefined, 'release'],
    ]);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual([]);
    expect((await stack.ledger()).records[`${place}/a`]).toMatchObject({
      protect: true,
      onRemove: 'release',
    });
    await stack.run(['plan', '--exit-code'], 0);
    await stack.declare(document('b'));
    expect((await stack.run(['apply', '--yes'], 0)).out).toContain('protected: it is kept');
  });

  it('can be removed by a plan, too, and then a delete is planned', async () => {
    const { stack } = await begun();
    await stack.setUp(document('a', { protect: true, onRemove: 'release' }), document('b'));
    await stack.declare(document('a'), document('b'));
    expect(await fieldsOf(stack)).toEqual([
      [`${place}/a`, 'update', 0, '/protect', true, false],
      [`${place}/a`, 'update', 0, '/onRemove', 'release', undefined],
    ]);
    await stack.run(['apply', '--yes'], 0);
    await stack.declare(document('b'));
    expect((await stack.plan()).changes.map(({ action }) => action)).toEqual(['delete']);
  });

  it('have another digest than a plan without them, and an approval of it does not cover them', async () => {
    const { stack } = await begun();
    const { digest } = await stack.plan();
    await stack.declare(document('a', { protect: true }), document('b'));
    expect((await stack.plan()).digest).not.toBe(digest);
    await stack.run(['apply', '--approve', digest], 4);
  });

  it('are reported as pending, not as drift', async () => {
    const { stack } = await begun();
    await stack.declare(document('a', { protect: true }), document('b'));
    const drift = JSON.parse((await stack.run(['drift', '--format', 'json'], 0)).out);
    expect(drift.drifted).toEqual([]);
    expect(drift.pending).toMatchObject([
      { address: `${place}/a`, fields: [{ path: '/protect', after: true }] },
    ]);
  });

  it('do not count for update-percent', async () => {
    const bench = await openBench();
    const stack = await bench.checkout(owns);
    const names = [...'abcdefghijkl'];
    await stack.setUp(...names.map((name) => document(name)));
    await stack.declare(...names.map((name) => document(name, { protect: true })));
    const { guards, changes } = await stack.plan();
    expect(changes).toHaveLength(12);
    expect(guards).toEqual([]);
    await stack.run(['apply', '--yes'], 0);
    expect(bench.written()).toEqual([]);
  });

  it('are shown with a create and recorded by it', async () => {
    const { stack } = await begun();
    await stack.declare(document('a'), document('b'), document('c', { protect: true }));
    expect(await fieldsOf(stack)).toContainEqual([`${place}/c`, 'create', 1, '/protect', undefined, true]);
    await stack.run(['apply', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});

describe('A role that is adopted as it is declared', () => {
  it('trips no guard because of its protect', async () => {
    const bench = await openBench();
    const stack = await bench.checkout(owns);
    await stack.setUp(role('a'));
    await stack.loseLedger();
    await stack.declare(role('a', {}, { protect: true }));
    const { changes, guards } = await stack.plan();
    expect(changes).toMatchObject([{ action: 'adopt', calls: [] }]);
    expect(guards).toEqual([]);
    await stack.run(['recover', '--yes'], 0);
    await stack.run(['plan', '--exit-code'], 0);
  });
});
