/**
 * Order. Calls are the nodes: `needs` are dependency edges (a failure skips what hangs on it), and the `order` numbers
 * of one target are order edges (they only wait). References to ids add dependency edges on the very call that gives
 * the id, not on the whole change that it belongs to (RULES 32).
 */
import { type AddressText, formatAddress } from '../model/address.ts';
import { type Call, type CallId, isIdReference } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Json } from '../model/json.ts';

export interface Ordered {
  /** in the order in which apply starts them */
  readonly changes: readonly Change[];
  /** the calls of a cycle, in its order, the first repeated at the end; absent when there is none */
  readonly cycle?: readonly CallId[];
}

/** Adds the edges that references imply and sorts: by target, order number and dependency, then by address. */
export function orderChanges(changes: readonly Change[]): Ordered {
  const linked = linkReferences(changes);
  const calls = new Map(linked.flatMap((change) => change.calls.map((call) => [call.id, call] as const)));
  const cycle = findCycle(calls);
  if (cycle !== undefined) return { changes: linked, cycle };
  const depth = depths(calls);
  const rank = (change: Change) => firstCall(change, calls, depth);
  const sorted = linked
    .map((change) => ({ change, rank: rank(change), name: formatAddress(change.address) }))
    .sort(
      (a, b) =>
        compare(a.change.address.target, b.change.address.target) ||
        a.rank.order - b.rank.order ||
        a.rank.depth - b.rank.depth ||
        compare(a.name, b.name),
    );
  return { changes: sorted.map(({ change }) => change) };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Every resource id that a value refers to. */
export function referencesIn(value: Json | undefined): AddressText[] {
  if (isIdReference(value)) return [value.$id];
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(referencesIn) : [];
}

function linkReferences(changes: readonly Change[]): Change[] {
  const givers = new Map<AddressText, CallId>();
  for (const call of changes.flatMap((change) => change.calls)) {
    if (call.gives !== undefined) givers.set(call.gives.address, call.id);
  }
  const link = (call: Call): Call => {
    const referred = [...call.path.filter((part) => typeof part !== 'string').map((part) => part.$id)];
    referred.push(...referencesIn(call.body));
    const implied = referred.flatMap((address) => givers.get(address) ?? []);
    return { ...call, needs: [...new Set([...call.needs, ...implied])].filter((id) => id !== call.id) };
  };
  return changes.map((change) => ({ ...change, calls: change.calls.map(link) }));
}

function findCycle(calls: ReadonlyMap<CallId, Call>): readonly CallId[] | undefined {
  const done = new Set<CallId>();
  const visit = (id: CallId, trail: readonly CallId[]): readonly CallId[] | undefined => {
    if (trail.includes(id)) return [...trail.slice(trail.indexOf(id)), id];
    if (done.has(id)) return undefined;
    for (const next of calls.get(id)?.needs ?? []) {
      const cycle = visit(next, [...trail, id]);
      if (cycle !== undefined) return cycle;
    }
    done.add(id);
    return undefined;
  };
  for (const id of calls.keys()) {
    const cycle = visit(id, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** The longest chain of needs below each call. Only for graphs without a cycle. */
function depths(calls: ReadonlyMap<CallId, Call>): ReadonlyMap<CallId, number> {
  const known = new Map<CallId, number>();
  const depthOf = (id: CallId): number => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const needs = calls.get(id)?.needs ?? [];
    const depth = needs.length === 0 ? 0 : 1 + Math.max(...needs.map(depthOf));
    known.set(id, depth);
    return depth;
  };
  for (const id of calls.keys()) depthOf(id);
  return known;
}

/** Where a change stands: at its first call, or just behind the call that it shares. */
function firstCall(
  change: Change,
  calls: ReadonlyMap<CallId, Call>,
  depth: ReadonlyMap<CallId, number>,
): { order: number; depth: number } {
  const shared = change.sharedCall === undefined ? undefined : calls.get(change.sharedCall);
  const own = change.calls.map((call) => ({ order: call.order, depth: depth.get(call.id) ?? 0 }));
  if (shared !== undefined) own.push({ order: shared.order, depth: (depth.get(shared.id) ?? 0) + 0.5 });
  if (own.length === 0) return { order: Number.MAX_SAFE_INTEGER, depth: 0 };
  return own.reduce((a, b) => (a.order < b.order || (a.order === b.order && a.depth <= b.depth) ? a : b));
}
