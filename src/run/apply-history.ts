/**
 * Records an apply in the history of its stack before its first call, so that a killed apply is recorded, too, and again at its
 * end. Finds creations and other changes of earlier applies whose result is not in the ledger.
 */
import { beginEntry, endEntry } from '../apply/history-entry.ts';
import type { NoCommit, RepositoryCommit } from '../ledger/git/checkout.ts';
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Outcome } from '../model/change.ts';
import { canonicalText } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import type {
  AppliedCommit,
  HistoryChange,
  HistoryEntry,
  HistoryStore,
  Ledger,
  RunIdentity,
} from '../model/ledger.ts';
import type { Plan } from '../model/plan.ts';
import type { DesiredResource } from '../model/resource.ts';
import type { Stack } from '../model/stack.ts';
import { identitiesOf } from '../plan/moved-targets.ts';
import type { Connected } from './connect.ts';
import type { LeaseGuard } from './lock-guard.ts';
import type { HeldLock } from './lock.ts';
import { printError, type Terminal } from './terminal.ts';
import { ownEntries } from '../ledger/ledger-store.ts';
import { completeEntries } from '../ledger/ledger-text.ts';

interface HistoryKeeper {
  /** Completes the entry. A failure is reported, because the apply itself is done. @returns whether the history has all of it */
  end(outcomes: readonly Outcome[], ending: ApplyEnding): Promise<boolean>;
}

interface ApplyEnding {
  /** the apply was neither stopped nor ended by an error */
  readonly completed: boolean;
  /** the ledger may lack a part of what was done */
  readonly unrecorded: boolean;
  /** the new plan of the whole stack was empty */
  readonly proved: boolean;
  /** and no removal waits */
  readonly isConverged: boolean;
  /** undefined where none can have ended */
  readonly endedApprovals: HistoryEntry['endedApprovals'];
  /** as it was written; absent when the apply ended before that */
  readonly ledger: Ledger | undefined;
}

