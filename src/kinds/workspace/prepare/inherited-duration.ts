/**
 * After how long without activity the resources of a workspace are destroyed once the plan is applied: by its own duration or by
 * its project's. The flag that tells the two apart is null while the project has no duration (wire/workspaces 1.5.19).
 */
import type { Json } from '../../../model/json/json.ts';
import type { WorkspaceComparison } from '../workspace-types.ts';

export const duration = 'autoDestroyActivityDuration';

export interface DurationAfter {
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

export function durationAfter(context: WorkspaceComparison): DurationAfter {
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
