/** Guards about who is who: what was there and is gone, what nobody has a record of, what was never ours (RULES 8, 22, 24). */
import { formatAddress } from '../model/address.ts';
import type { Draft } from './draft.ts';
import type { WordedGuard } from './guard-words.ts';
import type { Scene } from './scene.ts';

type IdentityGuard = Extract<WordedGuard, 'recreate' | 'no-record' | 'adopt'>;

/** The guard that one draft trips by its identity; a part has none of its own. */
export function identityGuard(
  scene: Scene,
  { change: { address, action } }: Draft,
): IdentityGuard | undefined {
  const { ownership } = scene.kind(address.kind);
  if (ownership.by === 'part') return undefined;
  const isRecorded = scene.record(address) !== undefined;
  switch (action) {
    case 'create':
      return isRecorded ? 'recreate' : undefined;
    case 'delete':
      return isRecorded ? undefined : 'no-record';
    case 'adopt':
      // Who writes "adopt" into a manifest has acknowledged it there.
      return scene.desired.get(formatAddress(address))?.metadata.adopt === true ? undefined : 'adopt';
    default:
      return undefined;
  }
}
