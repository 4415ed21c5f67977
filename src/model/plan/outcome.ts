/** The outcome of each change, and the events that apply reports while it works. */
import type { Address } from '../resource/address.ts';
import type { Action, Change } from './change.ts';
import type { Place } from '../diagnostic.ts';

export type OutcomeKind =
  /** sent, and the service answered with success */
  | 'applied'
  /** the resource was already as desired when the call was to be sent */
  | 'unchanged'
  /** the live resource changed since the plan; nothing was sent */
  | 'stale'
  /** a change that it depends on did not succeed; nothing was sent */
  | 'skipped'
  | 'failed'
  /** sent, and the answer was lost: it may or may not have been carried out */
  | 'unknown';

export interface Outcome {
  readonly address: Address;
  readonly action: Action;
  readonly kind: OutcomeKind;
  /** the reason, in the service's words where there are any */
  readonly detail?: string;
  readonly place?: Place;
  /** for a change with several calls: those that were carried out before it stopped */
  readonly done?: readonly string[];
  /** failed with an answer that is no refusal: it may have been carried out all the same */
  readonly inDoubt?: true;
  /** failed with a refusal that could not be verified by an immediate look; never stored */
  readonly refused?: true;
  /** failed or unknown, but a look afterwards found the resource as desired */
  readonly foundTrue?: true;
  /** the ids of the requests that were answered, as the service gave them: its audit trail names them, too (rule 50) */
  readonly requests?: readonly string[];
  /** it was carried out, maybe by a try whose answer told no id: it was lost, or that of a proxy */
  readonly unnamed?: true;
  /** the service's own warnings about writes that it carried out */
  readonly warnings?: readonly string[];
}

export type ApplyEvent =
  | { readonly type: 'begin'; readonly changes: number; readonly calls: number }
  | { readonly type: 'start'; readonly change: Change }
  | { readonly type: 'end'; readonly outcome: Outcome; readonly finished: number; readonly changes: number };
