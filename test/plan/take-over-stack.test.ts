import { describe, expect, it } from 'vitest';
import { takeOver } from '../../src/plan/take-over-stack.ts';
import { ledgerOf, stack } from '../support/sample-kinds/sample-plan.ts';

const renamed = { ...stack, renamedFrom: 'former' };
const [one, other, third] = [{ id: 'one' }, { id: 'other' }, { id: 'third' }];
const commitsOf = (own: object, former: object) => {
  const { ledger } = takeOver({ ...ledgerOf({}), ...own }, { ...ledgerOf({}), ...former }, renamed);
  return { commit: ledger.commit, otherCommits: ledger.otherCommits };
};

describe('A renamed stack', () => {
  it('takes over the commits that its former ledger has', () => {
    expect(commitsOf({}, { commit: one, otherCommits: [other] })).toEqual({
      commit: one,
      otherCommits: [other],
    });
  });

  it('keeps the commit of its former ledger beside its own', () => {
    const former = { commit: other, otherCommits: [third] };
    expect(commitsOf({ commit: one }, former)).toEqual({ commit: one, otherCommits: [other, third] });
  });

  it('takes over no commits again once its former ledger was imported', () => {
    const imported = { commit: other, otherCommits: [third], closedFor: renamed.name, records: new Map() };
    expect(commitsOf({ commit: one }, imported)).toEqual({ commit: one, otherCommits: undefined });
  });
});
