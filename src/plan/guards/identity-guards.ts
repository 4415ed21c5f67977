/** The guards that follow from who somebody is: created anew, deleted without a record, taken over (rules 8, 22, 24, 44). */
import { formatAddress } from '../../model/resource/address.ts';
import type { Draft } from '../draft/draft-declared.ts';
import type { WordedGuard } from './guard-messages.ts';
import type { Scene } from '../context/plan-context.ts';
import { isTakenOver } from '../ledger/take-over-stack.ts';

export interface IdentitySighting {
  readonly id: Extract<WordedGuard, 'recreate' | 'no-record' | 'adopt' | 'takeover'>;
  readonly says: readonly string[];
}

/** The guards that one draft trips by its identity; a part has none of its own. */
export function identityGuards(scene: Scene, draft: Draft): readonly IdentitySighting[] {
  const { address, action } = draft.change;
  if (scene.kind(address.kind).ownership.by === 'part') return [];
  const isAnothers = action !== 'create' && isTakenOver(scene, address, draft.live);
  const id = ownGuard(scene, draft, isAnothers);
  return [
    ...(id === undefined ? [] : [{ id, says: [] }]),
    ...(isAnothers
      ? [{ id: 'takeover' as const, says: [fates[action] ?? ''].filter((says) => says !== '') }]
      : []),
  ];
}

const fates: Readonly<Record<string, string>> = { delete: 'and deleted', release: 'and released' };

function ownGuard(
  scene: Scene,
  draft: Draft,
  isAnothers: boolean,
): 'recreate' | 'no-record' | 'adopt' | undefined {
  const { address, action, fields } = draft.change;
  switch (action) {
    case 'create':
      return scene.record(address) === undefined ? undefined : 'recreate';
    case 'delete':
      return isWitnessed(scene, draft) ? undefined : 'no-record';
    case 'adopt': {
      // Who writes "adopt" into a manifest has acknowledged it there; what is as declared needs no word.
      const isSaid = scene.desired.get(formatAddress(address))?.metadata.adopt === true;
      return isSaid || isAnothers || fields.length === 0 ? undefined : 'adopt';
    }
    default:
      return undefined;
  }
}

/** Whether the ledger, or the manifest that was there last, says that the stack may delete it. */
function isWitnessed(scene: Scene, { change: { address }, remove }: Draft): boolean {
  const record = scene.record(address);
  if (record === undefined) return false;
  const isUnmarked = scene.kind(address.kind).ownership.by === 'ledger';
  // Of an adopted one only an exclusive target says so, and that only of all alike.
  return !isUnmarked || remove !== undefined || record.origin === 'created' || record.onRemove === 'delete';
}
