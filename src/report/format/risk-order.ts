/** The order of changes for reviewers: what takes away or destroys first, then what opens, then the rest as apply does it. */
import type { Change } from '../../model/plan/change.ts';

export function byRisk(changes: readonly Change[]): Change[] {
  return [...changes].sort((one, other) => rank(one) - rank(other));
}

function rank({ action, risks = [] }: Change): number {
  if (action === 'delete') return 0;
  if (action === 'release') return 1;
  if (risks.some(({ effect }) => effect === 'destroys')) return 2;
  if (risks.some(({ effect }) => effect === 'widens')) return 3;
  return risks.length > 0 ? 4 : 5;
}
