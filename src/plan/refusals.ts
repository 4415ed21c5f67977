/**
 * What the service will refuse of a plan, seen beforehand. A plan notes it, for another token may be the one that
 * applies; apply's own plan is made with the very token that would be refused, so there it is an error (RULES 30).
 */
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Draft } from './draft.ts';
import { foreseeRefusal } from './foresee-refusal.ts';
import type { Scene } from './scene.ts';

export function findRefusals(scene: Scene, drafts: ReadonlyMap<AddressText, Draft>): Diagnostic[] {
  return [...drafts.values()].flatMap((draft) => {
    const { address, action, place } = draft.change;
    const reasons = foreseeRefusal(scene, draft);
    if (reasons.length === 0) return [];
    return {
      code: 'will-be-refused',
      severity: 'error' as const,
      class: 'failure' as const,
      message: `the service will refuse to ${action} "${formatAddress(address)}": ${reasons.join('; ')}`,
      ...(place === undefined ? {} : { place }),
      fix: 'give the token the permission, or apply with one that has it',
    };
  });
}
