/** What a change does to who gets in and for how long: the vocabulary in which the kinds of a mount tell their risk. */
import type { Path } from '../../model/json.ts';

export interface AccessEffect {
  readonly path: Path;
  readonly effect: 'widens' | 'narrows';
  /** a clause for people: "admits service accounts in \"billing\"" */
  readonly says: string;
  /** the guard that this trips, where a stack wants to be asked before it happens (RULES 33) */
  readonly guard?: AccessGuard;
}

export type AccessGuard = 'wildcard' | 'cleared-audience' | 'unlimited-lifetime';

/** True when access only shrinks: such a change goes before those that widen (RULES 32). */
export function isNarrowing(effects: readonly AccessEffect[]): boolean {
  return effects.length > 0 && effects.every(({ effect }) => effect === 'narrows');
}
