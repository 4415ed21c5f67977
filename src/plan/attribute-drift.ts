/**
 * Joins drift with the audit trail and the history of the stack: who modified each drifted resource since this stack last
 * applied it, without the stack's own writes.
 */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { LastModified, Modification, TrailEvent } from '../model/audit-trail.ts';
import type { Drift, DriftedResource } from '../model/drift.ts';
import { type HistoryChange, type HistoryEntry, LedgerError } from '../model/ledger.ts';
import type { Coverage, Plan } from '../model/plan.ts';

/** The clocks of a run and of the service may differ by this many milliseconds, if the difference is not known. */
export const clockSkew = 60_000;

/** How exact the difference of the clocks is, if responses showed it: their dates are whole seconds, and they take time to arrive. */
const reportedSkew = 5_000;

/** How long a killed apply may have written: the default time limit of a run. */
const longestRun = 3_600_000;

export interface RunsOfStack {
  /** the ids of all requests of this stack to the target; the trail of another organization has none of them */
  readonly requests: ReadonlySet<string>;
  /** the ids of requests that left the resource as declared */
  requestsOn(address: AddressText): ReadonlySet<string>;
  /** The runs that may have written to the resource, its parent or its children: the trail has one id for all of these. */
  runsOn(address: AddressText): readonly RunOnResource[];
  /**
   * The earliest time at which the stack may have last applied the resource, or verified it as applied, in milliseconds since 1970 by the
   * clock of the service; undefined if the history does not have it.
   * @param clockAhead by how many milliseconds the clock of the service is ahead now
   */
  appliedSince(address: AddressText, clockAhead: number | undefined): number | undefined;
  /** the time since which all runs are known, by the same clock; infinity if not even the last run is known */
  knownSince(clockAhead: number | undefined): number;
}

interface RunOnResource {
  readonly entry: HistoryEntry;
  /** whether the ids of all its requests on the resource are known */
  readonly named: boolean;
}

/** @param history newest first, with an error in place of an entry that cannot be read */
export function runsOfStack(target: string, history: readonly (HistoryEntry | LedgerError)[]): RunsOfStack {
  const entries = history.flatMap((entry, index) =>
    entry instanceof LedgerError ? [] : [{ entry: withEnd(entry, history[index - 1]), index }],
  );
  const firstUnread = history.findIndex((entry) => entry instanceof LedgerError);
  // The last apply after which all resources were live as recorded.
  const proved = entries.find(({ entry }) => entry.proved);
  const all = entries.flatMap((one) => one.entry.changes.map((change) => ({ change, ...one })));
  const here = all.filter(({ change }) => parseAddress(change.address).target === target);
  const byAddress = Map.groupBy(here, ({ change }) => change.address);
  const byName = Map.groupBy(here, ({ change }) => parseAddress(change.address).name);
  const oldestKnown = entries.findLast(({ index }) => firstUnread === -1 || index < firstUnread);
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
      const isLater = written !== undefined && (proved === undefined || written.index < proved.index);
      const run = isLater ? written : proved;
      if (run === undefined || (firstUnread !== -1 && firstUnread < run.index)) return undefined;
      return timeOfRun(run.entry, target, clockAhead).from;
    },
    knownSince: (clockAhead) =>
      oldestKnown === undefined
        ? Number.POSITIVE_INFINITY
        : timeOfRun(oldestKnown.entry, target, clockAhead).from,
  };
}

/**
 * The entry with an end: a killed apply ended before the next one began, because two runs never hold the lock of a stack at once. If the
 * next one seems to have begun earlier, the clocks of their machines differ, and that says nothing.
 */
function withEnd(entry: HistoryEntry, next: HistoryEntry | LedgerError | undefined): HistoryEntry {
  if (entry.ended !== undefined || next === undefined || next instanceof LedgerError) return entry;
  const [begin, following] = [Date.parse(entry.began), Date.parse(next.began)];
  const latest = begin + longestRun;
  const end = following < begin ? latest : Math.min(latest, following);
  return { ...entry, ended: new Date(end).toISOString() };
}

