// Whatever is dropped of a history, what a rebuilt ledger and the next apply take from it stays the same.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { HistoryEntry } from '../../src/model/ledger.ts';
import { endedApprovalsOf, entriesOfCommits, splitOpenEntries } from '../../src/run/apply-history.ts';
import { pruneEntries } from '../../src/run/prune-history.ts';
import { entry } from '../support/ledger/kept-things.ts';

const day = 86_400_000;
const at = (number: number) => new Date(number * day).toISOString();

const about = fc.record(
  {
    isEnded: fc.boolean(),
    commit: fc.constantFrom('a', 'b'),
    commitKept: fc.constant(true as const),
    unrecorded: fc.constant(true as const),
    settled: fc.constant(at(50)),
    digest: fc.constantFrom('d1', 'd2', 'd3'),
    endedApprovals: fc.dictionary(fc.constantFrom('d1', 'd2', 'd3'), fc.constantFrom(at(1), at(2))),
  },
  { requiredKeys: ['isEnded', 'digest'] },
);

/** Newest first. */
const histories = fc.array(about, { maxLength: 8 }).map((all) =>
  all.map(({ isEnded, ...more }, index): HistoryEntry => {
    const began = at(all.length - index);
    return entry(`e${all.length - index}`, { began, ...(isEnded ? { ended: began } : {}), ...more });
  }),
);

const approvals = (entries: readonly HistoryEntry[]) =>
  new Map(entries.flatMap(endedApprovalsOf).toReversed());
const ids = (entries: readonly HistoryEntry[]) => entries.map(({ id }) => id);

it('a pruned history gives the same begun applies, commits and ended approvals, also when it is pruned twice', () => {
  fc.assert(
    fc.property(histories, fc.nat(10), fc.nat(10), (entries, first, second) => {
      const once = pruneEntries(entries, { stack: 'payments', before: first * day });
      const twice = pruneEntries(once.kept, { stack: 'payments', before: second * day });
      for (const { kept } of [once, twice]) {
        expect(ids(splitOpenEntries(kept, 'payments').open)).toEqual(
          ids(splitOpenEntries(entries, 'payments').open),
        );
        expect(ids(splitOpenEntries(kept, 'payments').last)).toEqual(
          ids(splitOpenEntries(entries, 'payments').last),
        );
        expect(ids(entriesOfCommits(kept))).toEqual(ids(entriesOfCommits(entries)));
        expect(approvals(kept)).toEqual(approvals(entries));
        expect(kept[0]?.id).toBe(entries[0]?.id);
      }
      expect(ids([...twice.kept, ...twice.dropped, ...once.dropped])).toEqual(ids(entries));
    }),
  );
});
