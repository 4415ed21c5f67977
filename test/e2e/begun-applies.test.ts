/** Guards of an apply that was begun and goes on: what nobody was shown when it was approved stops it (RULES 28, 33). */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localLedger } from '../../src/ledger/local-file.ts';
import type { ApprovedPlan } from '../../src/model/ledger.ts';
import { type Checkout, openBench } from './bench.ts';
import { workspace } from './documents.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, index) => workspace(`app-${index}`));

describe('an apply that was begun, and goes on', () => {
  const refuse = { method: 'POST', path: /workspaces$/, body: /"y"/, fault: { answer: 422 } } as const;

  async function approvedOf(stack: Checkout): Promise<unknown> {
    return ((await stack.ledger()) as { readonly approved?: unknown }).approved;
  }

  it('is stopped by a guard that nobody was shown when it was approved', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(workspace('keep'));
    await stack.declare(workspace('keep'), workspace('x'), workspace('y'));
    const { digest } = await stack.plan();
    bench.wire.add(refuse);
    await stack.run(['apply', '--approve', digest], 6);
    expect(await approvedOf(stack)).toMatchObject({ passed: [] });
    await bench.byHand.delete(`/workspaces/${await bench.idOf('x')}`);
    bench.wire.reset();
    const { err } = await stack.run(['apply', '--approve', digest], 5);
    expect(err).toContain('1 guard blocks this plan: recreate');
    expect(bench.wire.writes()).toEqual([]);
    bench.wire.add(refuse);
    await stack.run(['apply', '--approve', digest, '--ack', 'recreate'], 6);
    expect(await approvedOf(stack)).toMatchObject({ digest, passed: ['recreate'] });
  });

  it('passes those that were acknowledged when it began, and asks for them no more', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(...numbered(7));
    await stack.declare(...numbered(3), workspace('y'));
    const { digest } = await stack.plan();
    bench.wire.add(refuse);
    await stack.run(['apply', '--approve', digest], 5);
    await stack.run(['apply', '--approve', digest, '--ack', 'deletes'], 6);
    await stack.run(['apply', '--approve', digest], 0);
    expect(await bench.idsOf('y')).toHaveLength(1);
  });

  it('passes none by an approval of before they were kept with it', async () => {
    const bench = await openBench();
    const stack = await bench.checkout();
    await stack.begin(...numbered(7));
    await stack.declare(...numbered(3));
    const { digest } = await stack.plan();
    const ack = ['--ack', 'deletes'];
    bench.wire.add({ method: 'POST', path: /safe-delete/, times: 4, fault: { answer: 403 } });
    await stack.run(['apply', '--approve', digest, ...ack], 1);
    const store = localLedger(join(stack.directory, '.trueup/payments.ledger.json'), 'payments');
    const ledger = await store.read();
    const { passed, ...approved } = ledger.approved ?? {};
    expect(passed).toEqual(['deletes']);
    await store.write({ ...ledger, approved: approved as ApprovedPlan });
    expect((await stack.run(['apply', '--approve', digest], 5)).err).toContain('deletes');
    await stack.run(['apply', '--approve', digest, ...ack], 0);
  });
});
