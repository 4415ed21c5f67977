/** What a change opens or closes, and to whom: the words in which a kind tells what the guards have to know (rule 33). */
import type { RiskGuard } from './guard.ts';
import type { Path } from '../json/json.ts';

export interface Risk {
  /** the field that does it; empty when the whole resource does */
  readonly path: Path;
  readonly effect: 'widens' | 'narrows';
  /** a clause for people: who gains or loses what */
  readonly says: string;
  /** what a widening trips; `widening` when absent */
  readonly guard?: RiskGuard;
}

/** True when access only shrinks: such a change goes before those that widen (rule 32). */
export function isNarrowing(risks: readonly Risk[]): boolean {
  return risks.length > 0 && risks.every(({ effect }) => effect === 'narrows');
}
