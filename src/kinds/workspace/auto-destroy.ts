/**
 * When the resources of a workspace are destroyed automatically: at a fixed time, or after a duration of inactivity, from which the
 * service computes a time. The duration is the workspace's own or its project's. A computed or inherited value is not a difference, and
 * a value that the service would refuse is noted and not sent (wire/workspaces 1.5.19, 2.1). A time that has passed is not sent: it
 * would destroy at once.
 */
import { formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Json } from '../../model/json.ts';
import type { PreparedSpecs } from '../../model/kind-specs.ts';
import { quoted } from '../../model/quoted.ts';
import { fields } from './fields.ts';
import type {
  PreparedLive,
  PreparedWorkspace,
  WorkspaceComparison,
  WorkspaceFields,
} from './workspace-types.ts';

export const duration = 'autoDestroyActivityDuration';

export interface DurationAfter {
  /** null if there is none, or if it is unknown */
  readonly value: string | null;
  readonly isInherited: boolean;
  /** it is already inherited from the same project */
  readonly stays: boolean;
  /** why the inherited duration could not be read */
  readonly unread?: string;
  /** the duration that the workspace would get from its new project, null for none, if its own was not sent again */
  readonly replaces?: string | null;
  /** the project's duration, which may replace an undeclared one of the workspace */
  readonly mayBecome?: string;
}

/** The duration of the workspace after the plan. */
export function durationAfter(context: WorkspaceComparison): DurationAfter {
  const { desired, record } = context;
  const { [duration]: declared } = desired;
  if (typeof declared === 'string') {
    const own = textOf(declared);
    return { ...asOwn(own), ...replacedByProject(context, own) };
  }
  if (declared === undefined && endsByDate(context)) return asOwn(null);
  const isReset = declared === undefined && record?.fields[duration] !== undefined;
  return declared === null || isReset ? afterNull(context, isReset) : undeclared(context);
}

/** Whether a date is sent alone, which ends the duration, own or inherited (wire/workspaces 1.5.19). The state at the plan decides. */
function endsByDate(context: WorkspaceComparison): boolean {
  const { desired, live, planned = live } = context;
  const declared = canonicalTime(desired[time]);
  const isSent = typeof declared === 'string' && !isCarriedOut(context);
  return endsByNull(context) && isSent && declared !== canonicalTime(planned?.spec[time]);
}

/** For a declared null, or the reset of a field that is no longer declared. */
function afterNull(context: WorkspaceComparison, isReset: boolean): DurationAfter {
  const { live } = context;
  const inheritsNow = live?.facts.inheritsAutoDestroy === true && !moves(context);
  const inheritedNow = inheritsNow ? textOf(live.spec[duration]) : null;
  // A value that is already inherited needs no reset.
  if (isReset && inheritedNow !== null) return inheritedAs(inheritedNow);
  if (endsByNull(context)) return { ...asOwn(null), ...replacedByProject(context, null) };
  return inheritedNow === null ? fromProject(context) : inheritedAs(inheritedNow);
}

/** For a duration that is neither declared nor reset. */
function undeclared(context: WorkspaceComparison): DurationAfter {
  const { live } = context;
  if (live === undefined) return fromProject(context);
  const { inheritsAutoDestroy: inherits } = live.facts;
  const found = textOf(live.spec[duration]);
  if (!moves(context)) return inherits === true && found !== null ? inheritedAs(found) : asOwn(found);
  if (inherits === false) return asOwn(found);
  const given = fromProject(context);
  // Without a duration, a time is the workspace's own, and such a workspace inherits nothing in a dialect where null means none.
  const hasOwnTime = endsByNull(context) && found === null && canonicalTime(live.spec[time]) !== null;
  if (inherits === true || (found === null && !hasOwnTime)) return given;
  return { ...asOwn(found), ...(given.value === null ? {} : { mayBecome: given.value }) };
}

function moves({ desired: { projectId }, live }: WorkspaceComparison): boolean {
  return live !== undefined && projectId !== undefined && projectId !== live.spec.projectId;
}

/** Whether null ends the duration; in the other dialects null inherits that of the project. */
function endsByNull({ dialect }: WorkspaceComparison): boolean {
  return dialect.capabilities.has('own-auto-destroy');
}

function asOwn(value: string | null): DurationAfter {
  return { value, isInherited: false, stays: false };
}

function inheritedAs(value: string): DurationAfter {
  return { value, isInherited: true, stays: true };
}

function fromProject({ inheritable }: WorkspaceComparison): DurationAfter {
  const { values, unread } = inheritable ?? {};
  return {
    value: textOf(values?.[duration]),
    isInherited: true,
    stays: false,
    ...(unread === undefined ? {} : { unread }),
  };
}

/**
 * The duration of the project that would replace the own one, if that was not sent again: for a workspace that moves or whose project
 * changes in the same plan, unless its duration is known to be its own.
 */
