/**
 * Records an apply in the history of its stack: before its first call, so that one that was killed is known too, and
 * again when it has ended.
 */
import { randomBytes } from 'node:crypto';
import { beginEntry, endEntry } from '../../apply/history-entry.ts';
import type { NoCommit, RepositoryCommit } from '../../ledger/git/repository-commit.ts';
import type { HistoryStore, Ledger, RunIdentity } from '../../model/stack/ledger.ts';
import type { Outcome } from '../../model/plan/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { settleEntries } from './begun-creations.ts';
import type { HeldLock } from './hold-lock.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';

export interface HistoryKeeper {
  /** Completes the entry. A failure is told and not thrown: what was applied was applied. */
  end(outcomes: readonly Outcome[], how: HowItEnded): Promise<void>;
}

export interface HowItEnded {
  readonly cameToItsEnd: boolean;
  /** it is not known that the ledger holds all that was done */
  readonly unrecorded: boolean;
}

/**
 * An apply with nothing to do leaves no entry; what earlier ones left open is settled by its end. @throws LedgerError when the entry cannot be written */
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
  const told = (what: string) => (error: Error) =>
    printError(terminal, 'history-unwritten', `${what}: ${error.message}`);
  if (plan.changes.length === 0)
    return {
      end: async (_, { cameToItsEnd }) => {
        if (!cameToItsEnd) return;
        const settled = new Date().toISOString();
        await settleEntries(store, { stack: plan.stack, settled, fence: held?.fence }).catch(
          told('the history lacks what this apply settled'),
        );
      },
    };
  const now = new Date().toISOString();
  const head = { id: entryId(now), run, began: now, ...(from.commit === undefined ? {} : from) };
  const entry = beginEntry(plan, head, { ledger, kinds: terminal.host.kinds });
  await store.keepEntries([entry]);
  return {
    end: async (outcomes, { unrecorded }) => {
      const ended = endEntry(entry, outcomes, new Date().toISOString());
      await store
        .keepEntries([unrecorded ? { ...ended, unrecorded } : ended])
        .catch(told('the history lacks the end of this apply'));
    },
  };
}

/** `20261120T114200123Z-7f3a`: sorts by time to the millisecond, and no two are alike. */
function entryId(now: string): string {
  return `${now.replace(/[-:.]/g, '')}-${randomBytes(2).toString('hex')}`;
}
