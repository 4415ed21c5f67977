/** Guards about who is who: what was there and is gone, what nobody has a record of, what was never ours (RULES 8, 22, 24). */
import { formatAddress } from '../model/address.ts';
import type { Draft } from './draft.ts';
import type { WordedGuard } from './guard-words.ts';
import type { Scene } from './scene.ts';

type IdentityGuard = Extract<WordedGuard, 'recreate' | 'no-record' | 'adopt'>;

/** The guard that one draft trips by its identity; a part has none of its own. */
export function identityGuard(scene: Scene, draft: Draft): IdentityGuard | undefined {
  const { address, action, fields } = draft.change;
  const { ownership } = scene.kind(address.kind);
  if (ownership.by === 'part') return undefined;
  switch (action) {
    case 'create':
      return scene.record(address) === undefined ? undefined : 'recreate';
    case 'delete':
      return isWitnessed(scene, draft) ? undefined : 'no-record';
    case 'adopt': {
      // Who writes "adopt" into a manifest has acknowledged it there; what is as declared needs no word.
      const isSaid = scene.desired.get(formatAddress(address))?.metadata.adopt === true;
      return isSaid || fields.length === 0 ? undefined : 'adopt';
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
