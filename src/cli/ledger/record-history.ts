/**
 * Records an apply in the history of its stack before its first call, so that a killed apply is recorded, too, and again at its end.
 */
import { beginEntry, endEntry } from '../../apply/history-entry.ts';
import type { NoCommit, RepositoryCommit } from '../../ledger/git/repository-commit.ts';
import { canonicalText } from '../../model/json/json.ts';
import type { HistoryEntry, HistoryStore, Ledger, RunIdentity } from '../../model/stack/ledger.ts';
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
  /** as it was written; absent when the apply did not come so far */
  readonly ledger: Ledger | undefined;
}

/**
 * An apply with nothing to do settles the open entries of earlier ones at its end. It has an entry of its own only where it proved what the
 * ledger did not know, as after "trueup accept": from then on other people are asked about (rule 50).
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
    readonly clocks: HistoryEntry['clocks'] & object;
  },
  terminal: Terminal,
): Promise<HistoryKeeper> {
  const { from, run, store, ledger, held, clocks } = about;
  const { host } = terminal;
  const nowText = () => new Date(host.now()).toISOString();
  const reportError = (what: string) => (error: Error) =>
    printError(terminal, 'history-unwritten', `${what}: ${error.message}`);
  const now = nowText();
  const head = {
    id: entryId(now, host.newId()),
    run,
    began: now,
    ...(from.commit === undefined ? {} : from),
    ...(Object.keys(clocks).length === 0 ? {} : { clocks }),
  };
  const entry = beginEntry(plan, head, { ledger, kinds: host.kinds });
  if (plan.changes.length === 0)
    return {
      end: async (_, { completed, proved, ledger: written }) => {
        if (!completed) return;
        const ended = nowText();
        const settling = { stack: plan.stack, settled: ended, fence: held?.fence };
        await settleEntries(store, settling).catch(reportError('the history lacks what this apply settled'));
        if (!proved || written === undefined || hasSameRecords(ledger, written)) return;
        await store
          .keepEntries([{ ...entry, ended, proved }])
          .catch(reportError('the history lacks what this apply proved'));
      },
    };
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

function hasSameRecords(one: Ledger, other: Ledger): boolean {
  const [before, after] = [one, other].map(({ records }) =>
    canonicalText(JSON.parse(JSON.stringify(Object.fromEntries(records)))),
  );
  return before === after;
}

/** `20261120T114200123Z-7f3a`: sorts by time in milliseconds, and is unique. */
function entryId(now: string, newId: string): string {
  return `${now.replace(/[-:.]/g, '')}-${newId.slice(0, 4)}`;
}
