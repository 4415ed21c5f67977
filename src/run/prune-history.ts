/** Chooses which entries of a history may be dropped, so that everything that reads the history still works without them. */
import type { HistoryEntry } from '../model/ledger.ts';
import { endedApprovalsOf, entriesOfCommits, splitOpenEntries } from './apply-history.ts';

export interface PrunedEntries {
  /** newest first */
  readonly dropped: readonly HistoryEntry[];
  /** newest first; the oldest one has what has to outlast the dropped ones */
  readonly kept: readonly HistoryEntry[];
}

/**
 * Only the oldest part of the list is dropped, so that the order of the rest means the same. Always kept: the last apply, applies that
 * have begun and not ended with the one before them, and those whose commits a rebuilt ledger needs.
 * @param entries all, newest first
 * @param before milliseconds since 1970
 */
export function pruneEntries(
  entries: readonly HistoryEntry[],
  { stack, before }: { readonly stack: string; readonly before: number },
): PrunedEntries {
  const { open, last } = splitOpenEntries(entries, stack);
  const needed = new Set([...entries.slice(0, 1), ...open, ...last, ...entriesOfCommits(entries)]);
  const end = entries.findLastIndex((entry) => needed.has(entry) || !(timeOf(entry) < before)) + 1;
  const [kept, dropped] = [entries.slice(0, end), entries.slice(end)];
  const oldest = kept.at(-1);
  if (oldest === undefined || dropped.length === 0) return { kept, dropped: [] };
  return { kept: [...kept.slice(0, -1), withPruned(oldest, dropped)], dropped };
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
