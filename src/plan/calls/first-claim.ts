/**
 * Where nothing shows yet whether a service keeps claims, the first one that is written is read back before any other is written
 * (rule 48).
 */
import type { CallId } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import type { PlanContext } from '../context/plan-context.ts';

/** The call of the change that writes a claim, where no answer has shown one yet; undefined for all other changes. */
export function unprovenClaimCall(
  context: PlanContext,
  { address, action, fields, calls }: Change,
): CallId | undefined {
  const isClaimed = context.kind(address.kind).ownership.by === 'claim' && !context.isLedgerOwned(address);
  if (!isClaimed || context.target(address.target).sets.get(address.kind)?.keepsClaims !== 'unknown')
    return undefined;
  const writesClaim = fields.some(({ path, after }) => path[0] === 'claim' && after !== undefined);
  if (!writesClaim || action === 'release') return undefined;
  const call =
    calls.find(({ createsId }) => createsId !== undefined) ??
    calls.find(({ writes }) => writes?.includes('claim')) ??
    calls.find(({ writes, takesFrom }) => writes === undefined && takesFrom === undefined);
  return call?.id;
}
