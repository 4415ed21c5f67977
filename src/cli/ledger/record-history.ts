/**
 * Records an apply in the history of its stack before its first call, so that a killed apply is recorded, too, and again at its end.
 */
import { beginEntry, endEntry } from '../../apply/history-entry.ts';
import type { NoCommit, RepositoryCommit } from '../../ledger/git/repository-commit.ts';
import { canonicalText } from '../../model/json/json.ts';
import type { HistoryEntry, HistoryStore, Ledger, RunIdentity } from '../../model/stack/ledger.ts';
import type { Outcome } from '../../model/plan/outcome.ts';
import type { Plan } from '../../model/plan/plan.ts';
import type { Connected } from '../run/connect.ts';
import { resolveEntries } from './begun-creations.ts';
import type { HeldLock } from './hold-lock.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';

interface HistoryKeeper {
  /**
   * Completes the entry. A failure is reported and not thrown, because the apply itself is done.
   * @returns whether the history has all of it
   */
  end(outcomes: readonly Outcome[], ending: ApplyEnding): Promise<boolean>;
}

interface ApplyEnding {
  /** the apply was neither stopped nor ended by an error */
  readonly completed: boolean;
  /** the ledger may lack a part of what was done */
  readonly unrecorded: boolean;
  /** the whole stack was found as declared afterwards */
  readonly proved: boolean;
  /** undefined where none can have ended */
  readonly endedApprovals: HistoryEntry['endedApprovals'];
  /** as it was written; absent when the apply did not come so far */
  readonly ledger: Ledger | undefined;
}

/**
 * An apply with nothing to do settles the open entries of earlier ones at its end. It has an entry of its own only where it ended an
 * approval, or proved what the ledger did not know, as after "trueup accept": from then on other people are asked about (rule 50).
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
  /** @returns whether it was written */
  const tryTo = (what: string, write: Promise<void>) =>
    write.then(
      () => true,
      (error: Error) => {
        printError(terminal, 'history-unwritten', `the history lacks ${what}: ${error.message}\n${wayOut}`);
        return false;
      },
    );
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
      end: async (_, { completed, proved, ledger: written, ...rest }) => {
        if (!completed) return true;
        const ended = nowText();
        const settling = { stack: plan.stack, settled: ended, fence: held?.fence };
        const isSettled = await tryTo('what this apply settled', resolveEntries(store, settling));
        const endings = endedMember(rest);
        const isNews = proved && written !== undefined && !hasSameRecords(ledger, written);
        if (!isNews && endings.endedApprovals === undefined) return isSettled;
        const kept = store.keepEntries([{ ...entry, ended, ...(proved && { proved }), ...endings }]);
        return (await tryTo('what this apply proved', kept)) && isSettled;
      },
    };
  await store.keepEntries([entry]);
  return {
    end: async (outcomes, { unrecorded, proved, ...rest }) => {
      const ended = {
        ...endEntry(entry, outcomes, nowText()),
        ...(proved && { proved }),
        ...endedMember(rest),
      };
      const whole = { ...ended, ...(unrecorded && { unrecorded }) };
      return tryTo('the end of this apply', store.keepEntries([whole]));
    },
  };
}

function endedMember({
  endedApprovals = {},
}: Pick<ApplyEnding, 'endedApprovals'>): Pick<HistoryEntry, 'endedApprovals'> {
  return Object.keys(endedApprovals).length === 0 ? {} : { endedApprovals };
}

const wayOut = '  repair the place of the history, and run "trueup apply" again: it completes the history';

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

/** How far the clocks of the targets are from the one here, where they told. */
export function clocksOf({ connected }: { readonly connected: Connected }): Record<string, number> {
  return Object.fromEntries(
    connected.targets.flatMap(({ target, connection }) => {
      const ahead = connection.clockAhead();
      return ahead === undefined ? [] : [[target.name, ahead]];
    }),
  );
}

/** The most entries that are read to rebuild a ledger. */
const maxEntries = 1000;

/** What the history still knows of a lost ledger: the commit that was applied last, and approvals that have ended. @throws LedgerError */
export async function headFromHistory(
  store: HistoryStore,
): Promise<Pick<Ledger, 'commit' | 'endedApprovals'>> {
  const entries = (await store.readEntries(maxEntries)).filter(
    (entry): entry is HistoryEntry => !(entry instanceof Error),
  );
  const last = entries.find(({ commit }) => commit !== undefined);
  // Entries of older versions name the plan that was carried out alone.
  const ended = entries.flatMap(({ digest, ended: at, proved, endedApprovals }) => {
    if (endedApprovals !== undefined) return Object.entries(endedApprovals);
    return proved && at !== undefined ? [[digest, at] as const] : [];
  });
  return {
    ...(last?.commit === undefined
      ? {}
      : { commit: { id: last.commit, ...(last.dirty ? { dirty: true as const } : {}) } }),
    // The newest come first, and count.
    ...(ended.length === 0 ? {} : { endedApprovals: new Map(ended.toReversed()) }),
  };
}
