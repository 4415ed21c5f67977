/** Why the service will refuse one change, as far as live tells: what stands in its way, and what the token may not do. */
import type { Change } from '../model/change.ts';
import type { LiveResource } from '../model/resource.ts';
import type { Scene } from './scene.ts';

export interface Attempt {
  readonly change: Pick<Change, 'address' | 'action'>;
  readonly live: LiveResource | undefined;
  /** `safe` or `force` of a tombstone */
  readonly remove?: 'safe' | 'force';
}

/** Clauses; empty when nothing is foreseen. A forced delete minds no obstacle, and needs its permission all the same. */
export function foreseeRefusal(scene: Scene, { change, live, remove }: Attempt): readonly string[] {
  const { address, action } = change;
  if (live === undefined || action === 'none') return [];
  const { obstacles, forbidden } = scene.kind(address.kind);
  const inTheWay = remove === 'force' ? [] : (obstacles?.(live, action, scene.record(address)) ?? []);
  return [...inTheWay, ...(forbidden?.(live, action, remove) ?? [])];
}

/** The same as a note of the plan. */
export function refusalNotes(scene: Scene, attempt: Attempt): string[] {
  const reasons = foreseeRefusal(scene, attempt);
  return reasons.length === 0 ? [] : [`the service will refuse this: ${reasons.join('; ')}`];
}
