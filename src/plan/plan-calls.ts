/**
 * Gets the calls of each change from its kind, in the wire names of the target, and orders changes by them. If it is not
 * known whether a service keeps what is written, the first write is verified before any other.
 */
import { type Address, type AddressText, formatAddress } from '../model/address.ts';
import { type Call, type CallId, IdReference, referencesIn, renameMembers } from '../model/call.ts';
import type { Change } from '../model/change.ts';
import type { Dialect } from '../model/stack.ts';
import type { Draft } from './draft-declared.ts';
import type { PlanContext } from './plan-context.ts';
import { sentFields } from './recorded-flags.ts';

/** The change with its calls, and with the facts that they rely on. */
export function withCalls(
  context: PlanContext,
  draft: Draft,
  drafts: ReadonlyMap<AddressText, Draft>,
): Change {
  const { change, prepared, live, ownershipTag, remove } = draft;
  const { target, dialect } = context.target(change.address.target);
  const record = context.record(change.address);
  const fields = sentFields(change.fields);
  // Fields that only the ledger keeps need no call.
  if (change.action === 'update' && fields.length === 0) return change;
  const planned = context.kind(change.address.kind).calls(
    { ...change, fields },
    {
      target,
      dialect,
      stack: context.stack.name,
      ...(context.stackId === undefined ? {} : { stackId: context.stackId }),
      desired: prepared,
      ...(live === undefined ? {} : { live }),
      ...(record === undefined ? {} : { record }),
      ...(ownershipTag === undefined ? {} : { ownershipTag }),
      ...(remove === undefined ? {} : { remove }),
      idOf: (address) => idOf(context, drafts, address),
      peer: (address, id) => peer(context, drafts, address, id),
    },
  );
  const references = referencesOf(context, drafts, change.address);
  const relied = (planned.preconditions ?? []).map((name) => [name, live?.facts[name] ?? null] as const);
  return {
    ...change,
    notes: [...change.notes, ...(planned.notes ?? [])],
    calls: planned.calls.map((call) => inWireNames(call, dialect)),
    ...(planned.sharedCall === undefined ? {} : { sharedCall: planned.sharedCall }),
    preconditions: Object.fromEntries(relied),
    ...(Object.keys(references).length === 0 ? {} : { references }),
  };
}

/** The ids of the resources that a manifest names, except the parent of a child. */
function referencesOf(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  address: Address,
): NonNullable<Change['references']> {
  const resource = context.desired.get(formatAddress(address));
  const { ownership, references } = context.kind(address.kind);
  const parent = ownership.by === 'child' ? formatAddress(ownership.of(address)) : undefined;
  const named = resource === undefined ? [] : (references?.(resource) ?? []);
  return Object.fromEntries(
    named.flatMap(({ to }) => {
      const id = formatAddress(to) === parent ? undefined : idOf(context, drafts, to);
      return id === undefined ? [] : [[formatAddress(to), typeof id === 'string' ? id : id.$id] as const];
    }),
  );
}

function idOf(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  address: Address,
): string | IdReference | undefined {
  const text = formatAddress(address);
  const live = context.live.get(text);
  if (live !== undefined) return live.id;
  return drafts.get(text)?.change.action === 'create' ? new IdReference(text) : undefined;
}

/** What the calls of a kind may depend on of another resource: its planned change and its live state. */
function peer(
  context: PlanContext,
  drafts: ReadonlyMap<AddressText, Draft>,
  named: Address,
  id: string | undefined,
) {
  const address = (id === undefined ? undefined : context.liveWithId(named, id))?.address ?? named;
  const text = formatAddress(address);
  const draft = drafts.get(text);
  const live = context.live.get(text);
  return {
    action: draft?.change.action ?? ('none' as const),
    fields: draft?.change.fields ?? [],
    ...(draft === undefined ? {} : { desired: draft.prepared }),
    ...(live === undefined ? {} : { live }),
  };
}

function inWireNames(call: Call, dialect: Dialect): Call {
  return call.body === undefined ? call : { ...call, body: renameMembers(call.body, dialect.rename) };
}

// Orders changes by their calls. `needs` are dependency edges (after a failure the dependent calls are skipped); the `order`
// numbers of one target are order edges (later calls only wait). A reference to an id adds a dependency on the call that
// creates the id, not on the whole change.

interface Ordered {
  /** in the order in which apply starts them */
  readonly changes: readonly Change[];
  /** the calls of a cycle, in its order, the first repeated at the end; absent when there is none */
  readonly cycle?: readonly CallId[];
}

/**
 * Adds the edges that references imply and sorts: by target, order number and dependency, then by address.
 * @throws when two calls have the same id: a bug of a kind
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
    const referred = [...call.path, ...referencesIn(call.body)].filter(
      (value) => value instanceof IdReference,
    );
    const implied = referred.flatMap(({ $id }) => creators.get($id) ?? []);
    return { ...call, needs: [...new Set([...call.needs, ...implied])].filter((id) => id !== call.id) };
  };
  return changes.map((change) => ({ ...change, calls: change.calls.map(link) }));
}

/** For each node the nodes that it waits for. Nodes are calls, and one barrier for each order number of a target. */
type Waiting = ReadonlyMap<string, readonly string[]>;

