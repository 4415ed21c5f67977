/**
 * Guards: what a plan is stopped for until somebody has read it (rule 33). The ids are what users type, so they are
 * stable: one may be added, none renamed. A guard follows from the changes and is no part of the digest.
 */
import type { Address } from '../resource/address.ts';

export type GuardId =
  | 'older-commit'
  | 'deletes'
  | 'zero'
  | 'delete-percent'
  | 'update-percent'
  | 'recreate'
  | 'rename'
  | 'no-record'
  | 'forced-delete'
  | 'adopt'
  | 'takeover'
  | 'wildcard'
  | 'cleared-audience'
  | 'unlimited-lifetime'
  | 'global-sharing'
  | 'widening'
  | 'new-role'
  | 'commit-unknown';

/** Those that a kind trips by what its change opens. */
export type RiskGuard = Extract<
  GuardId,
  'wildcard' | 'cleared-audience' | 'unlimited-lifetime' | 'global-sharing' | 'widening' | 'new-role'
>;

/** `blocks`: apply refuses until it is acknowledged; `warns`: it is told, and that is all. */
export type GuardEffect = 'blocks' | 'warns';

/** Every guard, in the order of reports, with what it does in a stack that says nothing about it. */
export const guardDefaults: Readonly<Record<GuardId, GuardEffect>> = {
  'older-commit': 'blocks',
  deletes: 'blocks',
  zero: 'blocks',
  'delete-percent': 'blocks',
  'update-percent': 'blocks',
  recreate: 'blocks',
  rename: 'blocks',
  'no-record': 'blocks',
  'forced-delete': 'blocks',
  adopt: 'blocks',
  takeover: 'blocks',
  wildcard: 'blocks',
  'cleared-audience': 'blocks',
  'unlimited-lifetime': 'blocks',
  'global-sharing': 'blocks',
  widening: 'warns',
  'new-role': 'warns',
  'commit-unknown': 'warns',
};

/** In the order of reports. */
export const guardIds: readonly string[] = Object.keys(guardDefaults);

/** One guard that fires: for one kind in one target, for a target (no `kind`), or for the plan (neither). */
export interface Guard {
  readonly id: GuardId;
  readonly effect: GuardEffect;
  readonly kind?: string;
  readonly target?: string;
  /** how many resources it is about */
  readonly counted: number;
  /** of how many that the stack owned before; only where the guard weighs the two */
  readonly of?: number;
  /** what is let pass without a word: a number of resources, or of percent where the id says so */
  readonly limit?: number;
  /** one sentence without a full stop */
  readonly message: string;
  readonly concerns: readonly Concern[];
}

export interface Concern {
  readonly address: Address;
  /** clauses about this very resource; empty where the message says all */
  readonly says: readonly string[];
}

export function isBlocking({ effect }: Guard): boolean {
  return effect === 'blocks';
}

/** What has to be acknowledged before a plan with these guards may be applied: each id once, in the order of reports. */
export function blockingIds(guards: readonly Guard[]): GuardId[] {
  return [...new Set(guards.filter(isBlocking).map(({ id }) => id))];
}
