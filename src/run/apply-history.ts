/**
 * Records an apply in the history of its stack. The entry begins before the first call, so that a killed apply is recorded, too, and is
 * completed at the end of the apply. This file also reads from the history what a lost ledger contained.
 */
import { beginEntry, endEntry, listedFields } from '../apply/history-entry.ts';
import type { NoCommit, RepositoryCommit } from '../ledger/git/checkout.ts';
import type { AddressText } from '../model/address.ts';
import type { BegunResource } from '../model/field.ts';
import type { Outcome } from '../model/change.ts';
import { canonicalText } from '../model/json.ts';
import type { AppliedCommit, HistoryEntry, HistoryStore, Ledger, RunIdentity } from '../model/ledger.ts';
import type { Plan } from '../model/plan.ts';
import type { ChangesForPolicies } from '../model/policy.ts';
import type { Connected } from './connect.ts';
import type { HeldLock } from './lock.ts';
import type { PlanRequest } from './make-plan.ts';
import { printError, type Terminal } from './terminal.ts';
import { ownEntries } from '../ledger/ledger-store.ts';
import { resolveEntries } from './open-entries.ts';

interface HistoryKeeper {
  /** Completes the entry. A failure is only reported, because the apply itself is done. @returns whether the history has all of it */
  end(outcomes: readonly Outcome[], ending: ApplyEnding): Promise<boolean>;
}

interface ApplyEnding {
  /** the apply was neither stopped nor ended by an error */
  readonly completed: boolean;
  /** the ledger may lack a part of what was done */
  readonly unrecorded: boolean;
  /** the new plan of the whole stack was empty */
  readonly proved: boolean;
  /** `proved`, and no removal is pending */
  readonly isConverged: boolean;
  /** the approvals that this apply ended; undefined when it cannot have ended any */
  readonly endedApprovals: HistoryEntry['endedApprovals'];
  /** creations of earlier applies whose result this one did not find out */
  readonly openCreations: readonly AddressText[];
  /** what this and earlier applies may have written without a record */
  readonly openFields: readonly BegunResource[];
  /** the ledger that the apply wrote; undefined when the apply ended before that */
  readonly ledger: Ledger | undefined;
}

/**
 * Begins the entry of an apply. An apply without changes closes the open entries of earlier applies at its end. It gets an entry of its
 * own only if it ended an approval, or proved what the ledger did not record, such as after "trueup accept" or a failed apply. Drift that
 * is found after such an entry is attributed to other people.
 * @throws LedgerError when the entry cannot be written
 */
