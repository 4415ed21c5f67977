/**
 * Finds what a change does to the workspaces of the project, which inherit some of their settings. The plan counts and names them,
 * also those of other owners, and its digest covers these texts.
 */
import { workspaceOf } from '../../api/workspaces/workspace.ts';
import { type Address, formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Risk } from '../../model/guard.ts';
import type { Json } from '../../model/json.ts';
import type { PreparedSpecs } from '../../model/kind-specs.ts';
import { counted, quoted, quotedUnlessPlain } from '../../model/quoted.ts';
import type { LiveProject, Member, ProjectComparison } from './fields.ts';

const duration = 'autoDestroyActivityDuration';
const mode = 'defaultExecutionMode';

type Effects = Required<Pick<PreparedSpecs, 'risks' | 'problems'>>;

/** The workspaces whose resources will be destroyed, or destroyed sooner, because of a change. */
interface Destroys {
  readonly risk: Risk;
  readonly members: readonly Member[];
}

export function effectsOnWorkspaces(context: ProjectComparison): Effects {
  const { live } = context;
  if (live === undefined) return { risks: [], problems: [] };
  const sooner = scheduledDestroys(context, live);
  const destroys = [...sooner, ...allowedAgain(context, live, sooner)];
  return {
    risks: [...destroys.map(({ risk }) => risk), ...inheritedModes(context, live)],
    problems: destroys.flatMap((one) => protectedDestroys(context, one)),
  };
}

/** A protected workspace must not be destroyed by a schedule of its project, either: no acknowledgement is enough. */
function protectedDestroys(
  context: ProjectComparison,
  { risk: { message }, members }: Destroys,
): Diagnostic[] {
  const known = new Map(membersOf(context.planned).map((one) => [one.id, one]));
  return members
    .filter((one) => isProtected(context, known.get(one.id) ?? one))
    .map((one) => ({
      code: 'protected-destroy',
      severity: 'error',
      class: 'invalid',
      message: `${quoted(formatAddress(addressOf(context, one)))} is protected, and with this plan ${message}`,
      fix: 'leave out what schedules the destroy, or declare "protect: false" for the workspace, and acknowledge the guard "scheduled-destroy"',
    }));
}

/** The manifest decides. Without one, the ledger or the ownership tag can protect it, also the tag of another stack. */
function isProtected(context: ProjectComparison, member: Member): boolean {
  const { desired, protects, record } = workspaceOfPlan(context, member);
  if (desired !== undefined) return protects === true;
  return record?.protect === true || member.isTaggedProtected === true;
}

/** What the plan knows about a workspace. The manifest or this plan may name it differently than the service. */
function workspaceOfPlan({ address, peer }: ProjectComparison, { name, id }: Member) {
  return peer({ ...workspaceOf(address), name }, id);
}

/** The address under which a workspace is declared, else one with its name in the service. */
function addressOf(context: ProjectComparison, member: Member): Address {
  const { live } = workspaceOfPlan(context, member);
  return live?.address ?? { ...workspaceOf(context.address), name: member.name };
}

/** The value of a field after the plan. A field that is no longer declared is reset. */
function after(
  { desired, live, record }: ProjectComparison,
  field: typeof duration | typeof mode | 'defaultAgentPoolId',
): Json {
  const declared: Json | undefined = desired[field];
  if (declared !== undefined) return declared;
  return record?.fields[field] === undefined ? (live?.spec[field] ?? null) : null;
}

/** The destroys that a new or shorter duration schedules. */
function scheduledDestroys(context: ProjectComparison, live: LiveProject): Destroys[] {
  const [was, becomes] = [live.spec[duration] ?? null, after(context, duration)];
  if (typeof becomes !== 'string') return [];
  if (typeof was === 'string' && hours(becomes) >= hours(was)) return [];
  const members = membersOf(live).filter((one) => one.inheritsDuration && !isSpared(context, one));
  const affected = membersText(members, live);
  if (affected === undefined) return [];
  const instead = typeof was === 'string' ? ` instead of ${quotedUnlessPlain(was)}` : '';
  const message = `the resources of ${affected} are destroyed after ${quotedUnlessPlain(becomes)} without activity${instead}`;
  return [{ risk: { path: [duration], effect: 'destroys', message }, members }];
}

/** 0 for an invalid duration, so that it counts as sooner. */
function hours(text: string): number {
  const count = Number.parseInt(text, 10);
  return Number.isNaN(count) ? 0 : count * (text.endsWith('d') ? 24 : 1);
}

/**
 * The destroys that another mode in place of `local` allows again. The service destroys nothing while runs are local, so this
 * activates the schedules of the workspaces that inherit the mode.
 */
