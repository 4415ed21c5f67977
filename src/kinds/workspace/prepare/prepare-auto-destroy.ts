/**
 * When the resources of a workspace are destroyed automatically: at its own time, or after a duration, its own or its project's,
 * from which the service computes a time. A computed or inherited value is no difference, and a value that the service would
 * refuse is noted and not sent (wire/workspaces 1.5.19, 2.1). A time that has passed is not sent: it would destroy at once.
 */
import { formatAddress } from '../../../model/resource/address.ts';
import type { Diagnostic } from '../../../model/diagnostic.ts';
import type { Json } from '../../../model/json/json.ts';
import type { PreparedSpecs } from '../../../model/kind/comparison.ts';
import { quoted } from '../../../model/quoted.ts';
import { fields } from '../fields.ts';
import type { WorkspaceComparison, WorkspaceFields } from '../workspace-types.ts';
import { type DurationAfter, duration, durationAfter } from './inherited-duration.ts';
import type { PreparedLive } from './prepared-live.ts';

export const time = 'autoDestroyAt';

export function prepareAutoDestroy(context: WorkspaceComparison): PreparedLive {
  const after = durationAfter(context);
  const parts = [
    prepareDuration(context, after),
    prepareTime(context, after.value),
    prepareCarriedOut(context),
  ];
  return {
    live: Object.assign({}, ...parts.map(({ live }) => live)),
    notes: parts.flatMap(({ notes }) => notes),
  };
}

/** An inherited duration is not reset, and null does not end it in a dialect where null inherits. */
function prepareDuration({ desired, live, record }: WorkspaceComparison, after: DurationAfter): PreparedLive {
  const declared = desired[duration];
  // Without it, a moved workspace would take the new project's duration over: the service is told that this one is its own.
  if (after.replaces !== undefined) {
    const note = `the new project says ${after.replaces}, so that the workspace is told to keep its own ${duration}`;
    return { live: { [duration]: after.replaces }, notes: [note] };
  }
  if (!after.isInherited || after.value === null) return { live: {}, notes: [] };
  if (declared === null) {
    const isLive = live?.facts.inheritsAutoDestroy === true;
    return { live: isLive ? { [duration]: null } : {}, notes: [projectDurationNote(after.value)] };
  }
  const isReset = declared === undefined && record?.fields[duration] !== undefined;
  return { live: isReset && after.stays ? { [duration]: null } : {}, notes: [] };
}

/** The note for a workspace whose manifest declares null. @param inherited the duration of its project */
function projectDurationNote(inherited: string): string {
  return `its project says ${inherited}, which null inherits in this dialect: ${duration} stays ${inherited}`;
}

/**
 * While there is a duration, the service always answers a time, and does not tell whether it computed it. But a time that we
 * had set ourselves, and that is still there, was not computed.
 */
function prepareTime({ desired, live, record }: WorkspaceComparison, remaining: string | null): PreparedLive {
  const [declared, recorded] = [desired[time], record?.fields[time]];
  const wantsNone = declared === null || (declared === undefined && recorded !== undefined);
  const found = canonicalTime(live?.spec[time]);
  if (!wantsNone || remaining === null || found === null || found === recorded)
    return { live: {}, notes: [] };
  const note = `while there is a duration (${remaining}), the service computes ${time} from it: null is not compared`;
  return { live: { [time]: null }, notes: declared === undefined ? [] : [note] };
}

/** A declared time that has passed and has done its work is as good as live: sent once more, it would destroy again. */
function prepareCarriedOut(context: WorkspaceComparison): PreparedLive {
  const declared = context.desired[time];
  if (declared === undefined || !isCarriedOut(context)) return { live: {}, notes: [] };
  const note = `${time} ${String(declared)} has passed, and the service carried it out: remove this line`;
  return { live: { [time]: declared }, notes: [note] };
}

export function isCarriedOut({ desired, live, record, now }: WorkspaceComparison): boolean {
  if (live === undefined || !hasPassed(desired[time], now)) return false;
  const found = canonicalTime(live.spec[time]);
  const isComputed = typeof live.spec[duration] === 'string';
  if (found !== null && !isComputed) return false;
  const isOurs = canonicalTime(record?.fields[time]) === canonicalTime(desired[time]);
  return isOurs || live.facts.autoDestroyStatus === 'destroyed';
}

/** A declared time that would be sent although it has passed. */
export function expiredTime(context: WorkspaceComparison): Pick<PreparedSpecs, 'expired'> {
  const { address, desired, live, now, place } = context;
  if (!hasPassed(desired[time], now) || isCarriedOut(context)) return {};
  if (live !== undefined && canonicalTime(live.spec[time]) === canonicalTime(desired[time])) return {};
  const expired: Diagnostic = {
    code: 'past-destroy-time',
    severity: 'error',
    class: 'invalid',
    message: `the ${time} of ${quoted(formatAddress(address))}, ${String(desired[time])}, has passed: sent now, it would destroy its resources at once`,
    ...(place === undefined ? {} : { place }),
    fix: `remove ${time}, or write a time to come`,
  };
  return { expired };
}

/** Whole minutes count, as in the service. */
export function hasPassed(declared: Json | undefined, now: number | undefined): boolean {
  const canonical = typeof declared === 'string' ? canonicalTime(declared) : null;
  return now !== undefined && typeof canonical === 'string' && Date.parse(canonical) <= now;
}

export function canonicalTime(value: WorkspaceFields[typeof time] | undefined): Json {
  return fields[time]?.compare.canonical(value ?? null) ?? null;
}
