import { describe, expect, it } from 'vitest';
import { type HeadInput, ledgerHead } from '../../../src/run/ledger-head.ts';
import type { CommitOrder } from '../../../src/model/checkout.ts';
import { at, desired, ledgerOf, planOf, stack } from '../../support/toys/toy-plan.ts';

const before = { id: 'later' };
const behind: CommitOrder = { is: 'behind', applied: 'later', ours: 'earlier', differs: true };
const idle = planOf({}).plan;
const busy = planOf({ desired: [desired(at('Whole', 'app'))] }).plan;

function commitAfter(about: Partial<HeadInput>) {
  const from = { commit: 'earlier', dirty: false };
  const ledger = { ...ledgerOf({}), commit: before };
  return ledgerHead({ ledger, stack, plan: busy, from, order: undefined, ...about }).commit;
}

describe('the commit that was applied', () => {
  it('is that of the manifests, also when there was nothing to do', () => {
    expect(commitAfter({ order: { is: 'onward' } })).toEqual({ id: 'earlier' });
    expect(commitAfter({ order: { is: 'onward' }, plan: idle })).toEqual({ id: 'earlier' });
    expect(commitAfter({ from: { commit: 'earlier', dirty: true } })).toEqual({ id: 'earlier', dirty: true });
  });

  it('goes back when somebody has acknowledged that', () => {
    expect(commitAfter({ order: behind })).toEqual({ id: 'earlier' });
  });

  it('stays the later one when the older one took nothing back', () => {
    expect(commitAfter({ order: behind, plan: idle })).toEqual(before);
    expect(commitAfter({ order: { ...behind, differs: false } })).toEqual(before);
  });

  it('stays what it was where there is none now', () => {
    expect(commitAfter({ from: { why: 'there is no git' } })).toEqual(before);
  });
});
