/**
 * Order. Calls are the nodes: `needs` are dependency edges (a failure skips what hangs on it), and the `order` numbers
 * of one target are order edges (they only wait). References to ids add dependency edges on the very call that gives
 * the id, not on the whole change that it belongs to (rule 32).
 */
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import { type Call, type CallId, IdReference, referencesIn } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';

export interface Ordered {
  /** in the order in which apply starts them */
  readonly changes: readonly Change[];
  /** the calls of a cycle, in its order, the first repeated at the end; absent when there is none */
  readonly cycle?: readonly CallId[];
}

/**
 * Adds the edges that references imply and sorts: by target, order number and dependency, then by address.
 * @throws when two calls have one id: a bug of a kind
 */
export function orderChanges(changes: readonly Change[]): Ordered {
  const linked = linkReferences(changes);
  const calls = new Map<CallId, Call>();
  for (const call of linked.flatMap((change) => change.calls)) {
    if (calls.has(call.id)) throw new Error(`two calls are named ${call.id}`);
    calls.set(call.id, call);
  }
  const walked = walk(waitingGraph(calls));
  if (walked.cycle !== undefined) {
    const circle = walked.cycle.filter((id) => calls.has(id));
    return { changes: linked, cycle: [...circle, ...circle.slice(0, 1)] };
  }
  const depth = depths(calls, walked.order);
  const ranked = linked.map((change) => ({
    change,
    rank: rankOf(change, calls, depth),
    name: formatAddress(change.address),
  }));
  ranked.sort(
    (a, b) =>
      compare(a.change.address.target, b.change.address.target) ||
      a.rank.order - b.rank.order ||
      a.rank.depth - b.rank.depth ||
      compare(a.name, b.name),
  );
  return { changes: ranked.map(({ change }) => change) };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function linkReferences(changes: readonly Change[]): Change[] {
  const givers = new Map<AddressText, CallId>();
  for (const call of changes.flatMap((change) => change.calls)) {
    if (call.createsId !== undefined) givers.set(call.createsId.address, call.id);
  }
  const link = (call: Call): Call => {
    const referred = [...call.path, ...referencesIn(call.body)].filter((part) => part instanceof IdReference);
    const implied = referred.flatMap(({ $id }) => givers.get($id) ?? []);
    return { ...call, needs: [...new Set([...call.needs, ...implied])].filter((id) => id !== call.id) };
  };
  return changes.map((change) => ({ ...change, calls: change.calls.map(link) }));
}

/** For each node those that it waits for. Besides the calls it has a node for each barrier that a call stands behind. */
type Waiting = ReadonlyMap<string, readonly string[]>;

/**
 * Needs and barriers as one graph: a circle may run through both, and through several targets. A barrier waits for the
 * calls of the order number before it and for the barrier before, so there are no more edges than calls.
 */
function waitingGraph(calls: ReadonlyMap<CallId, Call>): Waiting {
  const waiting = new Map<string, readonly string[]>();
  const isCall = (id: CallId) => calls.has(id);
  for (const [target, lane] of Map.groupBy(calls.values(), (call) => call.target)) {
    const stages = [...Map.groupBy(lane, (call) => call.order)].sort(([a], [b]) => a - b);
    let before: string[] = [];
    for (const [order, stage] of stages) {
      const barrier = `\0${target}\0${order}`;
      waiting.set(barrier, before);
      for (const { id, needs } of stage) waiting.set(id, [...needs.filter(isCall), barrier]);
      before = [barrier, ...stage.map(({ id }) => id)];
    }
  }
  return waiting;
}

interface WalkResult {
  /** every node behind all that it waits for; only of a graph without a cycle */
  readonly order: readonly string[];
  /** each node once, in the order in which they wait for each other */
  readonly cycle?: readonly string[];
}

/** Depth first, with a trail of its own in place of the call stack, which a long chain would overflow. */
function walk(waiting: Waiting): WalkResult {
  const order: string[] = [];
  const state = new Map<string, 'open' | 'done'>();
  for (const start of waiting.keys()) {
    const trail = state.has(start) ? [] : [{ id: start, next: 0 }];
    state.set(start, state.get(start) ?? 'open');
    for (let step = trail.at(-1); step !== undefined; step = trail.at(-1)) {
      const next = waiting.get(step.id)?.[step.next];
      step.next += 1;
      if (next === undefined) {
        state.set(step.id, 'done');
        order.push(step.id);
        trail.pop();
      } else if (state.get(next) === 'open') {
        const ids = trail.map(({ id }) => id);
        return { order, cycle: ids.slice(ids.indexOf(next)) };
      } else if (!state.has(next)) {
        state.set(next, 'open');
        trail.push({ id: next, next: 0 });
      }
    }
  }
  return { order };
}

/** The longest chain of needs below each call. @param order every call behind its needs */
function depths(calls: ReadonlyMap<CallId, Call>, order: readonly string[]): ReadonlyMap<CallId, number> {
  const known = new Map<CallId, number>();
  for (const id of order) {
    const below = (calls.get(id)?.needs ?? []).map((need) => (known.get(need) ?? -1) + 1);
    known.set(
      id,
      below.reduce((a, b) => Math.max(a, b), 0),
    );
  }
  return known;
}

/** Where a change stands: at its first call, or just behind the call that it shares. */
function rankOf(
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
