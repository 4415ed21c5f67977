/**
 * Joins drift with the audit trail: for each drifted resource the events on it since this stack last applied it, without its own
 * writes (rule 50). Joined by the id of the resource, of a part by that of its whole; for what is gone by the recorded one.
 */
import type { TrailEvent } from '../../model/audit-trail.ts';
import type { DriftedResource } from '../../model/plan/drift.ts';
import type { Touch, Touched } from '../../model/plan/touch.ts';
import { type AddressText, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { HistoryChange, HistoryEntry } from '../../model/stack/ledger.ts';

/** What is known of a resource that somebody touched. */
export type TouchedResource = Pick<DriftedResource, 'address' | 'id' | 'newId'>;

/** What was read of a trail. */
export interface TrailReading {
  readonly events: readonly TrailEvent[];
  /** milliseconds since 1970: nothing earlier was asked for, or nothing earlier is kept */
  readonly from: number;
  /** why nothing earlier was seen, as a clause */
  readonly why: string;
  /** why not all events since `from` were seen; absent when they were */
  readonly cut?: string;
}

/** Our clock and that of the service may differ by so many milliseconds. */
export const clockSkew = 60_000;

/** How long an apply that was killed may have written: the default limit of a run. */
const longestRun = 3_600_000;

/** The ids that the trail may know the resource by: as it was applied, and as it is live. */
function idsOf({ id, newId }: TouchedResource): ReadonlySet<string> {
  return new Set([id, newId].filter((one) => one !== undefined));
}

/**
 * When the stack last applied this resource, or proved that it was as applied, in milliseconds since 1970 by the clock of its
 * runs; undefined when the history does not tell.
 * @param history newest first
 */
export function lastApplied(address: AddressText, history: readonly HistoryEntry[]): number | undefined {
  const last = history.find(
    ({ proved, changes }) => proved || changes.some((change) => isOf(change, address)),
  );
  return last === undefined ? undefined : Date.parse(last.began);
}

/** Whether the change wrote to this resource. Without an outcome, the apply was killed: then it may have. */
function isOf({ address, outcome, done, foundTrue }: HistoryChange, wanted: AddressText): boolean {
  if (address !== wanted) return false;
  const isBroken = outcome === 'stale' || outcome === 'skipped' || outcome === 'failed';
  return !isBroken || foundTrue === true || (done?.length ?? 0) > 0;
}

/** @param history newest first */
export function whoTouched(
  drifted: TouchedResource,
  trail: TrailReading,
  history: readonly HistoryEntry[],
): Touched {
  const text = formatAddress(drifted.address);
  const ids = idsOf(drifted);
  const onIt = trail.events.filter(({ resource }) => ids.has(resource.id));
  // The trail of another organization has none of the requests to this target.
  const own = ownRequests(history, ({ address }) => parseAddress(address).target === drifted.address.target);
  const isOwn = ({ requestId }: TrailEvent) => requestId !== undefined && own.has(requestId);
  // A part shares the id of its whole, so that only what wrote this very resource shows that it was as applied.
  const ownHere = ownRequests(history, (change) => change.address === text);
  const ourLast = Math.max(
    ...onIt.filter(({ requestId = '' }) => ownHere.has(requestId)).map(({ at }) => at),
  );
  const applied = lastApplied(text, history);
  const since = Math.max(ourLast, applied === undefined ? Number.NEGATIVE_INFINITY : applied - clockSkew);
  const ourActors = new Set(trail.events.filter(isOwn).map(({ actor }) => actor.id));
  const mayBeOurs = (event: TrailEvent) =>
    (ourActors.size === 0 || ourActors.has(event.actor.id)) && isInUnnamedRun(event, text, history);
  const touches = onIt
    .filter((event) => event.at >= since && !isOwn(event))
    .sort((one, other) => other.at - one.at)
    .map((event) => touchOf(event, mayBeOurs(event)));
  const isProven = onIt.length > 0 || trail.events.some(isOwn);
  const unknown =
    trail.cut ??
    (since < trail.from ? whyUnknown(trail, applied) : undefined) ??
    (isProven ? undefined : unproven);
  return { touches, ...(unknown === undefined ? {} : { unknown }) };
}

/** Neither a request of ours nor the resource is in what was read, so that it says nothing that nobody touched it. */
const unproven =
  'the audit trail has nothing since the last apply that is known to be ours: its token may be of another organization, or the clock of this machine ahead of the service';

function whyUnknown({ why }: TrailReading, applied: number | undefined): string {
  return applied === undefined
    ? `the history of this stack does not tell when it was applied last, and ${why}`
    : `it was applied last before that: ${why}`;
}

function touchOf({ id, timestamp, actor, resource, requestId }: TrailEvent, maybeOurs: boolean): Touch {
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

function ownRequests(
  history: readonly HistoryEntry[],
  isWanted: (change: HistoryChange) => boolean = () => true,
): ReadonlySet<string> {
  const changes = history.flatMap((entry) => entry.changes.filter(isWanted));
  return new Set(changes.flatMap(({ requests = [] }) => requests));
}

function isNamed({ outcome, requests, unnamed }: HistoryChange): boolean {
  return outcome === 'applied' && requests !== undefined && !unnamed;
}

/** Whether an apply wrote to the resource at that time by requests whose ids are not all known. */
function isInUnnamedRun({ at }: TrailEvent, address: AddressText, history: readonly HistoryEntry[]): boolean {
  return history.some(({ began, ended, changes }) => {
    const begin = Date.parse(began);
    const end = ended === undefined ? begin + longestRun : Date.parse(ended);
    if (at < begin - clockSkew || at > end + clockSkew) return false;
    return changes.some((change) => change.address === address && !isNamed(change));
  });
}
