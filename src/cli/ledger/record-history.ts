/**
 * Records an apply in the history of its stack before its first call, so that a killed apply is recorded, too, and again at its end.
 */
import { beginEntry, endEntry } from '../../apply/history-entry.ts';
import type { NoCommit, RepositoryCommit } from '../../ledger/git/repository-commit.ts';
import type { HistoryStore, Ledger, RunIdentity } from '../../model/stack/ledger.ts';
import type { Outcome } from '../../model/plan/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { settleEntries } from './begun-creations.ts';
import type { HeldLock } from './hold-lock.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';

interface HistoryKeeper {
  /** Completes the entry. A failure is reported and not thrown, because the apply itself is done. */
  end(outcomes: readonly Outcome[], ending: ApplyEnding): Promise<void>;
}

interface ApplyEnding {
  /** the apply was neither stopped nor ended by an error */
  readonly completed: boolean;
  /** the ledger may lack a part of what was done */
  readonly unrecorded: boolean;
  /** the whole stack was found as declared afterwards */
  readonly proved: boolean;
}

/**
 * An apply with nothing to do writes no entry, but settles the open entries of earlier ones at its end.
 * @throws LedgerError when the entry cannot be written
 */
export async function keepHistory(
  plan: Plan,
  about: {
    /** the commit of the manifests */
    readonly from: RepositoryCommit | NoCommit;
    readonly run: RunIdentity;
    readonly store: HistoryStore;
    readonly ledger: Ledger;
    readonly held: Pick<HeldLock, 'fence'> | undefined;
  },
  terminal: Terminal,
): Promise<HistoryKeeper> {
  const { from, run, store, ledger, held } = about;
  const { host } = terminal;
  const nowText = () => new Date(host.now()).toISOString();
  const reportError = (what: string) => (error: Error) =>
    printError(terminal, 'history-unwritten', `${what}: ${error.message}`);
  if (plan.changes.length === 0)
    return {
      end: async (_, { completed }) => {
        if (!completed) return;
        const settled = nowText();
        await settleEntries(store, { stack: plan.stack, settled, fence: held?.fence }).catch(
          reportError('the history lacks what this apply settled'),
        );
      },
    };
  const now = nowText();
  const head = {
    id: entryId(now, host.newId()),
    run,
    began: now,
    ...(from.commit === undefined ? {} : from),
  };
  const entry = beginEntry(plan, head, { ledger, kinds: host.kinds });
  await store.keepEntries([entry]);
  return {
    end: async (outcomes, { unrecorded, proved }) => {
      const ended = endEntry(entry, outcomes, nowText());
      await store
        .keepEntries([{ ...ended, ...(unrecorded && { unrecorded }), ...(proved && { proved }) }])
        .catch(reportError('the history lacks the end of this apply'));
    },
  };
}

/** `20261120T114200123Z-7f3a`: sorts by time in milliseconds, and is unique. */
function entryId(now: string, newId: string): string {
  return `${now.replace(/[-:.]/g, '')}-${newId.slice(0, 4)}`;
}