/**
 * An apply with nothing to do closes the open entries of earlier ones at its end. It gets an entry only where it ended an approval, or
 * proved what the ledger did not know, as after "trueup accept" or a failed apply: from then on, drift is attributed to other people.
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
  },
  terminal: Terminal,
): Promise<HistoryKeeper> {
  const { from, head: commits, run, store, ledger, held, clocks, approvals = [] } = about;
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
    ...(from.commit === undefined ? uncommittedMember(from, commits) : from),
    ...(Object.keys(clocks).length === 0 ? {} : { clocks }),
    ...(approvals.length === 0 ? {} : { approvals }),
  };
  const isOwn = from.commit === commits.commit?.id;
  const hasOthers = (commits.otherCommits ?? []).length > 0;
  const keptMember = (isConverged: boolean): Pick<HistoryEntry, 'commitKept'> =>
    from.commit !== undefined && (!isOwn || (hasOthers && !isConverged)) ? { commitKept: true } : {};
  const entry = beginEntry(plan, head, { ledger, kinds: host.kinds });
  if (plan.changes.length === 0)
    return {
      end: async (_, { completed, proved, isConverged, ledger: written, ...rest }) => {
        if (!completed) return true;
        const ended = nowText();
        const settling = { stack: plan.stack, settled: ended, lockGuard: held?.lockGuard };
        let isOpen = false;
        const resolved = resolveEntries(store, settling).then((found) => {
          isOpen = found;
        });
        const isSettled = await tryTo('what this apply settled', resolved);
        const endings = endedMember(rest);
        const isNews = proved && (isOpen || (written !== undefined && !hasSameRecords(ledger, written)));
        if (!isNews && endings.endedApprovals === undefined) return isSettled;
        const whole = { ...entry, ...keptMember(isConverged), ended, ...(proved && { proved }), ...endings };
        const kept = store.keepEntries([whole]);
        return (await tryTo('what this apply proved', kept)) && isSettled;
      },
    };
  await store.keepEntries([{ ...entry, ...keptMember(false) }]);
  return {
    end: async (outcomes, { unrecorded, proved, isConverged, ...rest }) => {
      const ended = {
        ...endEntry(entry, outcomes, nowText()),
        ...keptMember(isConverged),
        ...(proved && { proved }),
        ...endedMember(rest),
      };
      const whole = { ...ended, ...(unrecorded && { unrecorded }) };
      return tryTo('the end of this apply', store.keepEntries([whole]));
    },
  };
}

/** Of an apply where git could not tell the commit: what it changed is in no commit that the ledger has. */
function uncommittedMember(
  { uncommitted }: NoCommit,
  { commit }: Pick<Ledger, 'commit'>,
): Pick<HistoryEntry, 'uncommitted'> {
  return uncommitted === undefined || commit?.uncommitted !== uncommitted ? {} : { uncommitted };
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

/** How far the clocks of the targets are from the one here, where that is known. */
export function clocksOf({ connected }: { readonly connected: Connected }): Record<string, number> {
  return Object.fromEntries(
    connected.targets.flatMap(({ target, connection }) => {
      const ahead = connection.clockAhead();
      return ahead === undefined ? [] : [[target.name, ahead]];
    }),
  );
}

/** The most entries that are read to rebuild a ledger. */
const maxRebuildEntries = 1000;

/** Down to the newest one whose commit replaced those before. @param entries newest first */
export function entriesOfCommits(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const made = entries.filter(({ commit }) => commit !== undefined);
  const end = made.findIndex(({ commitKept }) => commitKept !== true);
  return end === -1 ? made : made.slice(0, end + 1);
}

/** The commit of the newest apply, and those of earlier ones that the ledger kept. */
function commitsIn(entries: readonly HistoryEntry[]): Pick<Ledger, 'commit' | 'otherCommits'> {
  const found = entriesOfCommits(entries).map(
    ({ commit: id = '', dirty, uncommitted, ignored }): AppliedCommit => ({
      id,
      ...(dirty ? { dirty } : {}),
      ...(uncommitted === undefined ? {} : { uncommitted }),
      ...(ignored ? { ignored } : {}),
    }),
  );
  const [commit, ...more] = new Map(
    found.map((each) => [`${each.id} ${each.uncommitted ?? ''}`, each]),
  ).values();
  if (commit === undefined) return {};
  return { commit, ...(more.length === 0 ? {} : { otherCommits: more.slice(0, 20) }) };
}

/** What the history still knows of a lost ledger: the commit that was applied last, and approvals that have ended. @throws LedgerError */
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
    // The newest come first, and count.
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

// Finds creations and other changes in the history whose result is not recorded in the ledger. Read from the newest entry back,
// these are:
// all creations of applies that never ended; those that were made by applies that could not write the ledger at their end; and of
// the last apply before those, the creations without an answer. A later apply closes the entries. An entry counts only for targets
// that are still the same place.

interface BegunCreationsInput {
  readonly stack: Stack;
  readonly kinds: Registry;
  readonly resources: readonly DesiredResource[];
  readonly ledger: Ledger;
}

/** How many entries are read: more than the usual repetitions of an apply. */
const maxRecentEntries = 20;

interface BegunChanges {
  readonly creations: ReadonlySet<AddressText>;
  /** creations, adoptions and updates */
  readonly changes: ReadonlySet<AddressText>;
}

/** Reads the history only when a declared resource without a parent has no record. @throws LedgerError */
export async function begunChanges(
  store: Pick<HistoryStore, 'readEntries'>,
  { stack, kinds, resources, ledger }: BegunCreationsInput,
): Promise<BegunChanges> {
  const isInQuestion = ({ address }: DesiredResource) =>
    kinds.get(address.kind)?.ownership.by !== 'child' && !ledger.records.has(formatAddress(address));
  if (!ledger.known || !resources.some(isInQuestion)) return { creations: new Set(), changes: new Set() };
  const { open, last } = await readEntries(store, stack.name);
  return {
    creations: new Set(open.flatMap((entry) => openChanges(entry, stack, isOpenCreation))),
    changes: new Set([...open, ...last].flatMap((entry) => openChanges(entry, stack, isOpenChange))),
  };
}

/** The creations of earlier applies that may have been carried out and are not recorded. @throws LedgerError */
export async function unrecordedCreations(
  store: Pick<HistoryStore, 'readEntries'>,
  { stack, ledger }: Pick<BegunCreationsInput, 'stack' | 'ledger'>,
): Promise<readonly AddressText[]> {
  const { open } = await readEntries(store, stack.name);
  const begun = new Set(open.flatMap((entry) => openChanges(entry, stack, isOpenCreation)));
  return [...begun].filter((address) => !ledger.records.has(address)).sort();
}

/**
 * Closes open entries at the end of a later apply, also one with nothing to do: by then all that they created is recorded.
 * @param lockGuard checked after the entries were read, so that entries of a run that took the lock away are not closed
 * @returns whether the last apply did not prove that nothing is left to do
 * @throws LedgerError
 */
async function resolveEntries(store: HistoryStore, about: Settling): Promise<boolean> {
  const { stack, settled, lockGuard } = about;
  const { open, last } = await readEntries(store, stack);
  if (open.length === 0) return last.some(({ proved }) => proved !== true);
  await lockGuard?.check();
  await store.keepEntries(open.map((entry) => ({ ...entry, settled })));
  return true;
}

interface Settling {
  readonly stack: string;
  /** RFC 3339 */
  readonly settled: string;
  readonly lockGuard?: Pick<LeaseGuard, 'check'> | undefined;
}

interface ReadEntries {
  readonly open: readonly HistoryEntry[];
  /** the last apply that ended, if it is none of the open ones: a change of it may have stopped halfway */
  readonly last: readonly HistoryEntry[];
}

async function readEntries(store: Pick<HistoryStore, 'readEntries'>, stack: string): Promise<ReadEntries> {
  return splitOpenEntries(completeEntries(await ownEntries(store, maxRecentEntries)), stack);
}

/** @param all newest first; copies of another stack's entries do not count */
export function splitOpenEntries(all: readonly HistoryEntry[], stack: string): ReadEntries {
  const entries = all.filter(({ moved }) => moved !== true);
  const end = entries.findIndex(
    ({ ended, unrecorded, settled, stack: of }) =>
      (ended !== undefined && !unrecorded) || settled !== undefined || of !== stack,
  );
  if (end === -1) return { open: entries, last: [] };
  const last = entries[end];
  const isOpen = last?.stack === stack && last.settled === undefined && last.changes.some(isInDoubt);
  if (isOpen) return { open: entries.slice(0, end + 1), last: [] };
  return { open: entries.slice(0, end), last: last?.stack === stack ? [last] : [] };
}

function isInDoubt({ action, outcome, inDoubt }: HistoryChange): boolean {
  return action === 'create' && (outcome === 'unknown' || inDoubt === true);
}

/** Whether the outcome says that the resource was created. */
function wasMade(change: HistoryChange): boolean {
  const { action, outcome, foundTrue, done = [] } = change;
  return action === 'create' && (outcome === 'applied' || foundTrue === true || done.length > 0);
}

type OpenIn = (change: HistoryChange, entry: HistoryEntry) => boolean;

const isOpenCreation: OpenIn = (change, { ended, unrecorded }) =>
  ended === undefined
    ? change.action === 'create'
    : isInDoubt(change) || (unrecorded === true && wasMade(change));

const isOpenChange: OpenIn = (change, entry) => {
  const { action, outcome, inDoubt, done = [] } = change;
  if (isOpenCreation(change, entry)) return true;
  if (action !== 'create' && action !== 'adopt' && action !== 'update') return false;
  const isCut = entry.ended === undefined || entry.unrecorded === true;
  return isCut || outcome === 'unknown' || inDoubt === true || done.length > 0;
};

function openChanges(entry: HistoryEntry, stack: Stack, isOpen: OpenIn): AddressText[] {
  const { changes, targets = {} } = entry;
  const today = identitiesOf(stack.targets);
  return changes.flatMap((change) => {
    const { target } = parseAddress(change.address);
    const isSamePlace = today.has(target) && today.get(target) === targets[target];
    return isSamePlace && isOpen(change, entry) ? [change.address] : [];
  });
}
