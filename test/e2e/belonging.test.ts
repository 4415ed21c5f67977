/** What is read by id proves that it belongs to the target, and more than there is cannot be all (RULES 38). */
import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json } from '../../src/model/json.ts';
import { openBench, toVersion1 } from './bench.ts';
import { consumers, workspace } from './documents.ts';

const documents = [
  workspace('app', { autoApply: true }),
  workspace('old'),
  consumers('app', { consumers: ['old'] }),
];

/** The document without what says which organization it is of. */
function withoutOrganization(body: unknown): unknown {
  const strip = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(strip);
    if (!isJsonObject(value)) return value;
    const { organization: _, ...rest } = value;
    return Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, strip(member)]));
  };
  return strip(body as Json);
}

describe('a ledger that knows workspaces of another organization', () => {
  it.each([
    ['as their documents say', (body: unknown) => body],
    ['although their documents do not say it', withoutOrganization],
  ])('writes and deletes none of them, %s', async (_, rewrite) => {
    const bench = await openBench({ others: ['other'] });
    const before = await bench.checkout();
    await before.begin(...documents);
    // A ledger of before targets had identities is taken for the one that the stack has now.
    await toVersion1(before);
    const stack = await before.become({ workspaces: { organization: 'other' } });
    await stack.declare(workspace('app', { autoApply: false }));
    bench.wire.add({ method: 'GET', path: /workspaces/, times: 1000, fault: { rewrite } });
    const plan = await stack.plan(1);
    expect(plan.coverage.complete).toBe(false);
    // Only what this organization lacks is planned, and not without a word.
    expect(plan.changes.map(({ action, address }) => `${action} ${address}`)).toEqual([
      'create Workspace/acme/app',
    ]);
    expect(plan.acknowledge).toEqual(['recreate']);
    expect(JSON.stringify(plan.coverage)).toContain('which is not in organization');
    await stack.run(['apply', '--yes'], 5);
    expect(bench.wire.writes()).toEqual([]);
    expect(await bench.idsOf('old')).toHaveLength(1);
    expect(await bench.byHand.attributes(await bench.idOf('app'))).toMatchObject({ 'auto-apply': true });
  });
});

it('more workspaces than the service counts are an incomplete look: nothing is removed', async () => {
  const bench = await openBench();
  const stack = await bench.checkout();
  await stack.begin(...documents);
  await stack.declare(workspace('app', { autoApply: true }));
  const fewer = (body: unknown) => {
    const { meta, ...rest } = body as { meta: { pagination: object } };
    return { ...rest, meta: { ...meta, pagination: { ...meta.pagination, 'total-count': 1 } } };
  };
  bench.wire.add({ path: /organizations\/acme\/workspaces\?/, times: 1000, fault: { rewrite: fewer } });
  const plan = await stack.plan(1);
  expect(plan.coverage.complete).toBe(false);
  expect(JSON.stringify(plan.coverage)).toContain('the list tells a total of 1 and gave 2');
  await stack.run(['apply', '--yes'], 1);
  expect(await bench.idsOf('old')).toHaveLength(1);
});
