/**
 * Predicts from live state why the service will refuse a change: what blocks it, and which rights of its calls the token
 * lacks. Only a right that the service says is denied counts as missing (rule 30).
 */
import type { Call } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import { ownMember } from '../../model/json/json.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
import { quoted } from '../../model/quoted.ts';
import type { PlanContext } from '../context/plan-context.ts';

interface PlannedAttempt {
  readonly change: Pick<Change, 'address' | 'action' | 'calls'>;
  readonly live: LiveResource | undefined;
  /** `safe` or `force` of a tombstone */
  readonly remove?: 'safe' | 'force';
}

/** Clauses; empty when no refusal is predicted. For a forced delete only missing rights count. */
export function predictRefusal(
  context: PlanContext,
  { change, live, remove }: PlannedAttempt,
  { withRights } = { withRights: true },
): readonly string[] {
  const { address, action, calls } = change;
  if (live === undefined || action === 'none') return [];
  const { blockers } = context.kind(address.kind);
  const inTheWay = remove === 'force' ? [] : (blockers?.(live, action, context.record(address)) ?? []);
  return [...inTheWay, ...(withRights ? deniedRights(calls, live) : [])];
}

function deniedRights(calls: readonly Call[], { rights = {} }: LiveResource): string[] {
  const denied = new Map<string, readonly string[]>();
  const hints = new Set<string>();
  for (const { id, permission, refusalHints } of calls) {
    if (permission === undefined || ownMember(rights, permission) !== false) continue;
    denied.set(permission, [...(denied.get(permission) ?? []), nameOf(id)]);
    if (refusalHints?.[403] !== undefined) hints.add(refusalHints[403]);
  }
  const lacks = [...denied].map(
    ([right, names]) => `this token lacks ${quoted(right)}, needed for: ${names.join(', ')}`,
  );
  return [...lacks, ...hints];
}

/** The name of a call within its change: `lock` of `Kind/acme/app#lock`. */
function nameOf(id: Call['id']): string {
  return id.slice(id.lastIndexOf('#') + 1);
}

/** The same as a note of the plan. A token that may write nothing is noted once for its target. */
export function refusalNotes(context: PlanContext, attempt: PlannedAttempt): string[] {
  const withRights = !readOnlyTargets(context).has(attempt.change.address.target);
  const reasons = predictRefusal(context, attempt, { withRights });
  return reasons.length === 0 ? [] : [`the service will refuse this: ${reasons.join('; ')}`];
}

export const readOnlyNote = "this plan's token may not write; apply needs one that may";

const known = new WeakMap<PlanContext, ReadonlySet<string>>();

/** Targets whose services deny the token every right to change what the stack has there, as far as they say so. */
export function readOnlyTargets(context: PlanContext): ReadonlySet<string> {
  const found = known.get(context) ?? findReadOnly(context);
  known.set(context, found);
  return found;
}

function findReadOnly({ live, desired, ledger }: PlanContext): ReadonlySet<string> {
  const ours = [...live].flatMap(([text, resource]) => {
    const isTold = Object.keys(resource.rights ?? {}).length > 0;
    return isTold && (desired.has(text) || ledger.records.has(text)) ? [resource] : [];
  });
  const byTarget = Map.groupBy(ours, ({ address }) => address.target);
  return new Set(
    [...byTarget].flatMap(([target, some]) =>
      some.every(({ mayWrite }) => mayWrite === false) ? target : [],
    ),
  );
}
