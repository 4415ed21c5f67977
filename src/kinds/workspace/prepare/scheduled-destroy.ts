/**
 * Finds what makes the service destroy the resources of a workspace, or destroy them sooner: a time, a duration, a project that has
 * one, or the end of a value that stood before it. Two specs do not show it: a duration may be inherited. Pure, without a clock.
 */
import type { Json, Path } from '../../../model/json/json.ts';
import type { Inheritable, PreparedSpecs } from '../../../model/kind/comparison.ts';
import type { Risk } from '../../../model/plan/risk.ts';
import { quotedUnlessPlain } from '../../../model/quoted.ts';
import type { WorkspaceComparison } from '../workspace-types.ts';
import { duration, durationAfter } from './inherited-duration.ts';
import { canonicalTime, isCarriedOut, time } from './prepare-auto-destroy.ts';

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