export async function keepHistory(
  plan: Plan,
  about: {
    /** the commit of the manifests */
    readonly from: RepositoryCommit | NoCommit;
    /** the commits that the ledger has from now on */
    readonly head: Pick<Ledger, 'commit' | 'otherCommits'>;
    readonly run: RunIdentity;
    readonly store: HistoryStore;
    readonly ledger: Ledger;
    readonly held: Pick<HeldLock, 'lockGuard'> | undefined;
    readonly clocks: HistoryEntry['clocks'] & object;
    /** who approved it; absent if no approval was verified */
    readonly approvals?: HistoryEntry['approvals'];
    readonly acknowledged?: HistoryEntry['acknowledged'];
    /** the changes as policies see them, by address */
    readonly checked?: ChangesForPolicies;
    readonly request: Pick<PlanRequest, 'begunFields'>;
  },
  terminal: Terminal,
): Promise<HistoryKeeper> {
  const {
    from,
    head: commits,
    run,
    store,
    ledger,
    held,
    clocks,
    checked,
    request: { begunFields = [] },
  } = about;
  const { approvals = [], acknowledged = [] } = about;
  const { host } = terminal;
  const nowText = () => new Date(host.now()).toISOString();
  /** @returns whether it was written */
  const tryToWrite = (what: string, write: Promise<void>) =>
    write.then(
      () => true,
      (error: Error) => {
        printError(
          terminal,
          'history-unwritten',
          `the history lacks ${what}: ${error.message}\n${repairHint}`,
        );
        return false;
      },
    );
  const began = host.now();
  const head = {
    id: entryId(began, host.newId(), await store.newestEntryId()),
    run,
    began: new Date(began).toISOString(),
    ...(from.commit === undefined ? uncommittedMember(from, commits) : from),
    ...(Object.keys(clocks).length === 0 ? {} : { clocks }),
    ...(approvals.length === 0 ? {} : { approvals }),
    ...(acknowledged.length === 0 ? {} : { acknowledged }),
    ...listedFields(begunFields, false),
  };
  const isLedgerCommit = from.commit === commits.commit?.id;
  const hasOtherCommits = (commits.otherCommits ?? []).length > 0;
  const keptCommit = (isConverged: boolean): Pick<HistoryEntry, 'commitKept'> =>
    from.commit !== undefined &&
    (plan.part !== undefined || !isLedgerCommit || (hasOtherCommits && !isConverged))
      ? { commitKept: true }
      : {};
  const entry = beginEntry(plan, head, { ledger, kinds: host.kinds, ...(checked && { checked }) });
  const endedEntry = (outcomes: readonly Outcome[], ending: ApplyEnding): HistoryEntry => ({
    ...endEntry(entry, outcomes, nowText()),
    ...keptCommit(ending.isConverged),
    ...(ending.proved && { proved: true }),
    ...foundMembers(ending, begunFields.length > 0),
  });
  if (plan.changes.length === 0)
    return {
      end: async (_, ending) => {
        const { completed, proved, openCreations: left } = ending;
        if (!completed) return true;
        const whole = endedEntry([], ending);
        const resolution = { stack: plan.stack, settled: nowText(), left, lockGuard: held?.lockGuard };
        let hasOpen = false;
        // An apply of a part, or after an incomplete read, does not find out what others created.
        const resolved = proved
          ? resolveEntries(store, resolution).then((found) => {
              hasOpen = found;
            })
          : Promise.resolve();
        const isResolved = await tryToWrite('what this apply found about earlier ones', resolved);
        const isMore = (hasOpen && proved) || findsMore(ending, { ledger, begunFields });
        if (!isMore && whole.endedApprovals === undefined) return isResolved;
        return (await tryToWrite('what this apply proved', store.keepEntries([whole]))) && isResolved;
      },
    };
  await store.keepEntries([{ ...entry, ...keptCommit(false) }]);
  return {
    end: async (outcomes, ending) => {
      const whole = {
        ...endedEntry(outcomes, ending),
        ...(ending.unrecorded && { unrecorded: true as const }),
      };
      return tryToWrite('the end of this apply', store.keepEntries([whole]));
    },
  };
}

/** Marks the entry of an apply whose commit git could not determine: its changes are in none of the commits that the ledger records. */
function uncommittedMember(
  { uncommitted }: NoCommit,
  { commit }: Pick<Ledger, 'commit'>,
): Pick<HistoryEntry, 'uncommitted'> {
  return uncommitted === undefined || commit?.uncommitted !== uncommitted ? {} : { uncommitted };
}

/** What the end of an apply adds to its entry. @param hadFields an empty list then says that none are left */
function foundMembers(
  { endedApprovals = {}, openCreations, openFields }: ApplyEnding,
  hadFields: boolean,
): Pick<HistoryEntry, 'endedApprovals' | 'openCreations' | 'begunFields'> {
  return {
    ...(Object.keys(endedApprovals).length === 0 ? {} : { endedApprovals }),
    ...(openCreations.length === 0 ? {} : { openCreations }),
    ...listedFields(openFields, hadFields),
  };
}

const repairHint =
  '  repair the place of the history, and run "trueup apply" again: it finds out and records what this apply did';

/** Whether an apply without changes found more than the ledger and the history have. */
function findsMore(
  { ledger: written, openFields, proved }: ApplyEnding,
  { ledger, begunFields }: { readonly ledger: Ledger; readonly begunFields: readonly BegunResource[] },
): boolean {
  const [before, after] = [begunFields, openFields].map((all) => JSON.stringify(listedFields(all, true)));
  return before !== after || (proved && written !== undefined && !hasSameRecords(ledger, written));
}

function hasSameRecords(one: Ledger, other: Ledger): boolean {
  const [before, after] = [one, other].map(({ records }) =>
    canonicalText(JSON.parse(JSON.stringify(Object.fromEntries(records)))),
  );
  return before === after;
}

