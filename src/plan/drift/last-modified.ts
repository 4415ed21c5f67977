/**
 * Joins drift with the audit trail and the history of the stack: who modified each drifted resource since this stack last
 * applied it, without the stack's own writes (rule 50).
 */
import { type AddressText, formatAddress, parseAddress } from '../../model/address.ts';
import type { LastModified, Modification, TrailEvent } from '../../model/audit-trail.ts';
import type { Drift, DriftedResource } from '../../model/drift.ts';
import { type HistoryChange, type HistoryEntry, LedgerError } from '../../model/ledger.ts';
import type { Coverage, Plan } from '../../model/plan.ts';

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
function timeOfRun(
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

// Joins drift with the audit trail: for each drifted resource the events on it since this stack last applied it, without its own
// writes (rule 50). Joined by the id of the resource, of a part by that of its whole; for what is gone by the recorded one.

/** What is known of a resource that somebody touched. */
export type ModifiedResource = Pick<DriftedResource, 'address' | 'id' | 'newId'>;

/** What was read of the trail of one target. */
export interface TrailReading {
  readonly events: readonly TrailEvent[];
  /** milliseconds since 1970: nothing earlier was asked for, or nothing earlier is kept */
  readonly from: number;
  /** why nothing earlier was seen, as a clause */
  readonly why: string;
  /** why not all events since `from` were seen; absent when they were */
  readonly cut?: string;
  /** milliseconds by which the clock of the service is ahead of ours now; absent where it did not tell */
  readonly clockAhead?: number | undefined;
}

/** @returns tells of each drifted resource of the trail's target who touched it: a trail is long, so it is sorted once */
export function lastModifiedBy(
  trail: TrailReading,
  runs: RunsOfStack,
): (drifted: ModifiedResource) => LastModified {
  const { clockAhead } = trail;
  const byResource = Map.groupBy(trail.events, ({ resource }) => resource.id);
  const isOwn = ({ requestId }: TrailEvent) => requestId !== undefined && runs.requests.has(requestId);
  const own = trail.events.filter(isOwn);
  // The trail of a service may tell no requests at all, though their answers did.
  const tellsRequests = trail.events.some(({ requestId }) => requestId !== undefined);
  const ourActors = new Set(own.map(({ actor }) => actor.id));
  const knownSince = runs.knownSince(clockAhead);
  return (drifted) => {
    const text = formatAddress(drifted.address);
    const onIt = idsOf(drifted).flatMap((id) => byResource.get(id) ?? []);
    const applied = runs.appliedSince(text, clockAhead);
    const since = Math.max(ourLastWrite(onIt, text, runs), applied ?? Number.NEGATIVE_INFINITY);
    const unnamed = runs
      .runsOn(text)
      .filter(({ named }) => !named || !tellsRequests)
      .map(({ entry }) => timeIn(entry, text, clockAhead));
    // A run that the history does not tell may have written, too.
    const mayBeOurs = ({ actor, at }: TrailEvent) =>
      (ourActors.size === 0 || ourActors.has(actor.id)) &&
      (at < knownSince || unnamed.some(({ from, to }) => at >= from && at <= to));
    const touches = onIt
      .filter((event) => event.at >= since && !isOwn(event))
      .sort((one, other) => other.at - one.at)
      .map((event) => modificationOf(event, mayBeOurs(event)));
    const unknown =
      trail.cut ??
      (since < trail.from ? whyUnknown(trail, applied) : undefined) ??
      (onIt.length > 0 || own.length > 0 ? undefined : unverified);
    return {
      touches,
      ...(unknown === undefined ? {} : { unknown }),
      ...(clockAhead ? { clockAhead } : {}),
    };
  };
}

/** The ids that the trail may know the resource by: as it was applied, and as it is live. */
function idsOf({ id, newId }: ModifiedResource): readonly string[] {
  return [...new Set([id, newId])].filter((one) => one !== undefined);
}

/** A part shares the id of its whole, so that only what wrote this very resource shows that it was as applied. */
function ourLastWrite(onIt: readonly TrailEvent[], address: AddressText, runs: RunsOfStack): number {
  const ours = runs.requestsOn(address);
  return onIt
    .filter(({ requestId = '' }) => ours.has(requestId))
    .reduce((last, { at }) => Math.max(last, at), Number.NEGATIVE_INFINITY);
}

function timeIn(run: HistoryEntry, address: AddressText, clockAhead: number | undefined) {
  return timeOfRun(run, parseAddress(address).target, clockAhead);
}

/** Neither a request of ours nor the resource is in what was read, so that it says nothing that nobody touched it. */
const unverified =
  'the audit trail has nothing since the last apply that is known to be ours: its token may be of another organization, or the clock of this machine ahead of the service';

function whyUnknown({ why }: TrailReading, applied: number | undefined): string {
  return applied === undefined
    ? `the history of this stack does not tell when it was applied last, and ${why}`
    : `it was applied last before that: ${why}`;
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

// Puts into a report who touched what drifted. Neither digest nor calls change with it (rules 27, 50).

/** What the audit trails told. */
export interface Modifications {
  /** by address in the ledger */
  readonly touched: ReadonlyMap<AddressText, LastModified>;
  /** by target: how the trail was asked, or why it was not */
  readonly trails: ReadonlyMap<string, string>;
}

export function driftWithAuthors(drift: Drift, touches: Modifications): Drift {
  const { unmanaged } = drift;
  return {
    ...drift,
    ...(unmanaged === undefined
      ? {}
      : {
          unmanaged: {
            ...unmanaged,
            resources: unmanaged.resources.map((one) =>
              withLastModified(one, touches.touched.get(formatAddress(one.address))),
            ),
          },
        }),
    drifted: drift.drifted.map((one) =>
      withLastModified(one, touches.touched.get(formatAddress(one.address))),
    ),
    coverage: withTrails(drift.coverage, touches),
  };
}

/** @param drifted from the same reading as the plan */
export function planWithAuthors(
  plan: Plan,
  drifted: readonly DriftedResource[],
  touches: Modifications,
): Plan {
  const byAddress = new Map(
    drifted.map(({ address, declaredAs }) => [
      formatAddress(declaredAs ?? address),
      touches.touched.get(formatAddress(address)),
    ]),
  );
  return {
    ...plan,
    changes: plan.changes.map((change) =>
      withLastModified(change, byAddress.get(formatAddress(change.address))),
    ),
    coverage: withTrails(plan.coverage, touches),
  };
}

function withLastModified<T extends object>(subject: T, touched: LastModified | undefined): T {
  return touched === undefined ? subject : { ...subject, touched };
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
