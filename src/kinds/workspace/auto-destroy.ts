/**
 * When the resources of a workspace are destroyed automatically: at its own time, or after a duration, its own or its project's
 * (wire/workspaces 1.5.19, 2.1), and which change makes that happen, or happen sooner. A time that has passed is not sent.
 */
import { formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Risk } from '../../model/guard.ts';
import type { Json, Path } from '../../model/json.ts';
import type { Inheritable, PreparedSpecs } from '../../model/kind-specs.ts';
import { quoted, quotedUnlessPlain } from '../../model/quoted.ts';
import { fields } from './fields.ts';
import type { PreparedLive, WorkspaceComparison, WorkspaceFields } from './workspace-types.ts';

const duration = 'autoDestroyActivityDuration';

interface DurationAfter {
  /** null: none, or not known */
  readonly value: string | null;
  readonly isInherited: boolean;
  /** it is inherited already, and from the same project */
  readonly stays: boolean;
  /** why the inherited one could not be read */
  readonly unread?: string;
  /** the project's duration that the workspace would take over if its own was not sent again */
  readonly replaces?: string;
  /** an own duration that nobody declares, which the project's may replace */
  readonly mayBecome?: string;
}

function durationAfter(context: WorkspaceComparison): DurationAfter {
  const { desired, record } = context;
  const { [duration]: declared } = desired;
  if (typeof declared === 'string') {
    const own = textOf(declared);
    return { ...asOwn(own), ...takenOver(context, own) };
  }
  const isReset = declared === undefined && record?.fields[duration] !== undefined;
  return declared === null || isReset ? afterNull(context, isReset) : undeclared(context);
}

/** Null, or the default that a field gets which is no longer declared. */
function afterNull(context: WorkspaceComparison, isReset: boolean): DurationAfter {
  const { live } = context;
  const isHeld = live?.facts.inheritsAutoDestroy === true && !moves(context);
  const held = isHeld ? textOf(live.spec[duration]) : null;
  // What was inherited all along needs no reset.
  if (isReset && held !== null) return inheritedAs(held);
  if (endsByNull(context)) return { ...asOwn(null), ...takenOver(context, null) };
  return held === null ? fromParent(context) : inheritedAs(held);
}

function undeclared(context: WorkspaceComparison): DurationAfter {
  const { live } = context;
  if (live === undefined) return fromParent(context);
  const { inheritsAutoDestroy: inherits } = live.facts;
  const found = textOf(live.spec[duration]);
  if (!moves(context)) return inherits === true && found !== null ? inheritedAs(found) : asOwn(found);
  if (inherits === false) return asOwn(found);
  const given = fromParent(context);
  if (inherits === true || found === null) return given;
  return { ...asOwn(found), ...(given.value === null ? {} : { mayBecome: given.value }) };
}

function moves({ desired: { projectId }, live }: WorkspaceComparison): boolean {
  return live !== undefined && projectId !== undefined && projectId !== live.spec.projectId;
}

/** In the other dialects null means: the project's. */
function endsByNull({ dialect }: WorkspaceComparison): boolean {
  return dialect.capabilities.has('own-auto-destroy');
}

function asOwn(value: string | null): DurationAfter {
  return { value, isInherited: false, stays: false };
}

function inheritedAs(value: string): DurationAfter {
  return { value, isInherited: true, stays: true };
}

function fromParent({ inheritable }: WorkspaceComparison): DurationAfter {
  const { values, unread } = inheritable ?? {};
  return {
    value: textOf(values?.[duration]),
    isInherited: true,
    stays: false,
    ...(unread === undefined ? {} : { unread }),
  };
}

