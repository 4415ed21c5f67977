/**
 * When a workspace is destroyed by itself: at a time of its own, or after a duration that a time follows from, its own or
 * its project's. What follows from something else is no difference, and what the service takes from nobody is said and
 * not sent (wire/workspaces 1.5.19, 2.1).
 */
import type { Json } from '../../../model/json/json.ts';
import { fields } from '../fields.ts';
import type { LiveWorkspace, WorkspaceMeeting } from '../workspace-types.ts';
import { asAnswered, type PreparedLive } from './prepared-live.ts';

const time = 'autoDestroyAt';
const duration = 'autoDestroyActivityDuration';

export function prepareAutoDestroy(meeting: WorkspaceMeeting): PreparedLive {
  const { live } = meeting;
  if (live === undefined) return asAnswered;
  const inherited = inheritedDuration(meeting, live);
  const lasting = inherited ?? ownDuration(meeting, live);
  const [one, other] = [prepareDuration(meeting, inherited), prepareTime(meeting, live, lasting)];
  return { live: { ...one.live, ...other.live }, notes: [...one.notes, ...other.notes] };
}

/** What the workspace goes on taking from its project, whatever its manifest says; null when it takes nothing. */
function inheritedDuration({ desired, dialect }: WorkspaceMeeting, live: LiveWorkspace): string | null {
  const { [duration]: declared, projectId } = desired;
  const moves = projectId !== undefined && projectId !== live.spec.projectId;
  if (live.facts.inheritsAutoDestroy !== true || moves) return null;
  const found = textOf(live.spec[duration]);
  const overrides = declared !== undefined && declared !== found;
  return overrides && dialect.capabilities.has('own-auto-destroy') ? null : found;
}

/** Once the change is carried out. */
function ownDuration({ desired, record }: WorkspaceMeeting, live: LiveWorkspace): string | null {
  if (desired[duration] !== undefined) return textOf(desired[duration]);
  return record?.fields[duration] === undefined ? textOf(live.spec[duration]) : null;
}

/** Of what the project has set there is nothing to reset, and nothing to change where the dialect cannot say otherwise. */
function prepareDuration({ desired, record }: WorkspaceMeeting, inherited: string | null): PreparedLive {
  const declared = desired[duration];
  if (inherited === null || declared === inherited) return asAnswered;
  if (declared === undefined)
    return record?.fields[duration] === undefined ? asAnswered : { live: { [duration]: null }, notes: [] };
  return { live: { [duration]: declared }, notes: [projectSays(inherited)] };
}

/** Of a workspace whose manifest says otherwise. @param inherited the duration of its project */
export function projectSays(inherited: string): string {
  return `its project says ${inherited}, which this dialect has no way to override: ${duration} stays ${inherited}`;
}

/**
 * While there is a duration, the service always tells a time. Nobody says whether that follows from the duration; but one
 * that we had set ourselves, and that is still there, does not.
 */
function prepareTime(
  { desired, record }: WorkspaceMeeting,
  live: LiveWorkspace,
  lasting: string | null,
): PreparedLive {
  const [declared, recorded] = [desired[time], record?.fields[time]];
  const wantsNone = declared === null || (declared === undefined && recorded !== undefined);
  const found = fields[time]?.compare.canonical(live.spec[time] ?? null) ?? null;
  if (!wantsNone || lasting === null || found === null || found === recorded) return asAnswered;
  const note = `while there is a duration (${lasting}), the service computes ${time} from it: null is not compared`;
  return { live: { [time]: null }, notes: declared === undefined ? [] : [note] };
}

function textOf(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
