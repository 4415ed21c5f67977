/** Which fields earlier applies have set, from the history: a plan from other manifests may revert them. */
import { ownEntries } from '../ledger/ledger-store.ts';
import type { AppliedFields } from '../model/checkout.ts';
import type { HistoryChange, HistoryEntry, HistoryStore } from '../model/ledger.ts';

/** How many applies are searched for those that no commit of ours has. */
const searched = 200;

/**
 * What was applied since the last apply from a commit of ours: all of it may be missing in ours if the last commit is nowhere to be
 * found. Applies that changed nothing are not in the history.
 * @param isOurs whether a commit is ours, or an ancestor of it
 * @returns undefined when the history cannot tell
 */
export function fieldsSetSince(
  history: Pick<HistoryStore, 'readEntries'>,
  isOurs: (commit: string) => Promise<boolean>,
): Promise<AppliedFields | undefined> {
  return fieldsSet(history, async (newest) => {
    const others: HistoryEntry[] = [];
    for (const entry of newest) {
      const { commit, commitKept, uncommitted, ignored } = entry;
      const isClean = commit !== undefined && (uncommitted === undefined || ignored === true);
      const isKnown = isClean && (await isOurs(commit));
      if (isKnown && !commitKept) break;
      if (!isKnown) others.push(entry);
      // What older applies set is not known any more.
      if (entry.pruned !== undefined) return undefined;
    }
    return others;
  });
}

/** The same of the applies with changes of the stack's files that were not committed, since the last one without. */
export function fieldsSetUncommitted(
  history: Pick<HistoryStore, 'readEntries'>,
): Promise<AppliedFields | undefined> {
  return fieldsSet(history, async (newest) => {
    // One that kept the commits of earlier applies, or was made without git, does not end the search for them.
    const counted = newest.filter(
      ({ commit, commitKept, uncommitted }) =>
        uncommitted !== undefined || (commit !== undefined && !commitKept),
    );
    const other = counted.findIndex(({ uncommitted }) => uncommitted === undefined);
    if (other === -1 && newest.some(({ pruned }) => pruned !== undefined)) return undefined;
    return other === -1 ? counted : counted.slice(0, other);
  });
}

async function fieldsSet(
  history: Pick<HistoryStore, 'readEntries'>,
  choose: (newest: readonly HistoryEntry[]) => Promise<readonly HistoryEntry[] | undefined>,
): Promise<AppliedFields | undefined> {
  const entries = await ownEntries(history, searched).catch(() => []);
  const found = entries.flatMap((entry) => (entry instanceof Error ? [] : [entry]));
  if (found.length === 0 || found.length < entries.length) return undefined;
  const chosen = await choose(found);
  if (chosen === undefined) return undefined;
  const changes = chosen.flatMap((entry) => entry.changes).filter(mayHaveSent);
  const byAddress = Map.groupBy(changes, ({ address }) => address);
  return new Map(
    [...byAddress].map(([address, some]) => [
      address,
      some.flatMap(({ fields }) => fields.map(({ path }) => path)),
    ]),
  );
}

/** Also a change of an apply that was killed, and one that failed after its first call. */
export function mayHaveSent({ outcome, done = [], inDoubt }: HistoryChange): boolean {
  return (
    outcome === undefined ||
    outcome === 'applied' ||
    outcome === 'unknown' ||
    inDoubt === true ||
    done.length > 0
  );
}
