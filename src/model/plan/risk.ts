/** The access that a change opens or closes, and to whom: what a kind tells the guards (rule 33). */
import type { RiskGuard } from './guard.ts';
import type { Path } from '../json/json.ts';

export interface Risk {
  /** the field that causes it; empty when the whole resource does */
  readonly path: Path;
  readonly effect: 'widens' | 'narrows';
  /** a clause for people: who gains or loses what */
  readonly message: string;
  /** the guard that it trips if it widens access; `widening` when absent */
  readonly guard?: RiskGuard;
}

/** True when the change only narrows access: it is applied before changes that widen (rule 32). */
export function isNarrowing(risks: readonly Risk[]): boolean {
  return risks.length > 0 && risks.every(({ effect }) => effect === 'narrows');
}