function requestsOf(all: readonly { readonly change: HistoryChange }[]): ReadonlySet<string> {
  return new Set(all.flatMap(({ change }) => change.requests ?? []));
}

/**
 * The time of a run by the clock of the service, with a margin for the difference of the clocks. If the run did not record the difference,
 * the margin covers both a run on this machine and one on a machine with a correct clock.
 */
function timeOfRun(
  { began, ended, clocks = {} }: HistoryEntry,
  target: string,
  clockAhead = 0,
): { readonly from: number; readonly to: number } {
  const reported = clocks[target];
  const ahead = reported === undefined ? [0, clockAhead] : [reported];
  const skew = reported === undefined ? clockSkew : reportedSkew;
  const begin = Date.parse(began);
  const end = ended === undefined ? begin + longestRun : Date.parse(ended);
  return { from: begin + Math.min(...ahead) - skew, to: end + Math.max(...ahead) + skew };
}

/**
 * Whether the change left its resource as declared. If it was killed, or stopped between two calls, it may have written something, but
 * earlier drift may remain, so earlier modifications are reported, too.
 */
function isCompleted({ outcome, foundTrue }: HistoryChange): boolean {
  return outcome === 'applied' || outcome === 'unchanged' || foundTrue === true;
}

function isNamed({ outcome, requests, unnamed }: HistoryChange): boolean {
  return outcome === 'applied' && requests !== undefined && !unnamed;
}

// Finds for each drifted resource the events of the audit trail since this stack last applied it, without the stack's own writes.
// Events are found by the id of the resource (of a child: the id of its parent), or by the recorded id if the resource is gone.

/** A drifted resource whose modifications are wanted. */
export type ModifiedResource = Pick<DriftedResource, 'address' | 'id' | 'newId'>;

/** What was read of the trail of one target. */
export interface TrailReading {
  readonly events: readonly TrailEvent[];
  /** milliseconds since 1970: nothing earlier was requested, or nothing earlier is kept */
  readonly from: number;
  /** why nothing earlier was read, as a clause */
  readonly why: string;
  /** why not all events since `from` were read; absent when they were */
  readonly cut?: string;
  /** milliseconds by which the clock of the service is ahead of the local one; absent when not known */
  readonly clockAhead?: number | undefined;
}

/** @returns a lookup for each drifted resource of the trail's target: a trail is long, so it is indexed once */
export function lastModifiedBy(
  trail: TrailReading,
  runs: RunsOfStack,
): (drifted: ModifiedResource) => LastModified {
  const { clockAhead } = trail;
  const byResource = Map.groupBy(trail.events, ({ resource }) => resource.id);
  const isOwn = ({ requestId }: TrailEvent) => requestId !== undefined && runs.requests.has(requestId);
  const own = trail.events.filter(isOwn);
  // The trail of a service may have no request ids at all, although the service's responses have them.
  const hasRequestIds = trail.events.some(({ requestId }) => requestId !== undefined);
  const ourActors = new Set(own.map(({ actor }) => actor.id));
  const knownSince = runs.knownSince(clockAhead);
  return (drifted) => {
    const text = formatAddress(drifted.address);
    const onIt = idsOf(drifted).flatMap((id) => byResource.get(id) ?? []);
    const applied = runs.appliedSince(text, clockAhead);
    const since = Math.max(ourLastWrite(onIt, text, runs), applied ?? Number.NEGATIVE_INFINITY);
    const unnamed = runs
      .runsOn(text)
      .filter(({ named }) => !named || !hasRequestIds)
      .map(({ entry }) => timeIn(entry, text, clockAhead));
    // A run that is missing in the history may have written, too.
    const isPossiblyOurs = ({ actor, at }: TrailEvent) =>
      (ourActors.size === 0 || ourActors.has(actor.id)) &&
      (at < knownSince || unnamed.some(({ from, to }) => at >= from && at <= to));
    const modifications = onIt
      .filter((event) => event.at >= since && !isOwn(event))
      .sort((one, other) => other.at - one.at)
      .map((event) => modificationOf(event, isPossiblyOurs(event)));
    const unknown =
      trail.cut ??
      (since < trail.from ? whyUnknown(trail, applied) : undefined) ??
      (onIt.length > 0 || own.length > 0 ? undefined : unverified);
    return {
      modifications,
      ...(unknown === undefined ? {} : { unknown }),
      ...(clockAhead ? { clockAhead } : {}),
    };
  };
}

