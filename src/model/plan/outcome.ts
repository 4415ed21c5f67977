/** What became of each change, and what apply tells while it works. */
import type { Address } from '../resource/address.ts';
import type { Action, Change } from './change.ts';
import type { Place } from '../diagnostic.ts';

export type OutcomeKind =
  /** sent, and the service said yes */
  | 'applied'
  /** true already when it was to be sent */
  | 'unchanged'
  /** the live resource moved since the plan; nothing was sent */
  | 'stale'
  /** something that it depends on did not happen; nothing was sent */
  | 'skipped'
  | 'failed'
  /** sent, and the answer was lost: it may or may not have happened */
  | 'unknown';

export interface Outcome {
  readonly address: Address;
  readonly action: Action;
  readonly kind: OutcomeKind;
  /** why, in the service's words where there are any */
  readonly detail?: string;
  readonly place?: Place;
  /** what of a change with several calls was done before it stopped */
  readonly done?: readonly string[];
  /** failed by an answer that is no refusal: it may have happened all the same */
  readonly inDoubt?: true;
  /** failed by an answer that says no, and nobody could look at once whether that is so; no record keeps it */
  readonly refused?: true;
  /** failed or unknown, and all of it was found true when it was looked at afterwards */
  readonly foundTrue?: true;
  /** the service's own, about writes that it carried out */
  readonly warnings?: readonly string[];
}

export type ApplyEvent =
  | { readonly type: 'begin'; readonly changes: number; readonly calls: number }
  | { readonly type: 'start'; readonly change: Change }
  | { readonly type: 'end'; readonly outcome: Outcome; readonly finished: number; readonly changes: number };
