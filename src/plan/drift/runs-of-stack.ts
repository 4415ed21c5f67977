/** What the history of a stack tells of its writes to one target: when each resource was last applied, and by which requests (rule 50). */
import { type AddressText, parseAddress } from '../../model/resource/address.ts';
import { type HistoryChange, type HistoryEntry, LedgerError } from '../../model/stack/ledger.ts';

/** The clock of a run and that of the service may differ by so many milliseconds where nobody told by how much. */
export const clockSkew = 60_000;

/** What remains of that where the answers of the service told it: they tell whole seconds, and took their time. */
const reportedSkew = 5_000;

/** How long an apply that was killed may have written: the default limit of a run. */
const longestRun = 3_600_000;

export interface RunsOfStack {
  /** the ids of all requests to the target: the trail of another organization has none of them */
  readonly requests: ReadonlySet<string>;
  /** those that left the resource as it was declared */
  requestsOn(address: AddressText): ReadonlySet<string>;
  /** the runs that may have written to the resource, to its whole or to a part of it: a trail knows them by one id */
  runsOn(address: AddressText): readonly RunOnResource[];
  /**
   * When the stack last applied the resource, or proved that it was as applied: no earlier than this, in milliseconds since 1970 by the
   * clock of the service; undefined when the history does not tell.
   * @param clockAhead of the service, now
   */
  appliedSince(address: AddressText, clockAhead: number | undefined): number | undefined;
  /** from when on all runs are known, by the same clock; infinity when the last one is not */
  knownSince(clockAhead: number | undefined): number;
}

interface RunOnResource {
  readonly entry: HistoryEntry;
  /** whether the ids of all its requests on the resource are known */
  readonly named: boolean;
}

/** @param history newest first, with an error in the place of an entry that cannot be read: what it did is not known */
export function runsOfStack(target: string, history: readonly (HistoryEntry | LedgerError)[]): RunsOfStack {
  const entries = history.flatMap((entry, at) =>
    entry instanceof LedgerError ? [] : [{ entry: endedBy(entry, history[at - 1]), at }],
  );
  const unread = history.findIndex((entry) => entry instanceof LedgerError);
  const proved = entries.find(({ entry }) => entry.proved);
  const all = entries.flatMap((one) => one.entry.changes.map((change) => ({ change, ...one })));
  const here = all.filter(({ change }) => parseAddress(change.address).target === target);
  const byAddress = Map.groupBy(here, ({ change }) => change.address);
  const byName = Map.groupBy(here, ({ change }) => parseAddress(change.address).name);
  const oldestKnown = entries.findLast(({ at }) => unread === -1 || at < unread);
  const completed = (address: AddressText) =>
    (byAddress.get(address) ?? []).filter(({ change }) => isCompleted(change));
  return {
    requests: requestsOf(here),
    requestsOn: (address) => requestsOf(completed(address)),
    runsOn: (address) =>
      (byName.get(parseAddress(address).name) ?? []).map(({ change, entry }) => ({
        entry,
        named: isNamed(change),
      })),
    appliedSince: (address, clockAhead) => {
      const [written] = completed(address);
      const isLater = written !== undefined && (proved === undefined || written.at < proved.at);
      const run = isLater ? written : proved;
      if (run === undefined || (unread !== -1 && unread < run.at)) return undefined;
      return timeOfRun(run.entry, target, clockAhead).from;
    },
    knownSince: (clockAhead) =>
      oldestKnown === undefined
        ? Number.POSITIVE_INFINITY
        : timeOfRun(oldestKnown.entry, target, clockAhead).from,
  };
}

/** An apply that was killed was over when the next one could begin: two never hold the lock of a stack. */
function endedBy(entry: HistoryEntry, next: HistoryEntry | LedgerError | undefined): HistoryEntry {
  if (entry.ended !== undefined || next === undefined || next instanceof LedgerError) return entry;
  const latest = Date.parse(entry.began) + longestRun;
  return { ...entry, ended: new Date(Math.min(latest, Date.parse(next.began))).toISOString() };
}

function requestsOf(all: readonly { readonly change: HistoryChange }[]): ReadonlySet<string> {
  return new Set(all.flatMap(({ change }) => change.requests ?? []));
}

/**
 * When a run was, by the clock of the service. Where it did not keep how far that was from its own, it may have been on this machine, or on
 * one whose clock was right.
 */
export function timeOfRun(
  { began, ended, clocks = {} }: HistoryEntry,
  target: string,
  clockAhead = 0,
): { readonly from: number; readonly to: number } {
  const told = clocks[target];
  const ahead = told === undefined ? [0, clockAhead] : [told];
  const skew = told === undefined ? clockSkew : reportedSkew;
  const begin = Date.parse(began);
  const end = ended === undefined ? begin + longestRun : Date.parse(ended);
  return { from: begin + Math.min(...ahead) - skew, to: end + Math.max(...ahead) + skew };
}

/**
 * Whether the change left its resource as declared. One that was killed, or stopped between two calls, may have written, but what was
 * drifted before may be so still: who touched it earlier is asked about, too.
 */
function isCompleted({ outcome, foundTrue }: HistoryChange): boolean {
  return outcome === 'applied' || outcome === 'unchanged' || foundTrue === true;
}

function isNamed({ outcome, requests, unnamed }: HistoryChange): boolean {
  return outcome === 'applied' && requests !== undefined && !unnamed;
}
