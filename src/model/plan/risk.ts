/** What a change puts at risk: access that it opens or closes, or a destroy that it schedules (rule 33). */
import type { RiskGuard } from './guard.ts';
import type { Path } from '../json/json.ts';

export interface Risk {
  /** the field that causes it; empty when the whole resource does */
  readonly path: Path;
  /** `destroys`: it makes a later destroy happen, or happen sooner */
  readonly effect: 'widens' | 'narrows' | 'destroys';
  /** a clause for people: who gains or loses what, or what is destroyed and when */
  readonly message: string;
  /** the guard that it trips if it widens access; `widening` when absent. What destroys trips `scheduled-destroy` */
  readonly guard?: RiskGuard;
}

/** True when the change only narrows access: it is applied before changes that widen (rule 32). */
export function isNarrowing(risks: readonly Risk[]): boolean {
  return risks.length > 0 && risks.every(({ effect }) => effect === 'narrows');
}