function replacedByProject(
  context: WorkspaceComparison,
  own: string | null,
): Pick<DurationAfter, 'replaces'> {
  const { live } = context;
  const { inheritsAutoDestroy: inherits } = live?.facts ?? {};
  const isSame = !moves(context) && context.inheritable?.plannedBy === undefined;
  if (live === undefined || isSame || inherits === false) return {};
  const { value } = fromProject(context);
  if (inherits === true) return value === own ? {} : { replaces: value };
  // A duration that is not known to be inherited may be the workspace's own, which a move to a project without one keeps.
  const isKept = value === null || value === own || textOf(live.spec[duration]) !== own;
  return isKept ? {} : { replaces: value };
}

export function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export const time = 'autoDestroyAt';

interface PreparedAutoDestroy extends PreparedLive {
  readonly desired: Pick<PreparedWorkspace, typeof duration>;
}

export function prepareAutoDestroy(context: WorkspaceComparison): PreparedAutoDestroy {
  const after = durationAfter(context);
  const ended = endedDuration(context);
  const parts = [
    prepareDuration(context, after),
    prepareTime(context, after.value),
    prepareCarriedOut(context),
  ];
  return {
    desired: ended === undefined ? {} : { [duration]: null },
    live: Object.assign({}, ...parts.map(({ live }) => live)),
    notes: [
      ...parts.flatMap(({ notes }) => notes),
      ...(ended === undefined ? [] : [`setting ${time} ends ${duration} (${ended})`]),
      ...undeclaredTimeNotes(context),
    ],
  };
}

/** The undeclared duration that a date ends: the plan shows it as a change, too. */
function endedDuration(context: WorkspaceComparison): string | undefined {
  const { desired, live } = context;
  const isUndeclared = desired[duration] === undefined;
  return isUndeclared && endsByDate(context) ? (textOf(live?.spec[duration]) ?? undefined) : undefined;
}

/** An undeclared time stays in effect and overrides a declared duration. */
function undeclaredTimeNotes({ desired, live, planned = live, record }: WorkspaceComparison): string[] {
  const found = canonicalTime(planned?.spec[time]);
  const isOwn = textOf(planned?.spec[duration]) === null && typeof found === 'string';
  const isLeft = desired[time] === undefined && record?.fields[time] === undefined;
  if (typeof desired[duration] !== 'string' || !isOwn || !isLeft) return [];
  return [
    `the workspace has the ${time} ${found}, which overrides the duration: declare ${quoted(`${time}: null`)} to remove it`,
  ];
}

/** An inherited duration is not reset, and null does not end it in a dialect where null inherits. */
function prepareDuration(context: WorkspaceComparison, after: DurationAfter): PreparedLive {
  const { desired, live, record } = context;
  const declared = desired[duration];
  // The request marks the duration as the workspace's own. Otherwise, the workspace would inherit that of the project.
  if (after.replaces !== undefined) {
    const project = moves(context) ? 'the new project' : 'after the plan its project';
    const note = `${project} has ${after.replaces ?? 'no duration'}; the request keeps the ${duration} of the workspace`;
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
  return `in this dialect null inherits from the project: ${duration} stays ${inherited}`;
}

/**
 * If no time is wanted, a time that the service computes from a duration counts as none. The service does not report which times are
 * computed, but one that this stack has set, and that is still there, is not.
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

/** A declared time that was carried out counts as live: if it was sent again, it would destroy again. */
function prepareCarriedOut(context: WorkspaceComparison): PreparedLive {
  const declared = context.desired[time];
  if (declared === undefined || !isCarriedOut(context)) return { live: {}, notes: [] };
  const note = `${time} ${String(declared)} has passed, and the service carried it out: remove this line`;
  return { live: { [time]: declared }, notes: [note] };
}

/** Whether the declared time has passed and was carried out: it is no longer live, and this stack set it or a destroy succeeded. */
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
  const { address, desired, live, now } = context;
  if (!hasPassed(desired[time], now) || isCarriedOut(context)) return {};
  if (live !== undefined && canonicalTime(live.spec[time]) === canonicalTime(desired[time])) return {};
  const expired: Diagnostic = {
    code: 'past-destroy-time',
    severity: 'error',
    class: 'invalid',
    message: `the ${time} of ${quoted(formatAddress(address))}, ${String(desired[time])}, has passed: sent now, it would destroy its resources at once`,
    fix: `remove ${time}, or write a future time`,
  };
  return { expired };
}

/** Compares whole minutes, as the service does. */
export function hasPassed(declared: Json | undefined, now: number | undefined): boolean {
  const canonical = typeof declared === 'string' ? canonicalTime(declared) : null;
  return now !== undefined && typeof canonical === 'string' && Date.parse(canonical) <= now;
}

export function canonicalTime(value: WorkspaceFields[typeof time] | undefined): Json {
  return fields[time]?.compare.canonical(value ?? null) ?? null;
}

/** What the workspace inherits after the plan, as far as it is known: the plan shows the values that are new. */
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