function allowedAgain(
  context: ProjectComparison,
  live: LiveProject,
  sooner: readonly Destroys[],
): Destroys[] {
  const isChanged = after(context, mode) !== (live.spec[mode] ?? null);
  if (!isChanged || modeAfter(context) === 'local') return [];
  const shown = new Set(sooner.flatMap(({ members }) => members));
  const members = membersOf(live).filter(
    (one) => one.inheritsMode && one.isLocal && !shown.has(one) && !isSpared(context, one),
  );
  const bySchedule = Map.groupBy(members, (one) => scheduleAfter(context, one));
  const named = [...bySchedule].flatMap(([schedule, some]) =>
    schedule === undefined
      ? []
      : [
          destroysAgain(
            `the resources of ${seenMembersText(some)} can be destroyed again: ${schedule}`,
            some,
          ),
        ],
  );
  const hidden =
    live.facts.effectiveMode === 'local' && sooner.length === 0 ? unseenMembersText(live) : undefined;
  return hidden === undefined
    ? named
    : [...named, destroysAgain(`the resources of ${hidden} may be destroyed again`, [])];
}

function destroysAgain(message: string, members: readonly Member[]): Destroys {
  return { risk: { path: [mode], effect: 'destroys', message }, members };
}

/** The mode that workspaces inherit from the project after the plan; undefined if unknown. */
function modeAfter(context: ProjectComparison): Json | undefined {
  return after(context, mode) ?? context.live?.facts.organizationMode;
}

/** When the service destroys the resources of a workspace, once destroys are allowed; undefined if never. */
function scheduleAfter(context: ProjectComparison, member: Member): string | undefined {
  const own = member.inheritsDuration ? after(context, duration) : member.duration;
  if (typeof own === 'string') return `after ${quotedUnlessPlain(own)} without activity`;
  // With a duration, the time was computed from it.
  return member.duration === null && member.time !== null ? `at ${member.time}` : undefined;
}

/**
 * Whether the service destroys nothing of a workspace after the plan, even with a schedule: destroy plans are not allowed, or its
 * runs are local. False if a manifest of this stack may change that, because the plan of a part does not contain every change.
 */
function isSpared(context: ProjectComparison, member: Member): boolean {
  const { desired, record } = workspaceOfPlan(context, member);
  // It is no longer declared, or not in this part of the stack.
  if (desired === undefined && record !== undefined) return false;
  const keeps = (field: string, value: Json) =>
    desired === undefined ||
    (desired[field] === undefined ? record?.fields[field] === undefined : desired[field] === value);
  if (!member.allowsDestroy && keeps('allowDestroyPlan', false)) return true;
  if (desired?.['settingOverwrites'] !== undefined) return false;
  return member.inheritsMode
    ? modeAfter(context) === 'local' && keeps('executionMode', null)
    : member.isLocal && keeps('executionMode', 'local');
}

function membersOf(live: LiveProject | undefined): readonly Member[] {
  return live?.facts.members ?? [];
}

/** The names of the members, and the number of workspaces that the token does not see; undefined if there are none. */
function membersText(members: readonly Member[], live: LiveProject): string | undefined {
  const hidden = unseenMembersText(live);
  if (members.length === 0) return hidden;
  return hidden === undefined ? seenMembersText(members) : `${seenMembersText(members)} and ${hidden}`;
}

function seenMembersText(members: readonly Member[]): string {
  const { unplaced = [], inside = [] } = Object.groupBy(members, ({ isUnplaced }) =>
    isUnplaced === true ? 'unplaced' : 'inside',
  );
  const names = (some: readonly Member[]) => `(${some.map(({ name }) => quoted(name)).join(', ')})`;
  return [
    ...(inside.length > 0 ? [`${counted(inside.length, 'workspace')} in it ${names(inside)}`] : []),
    ...(unplaced.length > 0
      ? [
          `perhaps ${counted(unplaced.length, 'workspace')} whose project the service does not say ${names(unplaced)}`,
        ]
      : []),
  ].join(' and ');
}

function unseenMembersText(live: LiveProject): string | undefined {
  const hidden = Math.max(0, (live.facts.count ?? 0) - membersOf(live).length);
  return hidden === 0 ? undefined : `${counted(hidden, 'workspace')} in it that this token does not see`;
}

/** Says where the runs of workspaces that inherit the mode execute afterwards. As a risk, because an approval covers its text. */
function inheritedModes(context: ProjectComparison, live: LiveProject): Risk[] {
  const changed = ([mode, 'defaultAgentPoolId'] as const).find(
    (field) => after(context, field) !== (live.spec[field] ?? null),
  );
  const affected =
    changed === undefined
      ? undefined
      : membersText(
          membersOf(live).filter(({ inheritsMode }) => inheritsMode),
          live,
        );
  if (changed === undefined || affected === undefined) return [];
  const becomes = after(context, mode);
  const where =
    becomes === null ? 'as the organization sets it' : `in the mode ${quotedUnlessPlain(String(becomes))}`;
  return [{ path: [changed], effect: 'affects', message: `runs of ${affected} execute ${where} afterwards` }];
}
