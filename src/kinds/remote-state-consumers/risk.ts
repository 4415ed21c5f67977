/** Who gains and who loses the right to read a state. Pure; an undefined side has no consumers. */
import type { Spec } from '../../model/resource.ts';
import type { SharingEffect } from '../../targets/workspaces/sharing-effect.ts';
import { consumersOf } from './edges.ts';

export function risk(before: Spec | undefined, after: Spec | undefined): readonly SharingEffect[] {
  const [old, now] = [consumersOf(before ?? {}), consumersOf(after ?? {})];
  const path = ['consumers'];
  return [
    ...now
      .filter((name) => !old.includes(name))
      .map((name) => ({ path, effect: 'widens' as const, says: `"${name}" may read the state` })),
    ...old
      .filter((name) => !now.includes(name))
      .map((name) => ({ path, effect: 'narrows' as const, says: `"${name}" may read the state no more` })),
  ];
}
