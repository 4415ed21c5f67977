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
  it('is that of the manifests, also when there was nothing to do', () => {
    expect(commitAfter({ orders: [{ is: 'ahead' }] })).toEqual({ id: 'earlier' });
    expect(commitAfter({ orders: [{ is: 'ahead' }], plan: idle })).toEqual({ id: 'earlier' });
    expect(commitAfter({ from: { commit: 'earlier', dirty: true } })).toEqual({ id: 'earlier', dirty: true });
  });

  it('goes back when somebody has acknowledged that', () => {
    expect(commitAfter({ orders: [behind] })).toEqual({ id: 'earlier' });
  });

  it('stays the later one when the older one took nothing back', () => {
    expect(commitAfter({ orders: [behind], plan: idle })).toEqual(before);
    expect(commitAfter({ orders: [{ ...behind, differs: false }] })).toEqual(before);
  });

  it('stays the earlier one when nothing was found to do and not everything could be read', () => {
    const unread = { ...idle, coverage: { ...idle.coverage, complete: false } };
    expect(commitAfter({ orders: [{ is: 'ahead' }], plan: unread })).toEqual(before);
    expect(commitAfter({ orders: [{ is: 'ahead' }], plan: idle })).toEqual({ id: 'earlier' });
  });

  it('keeps a commit that it does not follow beside it, unless the files of the stack are the same', () => {
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

  it('stays what it was where there is none now', () => {
    expect(commitAfter({ from: { why: 'there is no git' } })).toEqual(before);
  });
});
