// Pruning a history does not change what a rebuilt ledger and the next apply read from it.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { HistoryEntry } from '../../src/model/ledger.ts';
import { endedApprovalsOf, entriesOfCommits } from '../../src/run/apply-history.ts';
import { splitOpenEntries } from '../../src/run/open-entries.ts';
import { readAddress } from '../../src/model/address.ts';
import { pruneEntries } from '../../src/commands/ledger/prune.ts';
import { entry } from '../support/ledger/ledger-samples.ts';

const day = 86_400_000;
const at = (number: number) => new Date(number * day).toISOString();

const about = fc.record(
  {
    isEnded: fc.boolean(),
    commit: fc.constantFrom('a', 'b'),
    commitKept: fc.constant(true as const),
    unrecorded: fc.constant(true as const),
    settled: fc.constant(at(50)),
    openCreations: fc.constant([readAddress('Role/acme/job')]),
    digest: fc.constantFrom('d1', 'd2', 'd3'),
    endedApprovals: fc.dictionary(fc.constantFrom('d1', 'd2', 'd3'), fc.constantFrom(at(1), at(2))),
    isCopied: fc.boolean(),
    part: fc.constantFrom({ selected: 1 }, { selected: 1, of: 2 }),
  },
  { requiredKeys: ['isEnded', 'digest'] },
);

/** Newest first. */
const histories = fc.array(about, { maxLength: 8 }).map((all) =>
  all.map(({ isEnded, isCopied, endedApprovals, ...more }, index): HistoryEntry => {
    const began = at(all.length - index);
    const ended = isEnded ? { ended: began } : {};
    // A copy from another stack has none of its approvals.
    const origin = isCopied ? { moved: true as const } : endedApprovals && { endedApprovals };
    return entry(`e${all.length - index}`, { began, ...ended, ...more, ...origin });
  }),
);

/** What a rebuilt ledger and the next apply read: no copies from another stack. */
const own = (entries: readonly HistoryEntry[]) => entries.filter(({ moved }) => moved !== true);
const approvals = (entries: readonly HistoryEntry[]) =>
  new Map(own(entries).flatMap(endedApprovalsOf).toReversed());
const isPruned = (entries: readonly HistoryEntry[]) =>
  own(entries).some(({ pruned }) => pruned !== undefined);
const ids = (entries: readonly HistoryEntry[]) => entries.map(({ id }) => id);

it('a pruned history has the same begun applies, commits and ended approvals, even if pruned twice', () => {
  fc.assert(
    fc.property(histories, fc.nat(10), fc.nat(10), (entries, first, second) => {
      const once = pruneEntries(entries, { stack: 'payments', before: first * day, now: 8 * day });
      const twice = pruneEntries(once.kept, { stack: 'payments', before: second * day, now: 8 * day });
      for (const { kept } of [once, twice]) {
        const [left, all] = [own(kept), own(entries)];
        expect(ids(splitOpenEntries(left, { name: 'payments' }).open)).toEqual(
          ids(splitOpenEntries(all, { name: 'payments' }).open),
        );
        expect(ids(splitOpenEntries(left, { name: 'payments' }).last)).toEqual(
          ids(splitOpenEntries(all, { name: 'payments' }).last),
        );
        expect(ids(entriesOfCommits(left))).toEqual(ids(entriesOfCommits(all)));
        expect(approvals(kept)).toEqual(approvals(entries));
        expect(left[0]?.id).toBe(all[0]?.id);
        expect(isPruned(kept)).toBe(left.length < all.length);
      }
      expect(ids([...twice.kept, ...twice.dropped, ...once.dropped]).sort()).toEqual(ids(entries).sort());
    }),
  );
});
