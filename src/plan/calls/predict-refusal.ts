/**
 * Predicts from live state why the service will refuse a change: what blocks it, and which rights of its calls the token
 * lacks. Only a right that the service says is denied counts as missing (rule 30).
 */
import type { Call } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import { ownMember } from '../../model/json/json.ts';
import type { LiveResource } from '../../model/resource/resource.ts';
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
): readonly string[] {
  const { address, action, calls } = change;
  if (live === undefined || action === 'none') return [];
  const { blockers } = context.kind(address.kind);
  const inTheWay = remove === 'force' ? [] : (blockers?.(live, action, context.record(address)) ?? []);
  return [...inTheWay, ...deniedRights(calls, live)];
}

function deniedRights(calls: readonly Call[], { rights = {} }: LiveResource): string[] {
  const denied = new Map<string, readonly string[]>();
  for (const { id, permission } of calls) {
    if (permission === undefined || ownMember(rights, permission) !== false) continue;
    denied.set(permission, [...(denied.get(permission) ?? []), nameOf(id)]);
  }
  return [...denied].map(([right, names]) => `this token lacks "${right}", needed for: ${names.join(', ')}`);
}

/** The name of a call within its change: `lock` of `Kind/acme/app#lock`. */
function nameOf(id: Call['id']): string {
  return id.slice(id.lastIndexOf('#') + 1);
}

/** The same as a note of the plan. */
export function refusalNotes(context: PlanContext, attempt: PlannedAttempt): string[] {
  const reasons = predictRefusal(context, attempt);
  return reasons.length === 0 ? [] : [`the service will refuse this: ${reasons.join('; ')}`];
}
