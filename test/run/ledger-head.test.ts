import { describe, expect, it } from 'vitest';
import { type HeadInput, ledgerHead } from '../../src/run/ledger-head.ts';
import type { CommitOrder } from '../../src/model/checkout.ts';
import { at, desired, ledgerOf, planOf, stack } from '../support/sample-kinds/sample-plan.ts';

const before = { id: 'later' };
const behind: CommitOrder = { is: 'behind', applied: 'later', ours: 'earlier', differs: true };
const idle = planOf({}).plan;
const busy = planOf({ desired: [desired(at('Parent', 'app'))] }).plan;

function commitAfter(about: Partial<HeadInput>) {
  const from = { commit: 'earlier', dirty: false };
  const ledger = { ...ledgerOf({}), commit: before };
  return ledgerHead({ ledger, stack, plan: busy, from, orders: [], ...about }).commit;
}

describe('the commit that was applied', () => {
  it('is the commit of the manifests, even if there were no changes', () => {
    expect(commitAfter({ orders: [{ is: 'ahead' }] })).toEqual({ id: 'earlier' });
    expect(commitAfter({ orders: [{ is: 'ahead' }], plan: idle })).toEqual({ id: 'earlier' });
    expect(commitAfter({ from: { commit: 'earlier', dirty: true } })).toEqual({ id: 'earlier', dirty: true });
  });

  it('can become an older one after an acknowledgement', () => {
    expect(commitAfter({ orders: [behind] })).toEqual({ id: 'earlier' });
  });

  it('stays the newer one if the older one reverted nothing', () => {
    expect(commitAfter({ orders: [behind], plan: idle })).toEqual(before);
    expect(commitAfter({ orders: [{ ...behind, differs: false }] })).toEqual(before);
  });

  it('does not change if there are no changes, but the read was incomplete', () => {
    const unread = { ...idle, coverage: { ...idle.coverage, complete: false } };
    expect(commitAfter({ orders: [{ is: 'ahead' }], plan: unread })).toEqual(before);
    expect(commitAfter({ orders: [{ is: 'ahead' }], plan: idle })).toEqual({ id: 'earlier' });
  });

  it("keeps a commit of another branch as well, unless the stack's files are the same", () => {
    const othersAfter = (orders: readonly CommitOrder[]) => {
      const ledger = { ...ledgerOf({}), commit: before, otherCommits: [{ id: 'branch' }] };
      const from = { commit: 'earlier', dirty: false };
      return ledgerHead({ ledger, stack, plan: busy, from, orders }).otherCommits;
    };
    const diverged: CommitOrder = { is: 'diverged', applied: 'branch', ours: 'earlier', differs: true };
    expect(othersAfter([behind, diverged])).toEqual([before, { id: 'branch' }]);
    expect(othersAfter([{ is: 'ahead' }, diverged])).toEqual([{ id: 'branch' }]);
    expect(othersAfter([{ is: 'ahead' }, { ...diverged, differs: false }])).toEqual([]);
    expect(othersAfter([{ is: 'unknown', applied: 'later', why: 'no git' }, { is: 'ahead' }])).toEqual([
      before,
    ]);
  });

  it('does not change without a commit now', () => {
    expect(commitAfter({ from: { why: 'there is no git' } })).toEqual(before);
  });
});