const idForm = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-/;

const endOfYear9999 = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * `20261120T114200123Z-7f3a`: sorts after the newest entry, and is unique. It has the time of the begin, or one millisecond more than the
 * newest entry: an apply on a machine whose clock is ahead must not count as newer than the ones after it.
 * @param newest one of another form does not count
 */
function entryId(began: number, newId: string, newest = ''): string {
  const [form = ''] = idForm.exec(newest) ?? [];
  const after = Date.parse(form.replace(idForm, '$1-$2-$3T$4:$5:$6.$7Z')) + 1;
  const time = after > began && after <= endOfYear9999 ? after : began;
  return `${new Date(time).toISOString().replace(/[-:.]/g, '')}-${newId.slice(0, 4)}`;
}

/** How far the clock of each target is ahead of the local clock, where that is known. */
export function clocksOf({ connected }: { readonly connected: Connected }): Record<string, number> {
  return Object.fromEntries(
    connected.targets.flatMap(({ target, connection }) => {
      const ahead = connection.clockAhead();
      return ahead === undefined ? [] : [[target.name, ahead]];
    }),
  );
}

const maxRebuildEntries = 1000;

/** The entries with a commit, down to the newest one whose commit replaced all earlier ones. @param entries newest first */
export function entriesOfCommits(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const withCommit = entries.filter(({ commit }) => commit !== undefined);
  const end = withCommit.findIndex(({ commitKept }) => commitKept !== true);
  return end === -1 ? withCommit : withCommit.slice(0, end + 1);
}

/** The commit of the newest apply, and those of earlier ones that the ledger kept. */
function commitsIn(entries: readonly HistoryEntry[]): Pick<Ledger, 'commit' | 'otherCommits'> {
  const all = entriesOfCommits(entries);
  const last = all.find((entry) => !isOfPart(entry));
  const key = (entry: HistoryEntry | undefined) => `${entry?.commit ?? ''} ${entry?.uncommitted ?? ''}`;
  const others = new Map(all.filter((entry) => key(entry) !== key(last)).map((entry) => [key(entry), entry]));
  const more = [...others.values()].map(commitIn).slice(0, 20);
  return {
    ...(last === undefined ? {} : { commit: commitIn(last) }),
    ...(more.length === 0 ? {} : { otherCommits: more }),
  };
}

function commitIn({ commit: id = '', dirty, uncommitted, ignored }: HistoryEntry): AppliedCommit {
  return {
    id,
    ...(dirty ? { dirty } : {}),
    ...(uncommitted === undefined ? {} : { uncommitted }),
    ...(ignored ? { ignored } : {}),
  };
}

/** Whether the apply was of a part that `--select` chose: such an apply does not move the ledger's commit. */
function isOfPart({ part }: HistoryEntry): boolean {
  return part?.of !== undefined;
}

/** What the history has of a lost ledger: the commit that was applied last, and approvals that have ended. @throws LedgerError */
export async function headFromHistory(
  store: HistoryStore,
): Promise<Pick<Ledger, 'commit' | 'otherCommits' | 'endedApprovals'>> {
  const entries = (await ownEntries(store, maxRebuildEntries)).filter(
    (entry): entry is HistoryEntry => !(entry instanceof Error),
  );
  const commits = commitsIn(entries);
  const ended = entries.flatMap(endedApprovalsOf);
  return {
    ...commits,
    // The entries are newest first. In reverse order, the newest time of each digest is set last and stays.
    ...(ended.length === 0 ? {} : { endedApprovals: new Map(ended.toReversed()) }),
  };
}

/** The approvals that an apply ended, and those of older applies that were dropped. The newest come first. */
export function endedApprovalsOf(entry: HistoryEntry): readonly (readonly [string, string])[] {
  const { digest, ended: at, proved, endedApprovals, pruned } = entry;
  // Entries of older versions name only the plan that was carried out.
  const unnamed = proved && at !== undefined ? [[digest, at] as const] : [];
  const own = endedApprovals === undefined ? unnamed : Object.entries(endedApprovals);
  return [...own, ...Object.entries(pruned?.endedApprovals ?? {})];
}
