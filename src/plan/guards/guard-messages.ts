/** The messages of the guards that do not count: the end of the sentence `3 Toy in "acme" …`. */
import type { RiskGuard } from '../../model/plan/guard.ts';

export type UncountedGuard =
  | RiskGuard
  | 'recreate'
  | 'rename'
  | 'no-record'
  | 'forced-delete'
  | 'adopt'
  | 'unrecorded'
  | 'takeover';

/** Of `adopt`, where the ledger knows another resource of that name. */
export const replacedMessage =
  'would be taken over, although the ledger knows another one of that name with another id';

export const guardMessages: Readonly<Record<UncountedGuard, string>> = {
  recreate: 'would be created anew, although this stack applied it before: somebody deleted it',
  rename: 'would be created, and one that looks like it is no longer declared: is it a rename?',
  'no-record': 'would be deleted, although the ledger has no record of it',
  'forced-delete': 'would be deleted by force, over what a safe delete is refused for',
  adopt: 'would be taken over, although this stack never wrote it',
  unrecorded:
    'would be changed: the ownership tag of this stack is there, and its ledger has no record. Does another repository have a stack of this name?',
  takeover: 'would be taken over from the stack that this one goes on for',
  wildcard: 'would admit everyone by a wildcard',
  'cleared-audience': 'would accept tokens made for any audience',
  'unlimited-lifetime': 'would give tokens that can live without a limit',
  'global-sharing': 'would be open to everyone',
  'scheduled-destroy': 'would have its resources destroyed, or destroyed sooner',
  widening: 'would widen access',
  'new-role': 'would be a new way in',
};
