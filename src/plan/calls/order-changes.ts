/**
 * Orders changes by their calls. `needs` are dependency edges (after a failure the dependent calls are skipped); the `order`
 * numbers of one target are order edges (later calls only wait). A reference to an id adds a dependency on the call that
 * creates the id, not on the whole change (rule 32).
 */
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import { type Call, type CallId, IdReference, referencesIn } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';

interface Ordered {
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
    const ids = walked.cycle.filter((id) => calls.has(id));
    return { changes: linked, cycle: [...ids, ...ids.slice(0, 1)] };
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
  const creators = new Map<AddressText, CallId>();
  for (const call of changes.flatMap((change) => change.calls)) {
    if (call.createsId !== undefined) creators.set(call.createsId.address, call.id);
  }
  const link = (call: Call): Call => {
    const referred = [...call.path, ...referencesIn(call.body)].filter((part) => part instanceof IdReference);
    const implied = referred.flatMap(({ $id }) => creators.get($id) ?? []);
    return { ...call, needs: [...new Set([...call.needs, ...implied])].filter((id) => id !== call.id) };
  };
  return changes.map((change) => ({ ...change, calls: change.calls.map(link) }));
}

/** For each node the nodes that it waits for. Nodes are calls, and one barrier for each order number of a target. */
type Waiting = ReadonlyMap<string, readonly string[]>;

/**
 * Needs and barriers as one graph, because a cycle may contain both, and several targets. A barrier waits for the calls of
 * the previous order number and for the previous barrier, which keeps the number of edges linear.
 */
function waitingGraph(calls: ReadonlyMap<CallId, Call>): Waiting {
  const waiting = new Map<string, readonly string[]>();
  const isCall = (id: CallId) => calls.has(id);
  for (const [target, targetCalls] of Map.groupBy(calls.values(), (call) => call.target)) {
    const stages = [...Map.groupBy(targetCalls, (call) => call.order)].sort(([a], [b]) => a - b);
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
  /** every node after all nodes that it waits for; only for a graph without a cycle */
  readonly order: readonly string[];
  /** the nodes of one cycle, each once, each waiting for the next */
  readonly cycle?: readonly string[];
}

/** Depth-first search with an explicit stack: recursion would overflow on a long chain. */
function walk(waiting: Waiting): WalkResult {
  const order: string[] = [];
  const state = new Map<string, 'open' | 'done'>();
  for (const start of waiting.keys()) {
    const stack = state.has(start) ? [] : [{ id: start, next: 0 }];
    state.set(start, state.get(start) ?? 'open');
    for (let step = stack.at(-1); step !== undefined; step = stack.at(-1)) {
      const next = waiting.get(step.id)?.[step.next];
      step.next += 1;
      if (next === undefined) {
        state.set(step.id, 'done');
        order.push(step.id);
        stack.pop();
      } else if (state.get(next) === 'open') {
        const ids = stack.map(({ id }) => id);
        return { order, cycle: ids.slice(ids.indexOf(next)) };
      } else if (!state.has(next)) {
        state.set(next, 'open');
        stack.push({ id: next, next: 0 });
      }
    }
  }
  return { order };
}

/** The length of the longest chain of needs of each call. @param order every call after its needs */
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

/** The position of a change: that of its first call, or just after its shared call. */
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
