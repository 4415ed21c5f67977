/**
 * Finds what makes the service destroy the resources of a workspace, or destroy them sooner: a time, a duration, a project that has
 * one, or the removal of a value that overrode it. Comparing two specs is not enough: a duration may be inherited. Pure, without a clock.
 */
import type { Risk } from '../../model/guard.ts';
import type { Json, Path } from '../../model/json.ts';
import type { Inheritable } from '../../model/kind-specs.ts';
import { quotedUnlessPlain } from '../../model/quoted.ts';
import {
  canonicalTime,
  duration,
  type DurationAfter,
  durationAfter,
  inheritedAfter,
  isCarriedOut,
  textOf,
  time,
} from './auto-destroy.ts';
import { endsOwnMode } from './predict.ts';
import type { WorkspaceComparison } from './workspace-types.ts';

export function scheduledDestroys(context: WorkspaceComparison): readonly Risk[] {
  const scheduled = [...atItsTime(context), ...afterDuration(context)];
  return scheduled.length > 0 ? scheduled : allowedAgain(context);
}

/** The service destroys nothing while destroy plans are not allowed or runs are local: a change that ends this activates a schedule. */
function allowedAgain(context: WorkspaceComparison): Risk[] {
  const { live } = context;
  const when = scheduleAfter(context);
  if (live === undefined || when === undefined) return [];
  const isAllowed = { before: live.spec.allowDestroyPlan !== false, after: allowsAfter(context) };
  const isLocal = {
    before: modeBefore(context) === 'local',
    after: modeAfter(context) === 'local',
  };
  if (!isAllowed.after || (isAllowed.before && !isLocal.before)) return [];
  if (isLocal.after && isLocal.before) return [];
  const path = isAllowed.before ? ['executionMode'] : ['allowDestroyPlan'];
  return [destroys(path, `its resources can be destroyed again: ${when}`)];
}

/** The schedule that is in effect after the plan, as a clause; undefined if there is none. */
function scheduleAfter(context: WorkspaceComparison): string | undefined {
  const { desired, live, record } = context;
  const value = durationWithPlan(context);
  const isDropped = desired[time] === undefined && record?.fields[time] !== undefined;
  // With a duration, an undeclared time was computed from it.
  const kept = isDropped || value !== null ? null : live?.spec[time];
  const at = canonicalTime(desired[time] === undefined ? kept : desired[time]);
  if (typeof at === 'string') return `at ${at}`;
  return value === null ? undefined : `after ${quotedUnlessPlain(value)} without activity`;
}

/** The plan may give the project another duration first, which a workspace without a schedule of its own inherits. */
function durationWithPlan(context: WorkspaceComparison): string | null {
  const { desired, live, inheritable } = context;
  const { value, stays } = durationAfter(context);
  if (stays && inheritable?.plannedBy !== undefined) return textOf(inheritable.values[duration]);
  const hasOwn = value !== null || live?.facts.inheritsAutoDestroy === false;
  if (hasOwn || inheritable?.plannedBy === undefined) return value;
  if (desired[duration] !== undefined || canonicalTime(live?.spec[time]) !== null) return value;
  return textOf(inheritable.values[duration]);
}

/** Whether destroy plans are allowed after the plan: a field that is no longer declared is reset to its default, true. */
function allowsAfter({
  desired: { allowDestroyPlan: declared },
  live,
  record,
}: WorkspaceComparison): boolean {
  if (declared !== undefined) return declared ?? true;
  return record?.fields.allowDestroyPlan !== undefined || live?.spec.allowDestroyPlan !== false;
}

function modeBefore({ live }: WorkspaceComparison): Json | undefined {
  return live?.spec.executionMode ?? live?.inherited?.['executionMode'];
}

/** Undefined if unknown. */
function modeAfter(context: WorkspaceComparison): Json | undefined {
  const { desired, live, record, inheritable } = context;
  const { executionMode: declared } = desired;
  if (typeof declared === 'string') return declared;
  const { executionMode: inherited } = inheritedAfter(context).inherited?.values ?? {};
  if (inherited !== undefined)
    return inheritable?.plannedBy === undefined ? inherited : inheritable.values['executionMode'];
  const losesOwn = live !== undefined && endsOwnMode({ spec: desired, recorded: record, live });
  return losesOwn ? inheritable?.values['executionMode'] : modeBefore(context);
}

