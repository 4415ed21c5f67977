/**
 * When a workspace is destroyed automatically: at its own time, or after a duration, its own or its project's, from which the
 * service computes a time. A computed or inherited value is no difference, and a value that the service would refuse is
 * noted and not sent (wire/workspaces 1.5.19, 2.1).
 */
import type { Json } from '../../../model/json/json.ts';
import { fields } from '../fields.ts';
import type { LiveWorkspace, WorkspaceComparison } from '../workspace-types.ts';
import { asAnswered, type PreparedLive } from './prepared-live.ts';

const time = 'autoDestroyAt';
const duration = 'autoDestroyActivityDuration';

export function prepareAutoDestroy(context: WorkspaceComparison): PreparedLive {
  const { live } = context;
  if (live === undefined) return asAnswered;
  const inherited = inheritedDuration(context, live);
  const remaining = inherited ?? ownDuration(context, live);
  const [one, other] = [prepareDuration(context, inherited), prepareTime(context, live, remaining)];
  return { live: { ...one.live, ...other.live }, notes: [...one.notes, ...other.notes] };
}

/** The duration that the workspace still inherits from its project after the change; null when it inherits none. */
function inheritedDuration({ desired, dialect }: WorkspaceComparison, live: LiveWorkspace): string | null {
  const { [duration]: declared, projectId } = desired;
  const moves = projectId !== undefined && projectId !== live.spec.projectId;
  if (live.facts.inheritsAutoDestroy !== true || moves) return null;
  const found = textOf(live.spec[duration]);
  if (declared === undefined || declared === found) return found;
  return declared !== null || dialect.capabilities.has('own-auto-destroy') ? null : found;
}

/** The workspace's own duration after the change. */
function ownDuration({ desired, record }: WorkspaceComparison, live: LiveWorkspace): string | null {
  if (desired[duration] !== undefined) return textOf(desired[duration]);
  return record?.fields[duration] === undefined ? textOf(live.spec[duration]) : null;
}

/** An inherited duration is not reset, and null does not end it in a dialect where null inherits. */
function prepareDuration({ desired, record }: WorkspaceComparison, inherited: string | null): PreparedLive {
  const declared = desired[duration];
  if (inherited === null || declared === inherited) return asAnswered;
  if (declared === undefined)
    return record?.fields[duration] === undefined ? asAnswered : { live: { [duration]: null }, notes: [] };
  return { live: { [duration]: declared }, notes: [projectDurationNote(inherited)] };
}

/** The note for a workspace whose manifest declares null. @param inherited the duration of its project */
export function projectDurationNote(inherited: string): string {
  return `its project says ${inherited}, which null inherits in this dialect: ${duration} stays ${inherited}`;
}

/**
 * While there is a duration, the service always answers a time, and does not tell whether it computed it. But a time that we
 * had set ourselves, and that is still there, was not computed.
 */
function prepareTime(
  { desired, record }: WorkspaceComparison,
  live: LiveWorkspace,
  remaining: string | null,
): PreparedLive {
  const [declared, recorded] = [desired[time], record?.fields[time]];
  const wantsNone = declared === null || (declared === undefined && recorded !== undefined);
  const found = fields[time]?.compare.canonical(live.spec[time] ?? null) ?? null;
  if (!wantsNone || remaining === null || found === null || found === recorded) return asAnswered;
  const note = `while there is a duration (${remaining}), the service computes ${time} from it: null is not compared`;
  return { live: { [time]: null }, notes: declared === undefined ? [] : [note] };
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