/** The ids that the trail may know the resource by: as it was applied, and as it is live. */
function idsOf({ id, newId }: ModifiedResource): readonly string[] {
  return [...new Set([id, newId])].filter((one) => one !== undefined);
}

/** The time of our last write to the resource itself. A child shares the id of its parent, so writes to the parent do not count. */
function ourLastWrite(onIt: readonly TrailEvent[], address: AddressText, runs: RunsOfStack): number {
  const ours = runs.requestsOn(address);
  return onIt
    .filter(({ requestId = '' }) => ours.has(requestId))
    .reduce((last, { at }) => Math.max(last, at), Number.NEGATIVE_INFINITY);
}

function timeIn(run: HistoryEntry, address: AddressText, clockAhead: number | undefined) {
  return timeOfRun(run, parseAddress(address).target, clockAhead);
}

/** The trail has neither our requests nor events of the resource, so the lack of events proves nothing. */
const unverified =
  'the audit trail has no event of this stack since the last apply: its token may be of another organization, or the clock of this machine ahead of the service';

function whyUnknown({ why }: TrailReading, applied: number | undefined): string {
  return applied === undefined
    ? `the history of this stack does not show when it was last applied, and ${why}`
    : `it was last applied before that: ${why}`;
}

function modificationOf(
  { id, timestamp, actor, resource, requestId }: TrailEvent,
  maybeOurs: boolean,
): Modification {
  const { type, action } = resource;
  return {
    at: timestamp,
    actor,
    resource: { type, action },
    event: id,
    ...(requestId === undefined ? {} : { requestId }),
    ...(maybeOurs && { maybeOurs }),
  };
}

// Adds to a report who modified the drifted resources. Digest and calls do not change.

/** What was found in the audit trails. */
export interface Modifications {
  /** by address in the ledger */
  readonly byAddress: ReadonlyMap<AddressText, LastModified>;
  /** by target: how the trail was read, or why it was not */
  readonly trails: ReadonlyMap<string, string>;
}

export function driftWithAuthors(drift: Drift, found: Modifications): Drift {
  const { unmanaged } = drift;
  return {
    ...drift,
    ...(unmanaged === undefined
      ? {}
      : {
          unmanaged: {
            ...unmanaged,
            resources: unmanaged.resources.map((one) =>
              withLastModified(one, found.byAddress.get(formatAddress(one.address))),
            ),
          },
        }),
    drifted: drift.drifted.map((one) =>
      withLastModified(one, found.byAddress.get(formatAddress(one.address))),
    ),
    coverage: withTrails(drift.coverage, found),
  };
}

/** @param drifted from the same reading as the plan */
export function planWithAuthors(plan: Plan, drifted: readonly DriftedResource[], found: Modifications): Plan {
  const byAddress = new Map(
    drifted.map(({ address, declaredAs }) => [
      formatAddress(declaredAs ?? address),
      found.byAddress.get(formatAddress(address)),
    ]),
  );
  return {
    ...plan,
    changes: plan.changes.map((change) =>
      withLastModified(change, byAddress.get(formatAddress(change.address))),
    ),
    coverage: withTrails(plan.coverage, found),
  };
}

function withLastModified<T extends object>(subject: T, lastModified: LastModified | undefined): T {
  return lastModified === undefined ? subject : { ...subject, lastModified };
}

function withTrails(coverage: Coverage, { trails }: Modifications): Coverage {
  return {
    ...coverage,
    targets: coverage.targets.map((target) => {
      const trail = trails.get(target.target);
      return trail === undefined ? target : { ...target, trail };
    }),
  };
}
