/** The guards that follow from who somebody is: created anew, deleted without a record, taken over (rules 8, 22, 24, 44). */
import { formatAddress } from '../../model/resource/address.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { UncountedGuard } from './guard-messages.ts';
import type { PlanContext } from '../context/plan-context.ts';
import { isTakenOver } from '../ledger/take-over-stack.ts';

export interface IdentitySighting {
  readonly id: Extract<UncountedGuard, 'recreate' | 'no-record' | 'adopt' | 'takeover'>;
  readonly says: readonly string[];
}

/** The guards that one draft trips by its identity; a part has none of its own. */
export function identityGuards(context: PlanContext, draft: Draft): readonly IdentitySighting[] {
  const { address, action } = draft.change;
  if (context.kind(address.kind).ownership.by === 'part') return [];
  const isAnothers = action !== 'create' && isTakenOver(context, address, draft.live);
  const id = ownGuard(context, draft, isAnothers);
  return [
    ...(id === undefined ? [] : [{ id, says: [] }]),
    ...(isAnothers
      ? [{ id: 'takeover' as const, says: [fates[action] ?? ''].filter((says) => says !== '') }]
      : []),
  ];
}

const fates: Readonly<Record<string, string>> = { delete: 'and deleted', release: 'and released' };

function ownGuard(
  context: PlanContext,
  draft: Draft,
  isAnothers: boolean,
): 'recreate' | 'no-record' | 'adopt' | undefined {
  const { address, action, fields } = draft.change;
  switch (action) {
    case 'create':
      return context.record(address) === undefined ? undefined : 'recreate';
    case 'delete':
      return isWitnessed(context, draft) ? undefined : 'no-record';
    case 'adopt': {
      // Who writes "adopt" into a manifest has acknowledged it there; what is as declared needs no word.
      const isSaid = context.desired.get(formatAddress(address))?.metadata.adopt === true;
      return isSaid || isAnothers || fields.length === 0 ? undefined : 'adopt';
    }
    default:
      return undefined;
  }
}

/** Whether the ledger, or the manifest that was there last, says that the stack may delete it. */
function isWitnessed(context: PlanContext, { change: { address }, remove }: Draft): boolean {
  const record = context.record(address);
  if (record === undefined) return false;
  const isUnmarked = context.kind(address.kind).ownership.by === 'ledger';
  // Of an adopted one only an exclusive target says so, and that only of all alike.
  return !isUnmarked || remove !== undefined || record.origin === 'created' || record.onRemove === 'delete';
}