/**
 * Needs and barriers as one graph, because a cycle may contain both, and calls of several targets. A barrier waits for the calls of
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

// If it is not known yet whether a service keeps ownership tags, or children of a kind, the first one that is written is read back
// before any other is written.

export interface UnverifiedWrites {
  /** the call after which it can be read back */
  readonly call: CallId;
  /** the kinds to verify, in the same order for all calls: the change's own kind for the ownership tag, other kinds for children */
  readonly kinds: readonly string[];
}

/** What a change has to verify, unless another change of its target has verified it; undefined for changes that verify nothing. */
export function findUnverifiedWrites(
  context: PlanContext,
  changes: readonly Change[],
): (change: Change) => UnverifiedWrites | undefined {
  const children = unverifiedChildren(context, changes);
  return (change) => {
    const { address, action, calls } = change;
    if (context.kind(address.kind).ownership.by !== 'claim' || action === 'release') return undefined;
    const creating = calls.find(({ createsId }) => createsId !== undefined);
    const call = creating ?? ownershipTagCall(calls);
    if (call === undefined) return undefined;
    const comingWith = calls.flatMap(({ id }) => children.withCall.get(id) ?? []);
    const kinds = new Set([
      ...(writesUnverifiedOwnershipTag(context, change) ? [address.kind] : []),
      ...(creating === undefined ? [] : [...comingWith, ...(children.later.get(address.target) ?? [])]),
    ]);
    return kinds.size === 0 ? undefined : { call: call.id, kinds: [...kinds].toSorted() };
  };
}

/**
 * A change that takes over an existing resource, or changes its ownership tag, writes the tag first. Its other calls and its children
 * wait for that call: without it the resource may belong to another stack, and is not written.
 */
export function waitingForOwnershipTags(context: PlanContext, changes: readonly Change[]): readonly Change[] {
  const tagCalls = new Map<AddressText, Call>();
  for (const change of changes) {
    const call = takeoverCall(context, change);
    if (call !== undefined) tagCalls.set(formatAddress(change.address), call);
  }
  if (tagCalls.size === 0) return changes;
  return changes.map((change) => waitingForOwnershipTag(context, change, tagCalls));
}

function takeoverCall(context: PlanContext, { address, action, fields, calls }: Change): Call | undefined {
  const isTaken = action === 'adopt' || (action !== 'create' && writesOwnershipTag(fields));
  if (!isTaken || context.kind(address.kind).ownership.by !== 'claim') return undefined;
  // If the ledger keeps the owner, no call writes a tag: the first call shows whether the resource is still as it was read.
  return ownershipTagCall(calls) ?? calls[0];
}

function waitingForOwnershipTag(
  context: PlanContext,
  change: Change,
  tagCalls: ReadonlyMap<AddressText, Call>,
): Change {
  const { ownership } = context.kind(change.address.kind);
  const parent = ownership.by === 'child' ? ownership.of(change.address) : change.address;
  const ownershipTag = tagCalls.get(formatAddress(parent));
  if (ownershipTag === undefined) return change;
  // Calls before the tag, such as removing our own lock, cannot wait for it.
  const isLater = ({ id, order }: Call) =>
    id !== ownershipTag.id && order >= ownershipTag.order && !ownershipTag.needs.includes(id);
  const calls = change.calls.map((call) =>
    isLater(call) ? { ...call, needs: [...new Set([...call.needs, ownershipTag.id])] } : call,
  );
  return { ...change, calls };
}

function ownershipTagCall(calls: readonly Call[]): Call | undefined {
  return (
    calls.find(({ writes }) => writes?.includes('claim')) ??
    calls.find(({ writes, takesFrom }) => writes === undefined && takesFrom === undefined)
  );
}

function writesUnverifiedOwnershipTag(context: PlanContext, { address, fields }: Change): boolean {
  return !context.isLedgerOwned(address) && isUnverified(context, address) && writesOwnershipTag(fields);
}

function writesOwnershipTag(fields: Change['fields']): boolean {
  return fields.some(({ path, after }) => path[0] === 'claim' && after !== undefined);
}

/** Kinds of unverified children: by call, those that are created in the call of their parent; by target, those with separate calls. */
function unverifiedChildren(context: PlanContext, changes: readonly Change[]) {
  const withCall = new Map<CallId, string[]>();
  const later = new Map<string, Set<string>>();
  for (const { address, action, sharedCall } of changes) {
    const { kind, target } = address;
    const isChild = context.kind(kind).ownership.by === 'child';
    if (!isChild || action !== 'create' || !isUnverified(context, address)) continue;
    if (sharedCall === undefined) later.set(target, (later.get(target) ?? new Set()).add(kind));
    else withCall.set(sharedCall, [...(withCall.get(sharedCall) ?? []), kind]);
  }
  return { withCall, later };
}

function isUnverified(context: PlanContext, { target, kind }: Change['address']): boolean {
  return context.target(target).sets.get(kind)?.unverified === true;
}