function destroys(path: Path, message: string): Risk {
  return { path, effect: 'destroys', message };
}

function atItsTime(context: WorkspaceComparison): Risk[] {
  const { desired, live, record } = context;
  const declared = canonicalTime(desired[time]);
  const before = canonicalTime(live?.spec[time]);
  if (typeof declared !== 'string' || isCarriedOut(context)) return [];
  if (before === null) return [destroys([time], `its resources are destroyed at ${declared}`)];
  if (isLater(before, declared))
    return [destroys([time], `its resources are destroyed at ${declared} instead of ${String(before)}`)];
  // A computed time is postponed by each activity, so a fixed one may be earlier, however late it is.
  const was = textOf(live?.spec[duration]);
  const isComputed = was !== null && before !== canonicalTime(record?.fields[time]);
  return isComputed && before !== declared
    ? [
        destroys(
          [time],
          `its resources are destroyed at ${declared}, and no longer after ${was} without activity`,
        ),
      ]
    : [];
}

function isLater(one: Json, other: Json): boolean {
  return Date.parse(String(one)) > Date.parse(String(other));
}

function afterDuration(context: WorkspaceComparison): Risk[] {
  const { inheritable } = context;
  const after = durationAfter(context);
  if (after.unread !== undefined) return [unknownDuration(inheritable)];
  const was = durationBefore(context, after);
  const { value, mayBecome } = after;
  if (value !== null && isSooner(value, was)) {
    const path = after.isInherited ? ['inherited', duration] : [duration];
    const source =
      after.isInherited && inheritable !== undefined ? `, inherited from ${inheritable.from}` : '';
    const what = `its resources are destroyed after ${quotedUnlessPlain(value)} without activity`;
    return [destroys(path, `${what}${insteadOf(was)}${source}`)];
  }
  if (mayBecome !== undefined && isSooner(mayBecome, was)) {
    const own = was === undefined ? 'date' : 'duration';
    const what = `its resources may be destroyed after ${quotedUnlessPlain(mayBecome)} without activity`;
    const why = `${inheritable?.from ?? 'its project'} sets this, and it is not known whether the workspace keeps its own ${own}`;
    return [destroys(['projectId'], `${what}${insteadOf(was)}: ${why}`)];
  }
  return value === null ? [] : withoutTime(context, value);
}

/** The duration in effect just before the write, after the changes that the plan makes first, such as that of the project. */
function durationBefore({ live }: WorkspaceComparison, { replaces }: Pick<DurationAfter, 'replaces'>) {
  return textOf(replaces === undefined ? live?.spec[duration] : replaces) ?? undefined;
}

function insteadOf(was: string | undefined): string {
  return was === undefined ? '' : ` instead of ${quotedUnlessPlain(was)}`;
}

/** A removed time may have been later than the one that the service computes from the duration. */
function withoutTime({ desired, live, record }: WorkspaceComparison, remaining: string): Risk[] {
  const recorded = canonicalTime(record?.fields[time]);
  const found = canonicalTime(live?.spec[time]);
  const isRemoved =
    desired[time] === null || (desired[time] === undefined && record?.fields[time] !== undefined);
  if (!isRemoved || typeof found !== 'string' || found !== recorded) return [];
  return [
    destroys(
      [time],
      `its resources are destroyed after ${remaining} without activity, and no longer at ${found}`,
    ),
  ];
}

/** The text leaves out the reason, which may contain the id of a request and so would change the digest of each plan. */
function unknownDuration(inheritable: Inheritable | undefined): Risk {
  const from = inheritable?.from ?? 'its project';
  return destroys(
    ['projectId'],
    `its resources may be destroyed after some time without activity: ${from}, which sets this, could not be read`,
  );
}

function isSooner(after: string, before: string | undefined): boolean {
  return before === undefined || hours(after) < hours(before);
}

/** 0 for an invalid duration, so that it counts as sooner. */
function hours(text: string): number {
  const count = Number.parseInt(text, 10);
  return Number.isNaN(count) ? 0 : count * (text.endsWith('d') ? 24 : 1);
}
