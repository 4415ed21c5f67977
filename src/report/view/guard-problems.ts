/** Guards as problems with places, for formats that know nothing else: one for each resource, at its document. */
import { formatAddress } from '../../model/address.ts';
import type { ShownDiagnostic } from '../../model/diagnostic.ts';
import { isBlocking } from '../../model/guard.ts';
import type { Plan } from '../../model/plan.ts';

export function guardProblems({ guards, changes }: Pick<Plan, 'guards' | 'changes'>): ShownDiagnostic[] {
  const places = new Map(changes.map(({ address, place }) => [formatAddress(address), place]));
  return guards.flatMap((guard): ShownDiagnostic[] => {
    const about = {
      code: guard.id,
      severity: isBlocking(guard) ? ('error' as const) : ('warning' as const),
      class: 'failure' as const,
    };
    if (guard.concerns.length === 0) return [{ ...about, message: guard.message }];
    return guard.concerns.map(({ address, messages }) => {
      const place = places.get(formatAddress(address));
      const message = `${formatAddress(address)}: ${messages.length === 0 ? guard.message : messages.join('; ')}`;
      return { ...about, message, ...(place === undefined ? {} : { place }) };
    });
  });
}
