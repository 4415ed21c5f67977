/**
 * Joins drift with the audit trail: for each drifted resource the events on it since this stack last applied it, without its own
 * writes (rule 50). Joined by the id of the resource, of a part by that of its whole; for what is gone by the recorded one.
 */
import type { TrailEvent } from '../../model/audit-trail.ts';
import type { DriftedResource } from '../../model/plan/drift.ts';
import type { Modification, LastModified } from '../../model/plan/touch.ts';
import { type AddressText, formatAddress, parseAddress } from '../../model/resource/address.ts';
import type { HistoryEntry } from '../../model/stack/ledger.ts';
import { type RunsOfStack, timeOfRun } from './runs-of-stack.ts';

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
