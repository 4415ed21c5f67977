/**
 * Where nothing shows yet whether a service keeps claims, because it has no resource that could show it, one resource is created
 * first, and its claim read back, before any other is created (rule 48).
 */
import { formatAddress } from '../../model/resource/address.ts';
import type { Call } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import type { PlanContext } from '../context/plan-context.ts';

/** The changes, the first create of each such target with the call that proves its claim, the others waiting for it. */
export function withFirstClaims(context: PlanContext, changes: readonly Change[]): readonly Change[] {
  const open = changes.filter((change) => change.action === 'create' && isOpen(context, change));
  const groups = Map.groupBy(open, ({ address: { kind, target } }) => `${kind}/${target}`);
  const first = new Map(
    [...groups].flatMap(([place, some]) => {
      const [one] = some.toSorted((a, b) => (formatAddress(a.address) < formatAddress(b.address) ? -1 : 1));
      const call = one?.calls.find(({ createsId }) => createsId !== undefined);
      return call === undefined ? [] : [[place, call.id] as const];
    }),
  );
  const mark = ({ kind, target }: Change['address'], call: Call): Call => {
    const id = first.get(`${kind}/${target}`);
    if (id === undefined || call.createsId === undefined) return call;
    return call.id === id ? { ...call, provesClaim: true } : { ...call, needs: [...call.needs, id] };
  };
  if (first.size === 0) return changes;
  return changes.map((change) => ({
    ...change,
    calls: change.calls.map((call) => mark(change.address, call)),
  }));
}

function isOpen(context: PlanContext, { address }: Change): boolean {
  const isClaimed = context.kind(address.kind).ownership.by === 'claim' && !context.isLedgerOwned(address);
  return isClaimed && context.target(address.target).sets.get(address.kind)?.keepsClaims === 'unknown';
}
