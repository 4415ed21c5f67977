/**
 * Records an apply in the history of its stack: before its first call, so that one that was killed is known too, and
 * again when it has ended.
 */
import { randomBytes } from 'node:crypto';
import { beginEntry, endEntry } from '../apply/history-entry.ts';
import type { NoCommit, RepositoryCommit } from '../ledger/repository-commit.ts';
import type { HistoryStore, Ledger, RunIdentity } from '../model/ledger.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import { printError, type Screen } from './screen.ts';

export interface HistoryKeeper {
  /** Completes the entry. A failure is told and not thrown: what was applied was applied. */
  end(outcomes: readonly Outcome[]): Promise<void>;
}

/** An apply with nothing to do leaves no entry. @throws LedgerError when the entry cannot be written */
export async function keepHistory(
  plan: Plan,
  about: {
    /** the commit of the manifests */
    readonly from: RepositoryCommit | NoCommit;
    readonly run: RunIdentity;
    readonly store: HistoryStore;
    readonly ledger: Ledger;
  },
  screen: Screen,
): Promise<HistoryKeeper> {
  if (plan.changes.length === 0) return { end: async () => {} };
  const { from, run, store, ledger } = about;
  const now = new Date().toISOString();
  const head = { id: entryId(now), run, began: now, ...(from.commit === undefined ? {} : from) };
  const entry = beginEntry(plan, head, { ledger, kinds: screen.world.kinds });
  await store.keepEntries([entry]);
  return {
    end: async (outcomes) => {
      await store
        .keepEntries([endEntry(entry, outcomes, new Date().toISOString())])
        .catch((error: Error) =>
          printError(screen, `the history lacks the end of this apply: ${error.message}`),
        );
    },
  };
}

/** `20261120T114200123Z-7f3a`: sorts by time to the millisecond, and no two are alike. */
function entryId(now: string): string {
  return `${now.replace(/[-:.]/g, '')}-${randomBytes(2).toString('hex')}`;
}
