/** What a change does to who may read the state of a workspace: the words in which kinds tell their risk. */
import type { Path } from '../../model/json.ts';

export interface SharingEffect {
  readonly path: Path;
  readonly effect: 'widens' | 'narrows';
  /** a clause for people: "every workspace of the organization may read the state" */
  readonly says: string;
  /** the guard that this trips (RULES 33) */
  readonly guard?: 'global-sharing';
}
