/**
 * Where nothing shows yet whether a service keeps what is written, be it claims or the parts of a whole, the first of it is read
 * back before any other is written (rule 48).
 */
import type { Call, CallId } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import { type AddressText, formatAddress } from '../../model/resource/address.ts';
import type { PlanContext } from '../context/plan-context.ts';

export interface Unproven {
  /** the call after which it can be read back */
  readonly call: CallId;
  /** what is to be proved, in one order for all calls: of the change's own kind its claim, of kinds of parts that they are kept */
  readonly kinds: readonly string[];
}

/** What a change has to prove, unless another one of its target does; undefined for changes that prove nothing. */
export function unprovenBy(
  context: PlanContext,
  change: Change,
  changes: readonly Change[],
): Unproven | undefined {
  const { address, action, calls } = change;
  if (context.kind(address.kind).ownership.by !== 'claim' || action === 'release') return undefined;
  const creating = calls.find(({ createsId }) => createsId !== undefined);
  const call = creating ?? claimingCall(calls);
  if (call === undefined) return undefined;
  const kinds = [
    ...(writesUnprovenClaim(context, change) ? [address.kind] : []),
    ...(creating === undefined ? [] : unprovenParts(context, change, changes)),
  ];
  return kinds.length === 0 ? undefined : { call: call.id, kinds: [...new Set(kinds)].toSorted() };
}

/**
 * Where nothing shows whether claims are kept, what takes over a resource that exists needs its claim first, and so do its parts:
 * what is not claimed may be another stack's, and is not written.
 */
export function behindClaims(context: PlanContext, changes: readonly Change[]): readonly Change[] {
  const claiming = new Map<AddressText, Call>();
  for (const change of changes) {
    const { address, calls } = change;
    if (context.kind(address.kind).ownership.by !== 'claim' || !writesUnprovenClaim(context, change))
      continue;
    const call = calls.some(({ createsId }) => createsId !== undefined) ? undefined : claimingCall(calls);
    if (call !== undefined) claiming.set(formatAddress(address), call);
  }
  return claiming.size === 0 ? changes : changes.map((change) => behindClaim(context, change, claiming));
}

function behindClaim(context: PlanContext, change: Change, claiming: ReadonlyMap<AddressText, Call>): Change {
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

function claimingCall(calls: readonly Call[]): Call | undefined {
  return (
    calls.find(({ writes }) => writes?.includes('claim')) ??
    calls.find(({ writes, takesFrom }) => writes === undefined && takesFrom === undefined)
  );
}

function writesUnprovenClaim(context: PlanContext, { address, fields }: Change): boolean {
  if (context.isLedgerOwned(address) || !isUnproven(context, address)) return false;
  return fields.some(({ path, after }) => path[0] === 'claim' && after !== undefined);
}

/** Kinds of parts that come with this create, and those that follow with calls of their own, whichever whole they belong to. */
function unprovenParts(
  context: PlanContext,
  { address, calls }: Change,
  changes: readonly Change[],
): string[] {
  const own = new Set(calls.map(({ id }) => id));
  return changes.flatMap(({ address: part, action, sharedCall }) => {
    const isPart = context.kind(part.kind).ownership.by === 'part' && part.target === address.target;
    if (!isPart || action !== 'create' || !isUnproven(context, part)) return [];
    return sharedCall === undefined || own.has(sharedCall) ? [part.kind] : [];
  });
}

function isUnproven(context: PlanContext, { target, kind }: Change['address']): boolean {
  return context.target(target).sets.get(kind)?.unproven === true;
}
