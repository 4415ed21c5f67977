/**
 * Guards: reasons to stop a plan until somebody acknowledges it (rule 33). Users type the ids, so they are stable:
 * ids may be added, but never renamed. Guards follow from the changes and are not part of the digest.
 */
import { type Address, formatAddress } from '../resource/address.ts';

export type GuardId =
  | 'older-commit'
  | 'diverged-commit'
  | 'missing-file'
  | 'deletes'
  | 'zero'
  | 'delete-percent'
  | 'update-percent'
  | 'recreate'
  | 'rename'
  | 'no-record'
  | 'forced-delete'
  | 'adopt'
  | 'unrecorded'
  | 'takeover'
  | 'wildcard'
  | 'cleared-audience'
  | 'unlimited-lifetime'
  | 'global-sharing'
  | 'scheduled-destroy'
  | 'widening'
  | 'new-role'
  | 'commit-unknown';

/** The guards that a risk can trip. */
export type RiskGuard = Extract<
  GuardId,
  | 'wildcard'
  | 'cleared-audience'
  | 'unlimited-lifetime'
  | 'global-sharing'
  | 'scheduled-destroy'
  | 'widening'
  | 'new-role'
>;

/** `blocks`: apply refuses until it is acknowledged. `warns`: it is only shown. */
type GuardEffect = 'blocks' | 'warns';

/** Every guard with its default effect, in the order of reports. */
export const guardDefaults: Readonly<Record<GuardId, GuardEffect>> = {
  'older-commit': 'blocks',
  'diverged-commit': 'blocks',
  'missing-file': 'blocks',
  deletes: 'blocks',
  zero: 'blocks',
  'delete-percent': 'blocks',
  'update-percent': 'blocks',
  recreate: 'blocks',
  rename: 'blocks',
  'no-record': 'blocks',
  'forced-delete': 'blocks',
  adopt: 'blocks',
  unrecorded: 'blocks',
  takeover: 'blocks',
  wildcard: 'blocks',
  'cleared-audience': 'blocks',
  'unlimited-lifetime': 'blocks',
  'global-sharing': 'blocks',
  'scheduled-destroy': 'blocks',
  widening: 'warns',
  'new-role': 'warns',
  'commit-unknown': 'warns',
};

/** In the order of reports. */
export const guardIds: readonly string[] = Object.keys(guardDefaults);

/** A guard that fired: for one kind in one target, for a target (no `kind`), or for the plan (neither). */
export interface Guard {
  readonly id: GuardId;
  readonly effect: GuardEffect;
  readonly kind?: string;
  readonly target?: string;
  /** how many resources it is about */
  readonly counted: number;
  /** how many resources the stack owned before; only where the guard compares the two */
  readonly of?: number;
  /** the highest value that does not trip it: a number of resources, or a percentage where the id says so */
  readonly limit?: number;
  /** one sentence without a full stop */
  readonly message: string;
  readonly concerns: readonly Concern[];
}

export interface Concern {
  readonly address: Address;
  /** clauses about this resource; empty where the message says all */
  readonly messages: readonly string[];
}

/** Concerns in the order of their addresses. */
export function sortConcerns(concerns: readonly Concern[]): Concern[] {
  return concerns.toSorted((a, b) => (formatAddress(a.address) < formatAddress(b.address) ? -1 : 1));
}

export function isBlocking({ effect }: Guard): boolean {
  return effect === 'blocks';
}

/** The ids that must be acknowledged before a plan with these guards may be applied: each once, in the order of reports. */
export function blockingIds(guards: readonly Guard[]): GuardId[] {
  return [...new Set(guards.filter(isBlocking).map(({ id }) => id))];
}
