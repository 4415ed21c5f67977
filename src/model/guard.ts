/**
 * Guards, which stop a plan until a person acknowledges them, and the risks of changes, which trip some of the guards.
 * Users type the ids of guards, so ids may be added, but never renamed.
 */
import { type Address, formatAddress } from './address.ts';
import type { Path } from './json.ts';

/** The guards of trueup itself, whose effects a stack may change. */
export type BuiltInGuard =
  | 'loosened'
  | 'older-commit'
  | 'diverged-commit'
  | 'missing-file'
  | 'deletes'
  | 'zero'
  | 'delete-percent'
  | 'update-percent'
  | 'recreate'
  | 'rename'
  | 'reference-changed'
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

/** The guard of a policy of the organization, by its name. */
type PolicyGuard = `policy/${string}`;

export type GuardId = BuiltInGuard | PolicyGuard;

/** The guards that a risk can trip. */
export type RiskGuard = Extract<
  BuiltInGuard,
  | 'wildcard'
  | 'cleared-audience'
  | 'unlimited-lifetime'
  | 'global-sharing'
  | 'scheduled-destroy'
  | 'widening'
  | 'new-role'
>;

/** `blocks`: apply refuses until it is acknowledged. `warns`: it is only shown. `denies`: it cannot be acknowledged. */
type GuardEffect = 'blocks' | 'warns' | 'denies';

/** Every guard with its default effect, in the order of reports. */
export const guardDefaults: Readonly<Record<BuiltInGuard, 'blocks' | 'warns'>> = {
  loosened: 'blocks',
  'older-commit': 'blocks',
  'diverged-commit': 'blocks',
  'missing-file': 'blocks',
  deletes: 'blocks',
  zero: 'blocks',
  'delete-percent': 'blocks',
  'update-percent': 'blocks',
  recreate: 'blocks',
  rename: 'blocks',
  'reference-changed': 'blocks',
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

/** Limits that hold where the stack sets no others. */
export const guardLimits = { maxDeletes: 3, maxDeletePercent: 10, maxUpdatePercent: 30 } as const;

/** In the order of reports. */
export const guardIds: readonly string[] = Object.keys(guardDefaults);

/** The guards whose effect a stack may change. `loosened` is about the stack's own settings, so a stack cannot switch it off. */
export const adjustableGuardIds: readonly string[] = guardIds.filter((id) => id !== 'loosened');

/** The guards that each resource trips by itself: not for their number, the stack or the checkout. */
const resourceGuardIds: readonly string[] = [
  ...[
    'recreate',
    'rename',
    'reference-changed',
    'no-record',
    'forced-delete',
    'adopt',
    'unrecorded',
    'takeover',
  ],
  ...['wildcard', 'cleared-audience', 'unlimited-lifetime', 'global-sharing', 'scheduled-destroy'],
  ...['widening', 'new-role'],
];

export function isResourceGuard({ id }: Pick<Guard, 'id'>): boolean {
  return resourceGuardIds.includes(id);
}

const policyPrefix = 'policy/';

export function policyGuard(name: string): PolicyGuard {
  return `${policyPrefix}${name}`;
}

/** The name of the policy whose guard it is; undefined for the guards of trueup itself. */
export function policyOf(id: string): string | undefined {
  return id.startsWith(policyPrefix) ? id.slice(policyPrefix.length) : undefined;
}

/** Whether a text can be the id of a guard. The policies that exist are known only when a plan is made. */
export function isGuardId(text: string): text is GuardId {
  return guardIds.includes(text) || /^policy\/[a-z0-9-]{1,32}$/.test(text);
}

/** A guard that fired: for one kind in one target, for a target (no `kind`), or for the plan (neither). */
export interface Guard {
  readonly id: GuardId;
  readonly effect: GuardEffect;
  readonly kind?: string;
  readonly target?: string;
  /** the number of resources that trip it */
  readonly counted: number;
  /** how many resources the stack owned before; only where the guard compares the two */
  readonly of?: number;
  /** the highest value that does not trip it: a number of resources, or a percentage where the id says so */
  readonly limit?: number;
  /** one sentence without a full stop */
  readonly message: string;
  readonly concerns: readonly Concern[];
  /** of a policy: a hash of its severity, match and rule, which the other members do not show */
  readonly ruleHash?: string;
  /** of `loosened`: a hash of the name and the whole values of the setting, of which the message may show only a part */
  readonly settingHash?: string;
}

export interface Concern {
  readonly address: Address;
  /** clauses about this resource; empty if the message is enough */
  readonly messages: readonly string[];
}

/** A setting of a stack that is looser than before. */
export interface LoosenedSetting {
  /** for people: `spec.guards.maxDeletes` */
  readonly name: string;
  /** the former value, which still holds for this plan unless `isLost`: on one line, or only its different part */
  readonly before: string;
  /** the looser value, in the same form */
  readonly after: string;
  /** the whole values, as texts to compare; absent if `before` and `after` show them */
  readonly whole?: { readonly before: string; readonly after: string };
  /** this plan cannot use the former value any more */
  readonly isLost?: true;
}

/** Concerns in the order of their addresses. */
export function sortConcerns(concerns: readonly Concern[]): Concern[] {
  return concerns.toSorted((a, b) => (formatAddress(a.address) < formatAddress(b.address) ? -1 : 1));
}

/** Whether the guard is about the checkout, which may differ between a plan and its apply. */
export function isAboutCheckout({ id }: Pick<Guard, 'id'>): boolean {
  return ['older-commit', 'diverged-commit', 'commit-unknown', 'missing-file'].includes(id);
}

export function isBlocking({ effect }: Pick<Guard, 'effect'>): boolean {
  return effect !== 'warns';
}

/** The ids that block a plan with these guards, including those that cannot be acknowledged: each once, in the order of reports. */
export function blockingIds(guards: readonly Guard[]): GuardId[] {
  return [...new Set(guards.filter(isBlocking).map(({ id }) => id))];
}

/** The blocking ids that cannot be acknowledged. */
export function deniedIds(guards: readonly Guard[]): GuardId[] {
  return [...new Set(guards.filter(({ effect }) => effect === 'denies').map(({ id }) => id))];
}

/** The blocking ids that can be acknowledged. */
export function acknowledgeableIds(guards: readonly Guard[]): GuardId[] {
  const denied = deniedIds(guards);
  return blockingIds(guards).filter((id) => !denied.includes(id));
}

/** The blocking ids that remain after these acknowledgements. Ids that cannot be acknowledged always remain. */
export function openIds(guards: readonly Guard[], acknowledged: readonly string[]): GuardId[] {
  const denied = deniedIds(guards);
  return blockingIds(guards).filter((id) => denied.includes(id) || !acknowledged.includes(id));
}

// What a change puts at risk: access that it opens or closes, or a destroy that it schedules.

export interface Risk {
  /** the field that causes it; empty when the whole resource does */
  readonly path: Path;
  /** `destroys`: it schedules a destroy, or makes one earlier. `affects`: it changes resources outside of the plan; it trips no guard */
  readonly effect: 'widens' | 'narrows' | 'destroys' | 'affects';
  /** a clause for people: who gains or loses what, or what is destroyed and when */
  readonly message: string;
  /** the guard that a risk with `widens` trips; `widening` when absent. A risk with `destroys` trips `scheduled-destroy` */
  readonly guard?: RiskGuard;
}

/** True when the change only narrows access: it is applied before changes that widen. */
export function isNarrowing(risks: readonly Risk[]): boolean {
  return risks.length > 0 && risks.every(({ effect }) => effect === 'narrows');
}
