/**
 * Where nothing shows yet whether a service keeps what is written, be it claims or the parts of a whole, the first of it is read
 * back before any other is written (rule 48).
 */
import type { Call, CallId } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { PlanContext } from '../context/plan-context.ts';

export interface UnverifiedWrites {
  /** the call after which it can be read back */
  readonly call: CallId;
  /** what is to be proved, in one order for all calls: of the change's own kind its claim, of kinds of parts that they are kept */
  readonly kinds: readonly string[];
}

/** Tells what a change has to prove, unless another one of its target does; undefined for changes that prove nothing. */
export function findUnverifiedWrites(
  context: PlanContext,
  changes: readonly Change[],
): (change: Change) => UnverifiedWrites | undefined {
  const parts = unverifiedChildren(context, changes);
  return (change) => {
    const { address, action, calls } = change;
    if (context.kind(address.kind).ownership.by !== 'claim' || action === 'release') return undefined;
    const creating = calls.find(({ createsId }) => createsId !== undefined);
    const call = creating ?? ownershipTagCall(calls);
    if (call === undefined) return undefined;
    const comingWith = calls.flatMap(({ id }) => parts.withCall.get(id) ?? []);
    const kinds = new Set([
      ...(writesUnverifiedOwnershipTag(context, change) ? [address.kind] : []),
      ...(creating === undefined ? [] : [...comingWith, ...(parts.later.get(address.target) ?? [])]),
    ]);
    return kinds.size === 0 ? undefined : { call: call.id, kinds: [...kinds].toSorted() };
  };
}

/**
 * Where nothing shows whether claims are kept, what takes over a resource that exists needs its claim first, and so do its parts:
 * what is not claimed may be another stack's, and is not written.
 */
export function waitingForOwnershipTags(context: PlanContext, changes: readonly Change[]): readonly Change[] {
  const claiming = new Map<AddressText, Call>();
  for (const change of changes) {
    const { address, calls } = change;
    if (context.kind(address.kind).ownership.by !== 'claim' || !writesUnverifiedOwnershipTag(context, change))
      continue;
    const call = calls.some(({ createsId }) => createsId !== undefined) ? undefined : ownershipTagCall(calls);
    if (call !== undefined) claiming.set(formatAddress(address), call);
  }
  return claiming.size === 0
    ? changes
    : changes.map((change) => waitingForOwnershipTag(context, change, claiming));
}

function waitingForOwnershipTag(
  context: PlanContext,
  change: Change,
  claiming: ReadonlyMap<AddressText, Call>,
): Change {
  const { ownership } = context.kind(change.address.kind);
  const whole = ownership.by === 'part' ? ownership.of(change.address) : change.address;
  const claim = claiming.get(formatAddress(whole));
  if (claim === undefined) return change;
  // What comes before the claim, such as taking off our own lock, cannot wait for it.
  const isBehind = ({ id, order }: Call) =>
    id !== claim.id && order >= claim.order && !claim.needs.includes(id);
  const calls = change.calls.map((call) =>
    isBehind(call) ? { ...call, needs: [...new Set([...call.needs, claim.id])] } : call,
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
  if (context.isLedgerOwned(address) || !isUnverified(context, address)) return false;
  return fields.some(({ path, after }) => path[0] === 'claim' && after !== undefined);
}

/** Kinds of unproven parts: those that come with the create of their whole, by its call, and those that follow with calls of their own, by target. */
function unverifiedChildren(context: PlanContext, changes: readonly Change[]) {
  const withCall = new Map<CallId, string[]>();
  const later = new Map<string, Set<string>>();
  for (const { address, action, sharedCall } of changes) {
    const { kind, target } = address;
    const isPart = context.kind(kind).ownership.by === 'part';
    if (!isPart || action !== 'create' || !isUnverified(context, address)) continue;
    if (sharedCall === undefined) later.set(target, (later.get(target) ?? new Set()).add(kind));
    else withCall.set(sharedCall, [...(withCall.get(sharedCall) ?? []), kind]);
  }
  return { withCall, later };
}

function isUnverified(context: PlanContext, { target, kind }: Change['address']): boolean {
  return context.target(target).sets.get(kind)?.unproven === true;
}