/** Of a workspace that moves and is not known to have a duration of its own: it has to be sent, or the new project's counts. */
function takenOver(context: WorkspaceComparison, own: string | null): Pick<DurationAfter, 'replaces'> {
  const { live } = context;
  if (live === undefined || !moves(context) || live.facts.inheritsAutoDestroy === false) return {};
  if (textOf(live.spec[duration]) !== own) return {};
  const { value } = fromParent(context);
  return value === null || value === own ? {} : { replaces: value };
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

// When the resources of a workspace are destroyed automatically: at its own time, or after a duration, its own or its project's,
// from which the service computes a time. A computed or inherited value is no difference, and a value that the service would
// refuse is noted and not sent (wire/workspaces 1.5.19, 2.1). A time that has passed is not sent: it would destroy at once.

const time = 'autoDestroyAt';

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

function isCarriedOut({ desired, live, record, now }: WorkspaceComparison): boolean {
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

function canonicalTime(value: WorkspaceFields[typeof time] | undefined): Json {
  return fields[time]?.compare.canonical(value ?? null) ?? null;
}

// Finds what makes the service destroy the resources of a workspace, or destroy them sooner: a time, a duration, a project that has
// one, or the end of a value that stood before it. Two specs do not show it: a duration may be inherited. Pure, without a clock.

export function scheduledDestroys(context: WorkspaceComparison): readonly Risk[] {
  return [...atItsTime(context), ...afterDuration(context)];
}

function destroys(path: Path, message: string): Risk {
  return { path, effect: 'destroys', message };
}

function atItsTime(context: WorkspaceComparison): Risk[] {
  const { desired, live } = context;
  const declared = canonicalTime(desired[time]);
  const before = canonicalTime(live?.spec[time]);
  if (typeof declared !== 'string' || isCarriedOut(context)) return [];
  if (before === null) return [destroys([time], `its resources are destroyed at ${declared}`)];
  return isLater(before, declared)
    ? [destroys([time], `its resources are destroyed at ${declared} instead of ${String(before)}`)]
    : [];
}

function isLater(one: Json, other: Json): boolean {
  return Date.parse(String(one)) > Date.parse(String(other));
}

function afterDuration(context: WorkspaceComparison): Risk[] {
  const { live, inheritable } = context;
  const after = durationAfter(context);
  const before = live?.spec[duration];
  const was = typeof before === 'string' && before !== '' ? before : undefined;
  if (after.unread !== undefined) return [unknown(after.unread, inheritable)];
  const path = after.isInherited ? ['inherited', duration] : [duration];
  const says = after.isInherited && inheritable !== undefined ? `, as ${inheritable.from} says` : '';
  const { value, mayBecome } = after;
  if (value !== null && isSooner(value, was)) {
    const instead = was === undefined ? '' : ` instead of ${quotedUnlessPlain(was)}`;
    return [
      destroys(
        path,
        `its resources are destroyed after ${quotedUnlessPlain(value)} without activity${instead}${says}`,
      ),
    ];
  }
  if (mayBecome !== undefined && isSooner(mayBecome, was)) {
    const message = `its resources may be destroyed after ${quotedUnlessPlain(mayBecome)} without activity instead of ${quotedUnlessPlain(String(was))}: ${inheritable?.from ?? 'its project'} says so, and whether the workspace keeps its own duration is not known`;
    return [destroys(['projectId'], message)];
  }
  return value === null ? [] : withoutTime(context, value);
}

/** A time that goes may have been later than the one that the service computes from the duration. */
function withoutTime({ desired, live, record }: WorkspaceComparison, remaining: string): Risk[] {
  const recorded = canonicalTime(record?.fields[time]);
  const found = canonicalTime(live?.spec[time]);
  const goes = desired[time] === null || (desired[time] === undefined && record?.fields[time] !== undefined);
  if (!goes || typeof found !== 'string' || found !== recorded) return [];
  return [
    destroys(
      [time],
      `its resources are destroyed after ${remaining} without activity, and no longer at ${found}`,
    ),
  ];
}

function unknown(unread: string, inheritable: Inheritable | undefined): Risk {
  const from = inheritable?.from ?? 'its project';
  return destroys(
    ['projectId'],
    `its resources may be destroyed after some time without activity: ${from}, which decides it, could not be read (${unread})`,
  );
}

function isSooner(after: string, before: string | undefined): boolean {
  return before === undefined || hours(after) < hours(before);
}

/** 0 for a text that is no duration: what is not understood counts as sooner. */
function hours(text: string): number {
  const count = Number.parseInt(text, 10);
  return Number.isNaN(count) ? 0 : count * (text.endsWith('d') ? 24 : 1);
}

/** What the workspace inherits afterwards, as far as it is known: the plan shows what of it is new. */
export function inheritedAfter(context: WorkspaceComparison): Pick<PreparedSpecs, 'inherited'> {
  const { inheritable, live } = context;
  const after = durationAfter(context);
  const isRead = inheritable !== undefined && inheritable.unread === undefined;
  const known = after.isInherited && (after.stays || isRead);
  const values = {
    ...modeAfter(context),
    ...(known && !(live === undefined && after.value === null) ? { [duration]: after.value } : {}),
  };
  return { inherited: { from: inheritable?.from ?? 'the project', values } };
}

function modeAfter({ desired, live, record, inheritable }: WorkspaceComparison) {
  const { executionMode: declared, projectId, settingOverwrites } = desired;
  const isReset = typeof record?.fields.executionMode === 'string';
  const inherits =
    declared === undefined
      ? (settingOverwrites?.executionMode ??
          !(isReset || live === undefined || live.spec.executionMode === null)) === false
      : declared === null;
  if (!inherits) return {};
  const moves = live === undefined || (projectId !== undefined && projectId !== live.spec.projectId);
  const mode = moves ? inheritable?.values['executionMode'] : live.inherited?.['executionMode'];
  return mode === undefined ? {} : { executionMode: mode };
}
