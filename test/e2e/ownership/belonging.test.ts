/** A resource that is read by id must belong to the target, and a list with more items than its total is incomplete. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../../src/ledger/local-ledger.ts';
import { isJsonObject, type Json } from '../../../src/model/json.ts';
import { openBench, toVersion1 } from '../../support/cli/bench.ts';
import { consumers, role, workspace } from '../../support/cli/documents.ts';

const documents = [
  workspace('app', { autoApply: true }),
  workspace('old'),
  consumers('app', { consumers: ['old'] }),
];

/** Removes the organization from a document. */
function withoutOrganization(body: unknown): unknown {
  const strip = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(strip);
    if (!isJsonObject(value)) return value;
    const { organization: _, ...rest } = value;
    return Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, strip(member)]));
  };
  return strip(body as Json);
}

describe('a stack whose ledger has workspaces of another organization', () => {
  it.each([
    ['if their documents name that organization', (body: unknown) => body],
    ['if their documents do not name it', withoutOrganization],
  ])('neither writes nor deletes them, %s', async (_, rewrite) => {
    const bench = await openBench({ others: ['other'] });
    const before = await bench.checkout();
    await before.setUp(...documents);
    // A ledger from before targets had identities counts as the ledger of the present targets.
    await toVersion1(before);
    const stack = await before.reconfigure({ workspaces: { organization: 'other' } });
    await stack.declare(workspace('app', { autoApply: false }));
    bench.wire.add({ method: 'GET', path: /workspaces/, times: 1000, fault: { rewrite } });
    const plan = await stack.plan(9);
    expect(plan.coverage.complete).toBe(false);
    expect(plan.changes).toEqual([]);
    expect(plan.problems).toMatchObject([
      { code: 'target-moved', found: expect.stringContaining('other at http') },
    ]);
    expect(plan.problems[0]?.message).toMatch(/the workspace "app" \(ws-\w+\) is (not )?in organization/);
    expect(plan.coverage.ledgerNotes).toEqual([
      'from an earlier version: it does not have the addresses of its targets',
    ]);
    const { out } = await stack.run(['apply', '--yes'], 9);
    expect(out).toContain('trueup recover --moved acme');
    expect(bench.wire.writes()).toEqual([]);
    expect(await bench.idsOf('old')).toHaveLength(1);
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({ 'auto-apply': true });
  });
});

describe('"recover --moved" for a ledger with workspaces of another organization', () => {
  const pointed = { workspaces: { organization: 'other' }, clusterAuth: { mount: 'second' } };
  const recover = (target: string) => ['recover', '--moved', target, '--yes'];

  it('keeps only what the new address proves, for each target whose address was not recorded', async () => {
    const bench = await openBench({ others: ['other'], mounts: ['cluster', 'second'] });
    const before = await bench.checkout();
    await before.setUp(...documents, role('web'));
    await toVersion1(before);
    const stack = await before.reconfigure(pointed);
    await stack.declare(workspace('app', { autoApply: true }), role('web'));
    const { problems, changes } = await stack.plan(9);
    expect(changes).toEqual([]);
    expect(problems.map(({ code, fix }) => [code, fix?.split(' ').at(-1)])).toEqual([
      ['target-moved', 'acme'],
      ['target-moved', 'prod'],
    ]);
    const { out } = await stack.run(recover('acme'), 0);
    expect(out).toMatch(/Workspace\/acme\/old: no resource with its id ws-\w+ was found/);
    // If one address was wrong, those of the other targets are uncertain, too.
    expect((await stack.plan(9)).problems).toMatchObject([{ code: 'target-moved' }]);
    await stack.run(recover('prod'), 0);
    expect((await stack.ledger()).records).toEqual({});
    const plan = await stack.plan();
    expect(plan.acknowledge).toEqual([]);
    expect(plan.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
      'create Workspace/acme/app',
      'create ClusterAuthRole/prod/web',
    ]);
  });

  it('keeps all records of a target whose address did not change', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.setUp(...documents, role('web'));
    const { records } = await stack.ledger();
    await toVersion1(stack);
    for (const target of ['acme', 'prod']) await stack.run(recover(target), 0);
    expect((await stack.ledger()).records).toEqual(records);
    await stack.run(['plan', '--exit-code'], 0);
  });

  /** A ledger of an apply that mistook records of `acme` for records of `other`. */
  async function withMistakenRecords() {
    const bench = await openBench({ others: ['other'] });
    const before = await bench.checkout();
    await before.setUp(workspace('app'), workspace('old'));
    const stack = await before.reconfigure({ workspaces: { organization: 'other' } });
    const store = localLedger(join(stack.directory, '.trueup', 'payments.ledger.json'), 'payments');
    await store.write({
      ...(await store.read()),
      targets: new Map([['acme', `workspaces other at ${bench.wire.url}`]]),
    });
    await stack.declare(workspace('new'));
    return { bench, stack };
  }

  it('works also when the ledger has the wrong address', async () => {
    const { stack } = await withMistakenRecords();
    expect((await stack.plan(9)).problems).toMatchObject([{ code: 'target-moved' }]);
    await stack.run(recover('acme'), 0);
    expect((await stack.plan()).changes).toMatchObject([{ action: 'create', address: 'Workspace/acme/new' }]);
    expect((await stack.run(recover('acme'), 1)).err).toContain('nothing has moved');
  });

  it('works also when the other organization refuses reads', async () => {
    const { bench, stack } = await withMistakenRecords();
    bench.wire.add({ path: /workspaces\/ws-/, times: 1000, fault: { answer: 403, body: { errors: [] } } });
    const plan = await stack.plan(1);
    // A failed read of another workspace adds no note to a new one.
    expect(plan.changes).toMatchObject([{ address: 'Workspace/acme/new', notes: [] }]);
    await stack.run(recover('acme'), 0);
    await stack.plan(0);
  });
});

it('a list with more workspaces than its total is an incomplete read: nothing is removed', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.setUp(...documents);
  await stack.declare(workspace('app', { autoApply: true }));
  const fewer = (body: unknown) => {
    const { meta, ...rest } = body as { meta: { pagination: object } };
    return { ...rest, meta: { ...meta, pagination: { ...meta.pagination, 'total-count': 1 } } };
  };
  bench.wire.add({ path: /organizations\/acme\/workspaces\?/, times: 1000, fault: { rewrite: fewer } });
  const plan = await stack.plan(1);
  expect(plan.coverage.complete).toBe(false);
  expect(JSON.stringify(plan.coverage)).toContain('the list has a total of 1, but 2 items');
  await stack.run(['apply', '--yes'], 1);
  expect(await bench.idsOf('old')).toHaveLength(1);
});
