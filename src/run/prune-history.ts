/** Chooses which entries of a history may be dropped, so that everything that reads the history still works without them. */
import type { HistoryEntry } from '../model/ledger.ts';
import { endedApprovalsOf, entriesOfCommits } from './apply-history.ts';
import { splitOpenEntries } from './open-entries.ts';
import { countedTime } from './taken-by-parts.ts';

export interface PrunedEntries {
  /** newest first */
  readonly dropped: readonly HistoryEntry[];
  /** newest first */
  readonly kept: readonly HistoryEntry[];
  /** the one of `kept` that has what has to outlast the dropped ones, to be written again */
  readonly marked?: HistoryEntry;
}

/**
 * Of this stack's own applies only the oldest part of the list is dropped, so that the order of the rest means the same. Always kept:
 * the last apply, applies that have begun and not ended with the one before them, those whose commits a rebuilt ledger needs, and those
 * of parts whose deletes still count.
 * Entries that were copied from another stack say nothing about these, so they are dropped by age alone.
 * @param entries all, newest first
 * @param about.before milliseconds since 1970; `now` as well
 */
export function pruneEntries(
  entries: readonly HistoryEntry[],
  { stack, before, now }: { readonly stack: string; readonly before: number; readonly now: number },
): PrunedEntries {
  const isOld = (entry: HistoryEntry) => timeOf(entry) < before;
  const own = entries.filter(({ moved }) => moved !== true);
  const { open, last } = splitOpenEntries(own, stack);
  const counting = own.filter((entry) => entry.part !== undefined && timeOf(entry) > now - countedTime);
  const needed = new Set([...own.slice(0, 1), ...open, ...last, ...entriesOfCommits(own), ...counting]);
  const end = own.findLastIndex((entry) => needed.has(entry) || !isOld(entry)) + 1;
  const ended = own.slice(end);
  const isDropped = (entry: HistoryEntry) => (entry.moved ? isOld(entry) : ended.includes(entry));
  const dropped = entries.filter(isDropped);
  const oldest = own[end - 1];
  const marked = oldest === undefined || ended.length === 0 ? undefined : withPruned(oldest, ended);
  const kept = entries
    .filter((entry) => !isDropped(entry))
    .map((entry) => (entry === oldest ? (marked ?? entry) : entry));
  return { kept, dropped, ...(marked === undefined ? {} : { marked }) };
}

function timeOf({ began, ended = began }: HistoryEntry): number {
  return Date.parse(ended);
}

function withPruned(oldest: HistoryEntry, dropped: readonly HistoryEntry[]): HistoryEntry {
  const untils = dropped.flatMap(({ began, ended = began, pruned }) => [
    ended,
    ...(pruned ? [pruned.until] : []),
  ]);
  // The newest come first, and count.
  const approvals = Object.fromEntries(dropped.flatMap(endedApprovalsOf).toReversed());
  const before = oldest.pruned?.endedApprovals ?? {};
  const endedApprovals = { ...approvals, ...before };
  return {
    ...oldest,
    pruned: {
      until: untils.sort().at(-1) ?? oldest.began,
      ...(Object.keys(endedApprovals).length === 0 ? {} : { endedApprovals }),
    },
  };
}
