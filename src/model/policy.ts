/** Policies: the rules of an organization about the changes of a plan, and where they come from. */
import type { AddressText } from './address.ts';
import type { Action } from './change.ts';
import type { Place } from './diagnostic.ts';
import type { GuardId } from './guard.ts';
import type { Json, JsonObject } from './json.ts';
import type { Spec } from './resource.ts';

/** `deny`: a violation cannot be acknowledged. `confirm`: it blocks until it is acknowledged. `warn`: it is only shown. */
export type Severity = 'deny' | 'confirm' | 'warn';

/** A change must match all members; an absent member matches every change. In patterns only `*` is special. */
export interface PolicyMatch {
  readonly kinds?: readonly string[];
  readonly actions?: readonly Action[];
  /** patterns of names of targets, organizations or mounts */
  readonly targets?: readonly string[];
  /** patterns of values, by key of the tag */
  readonly tags?: Readonly<Record<string, readonly string[]>>;
}

export interface Exemption {
  /** an address, or a pattern of addresses in which only `*` is special */
  readonly resource: string;
  readonly reason: string;
  readonly owner: string;
  /** its last day in UTC (`2026-12-31`), or a time (RFC 3339) */
  readonly until: string;
}

/** What a test of a policy expects: `no-match` means that the policy is not about the change. */
export type Expected = 'pass' | 'violation' | 'error' | 'no-match';

interface PolicyTest {
  readonly name: string;
  /** members of the variable `change`; those that are left out have the values of a create without fields */
  readonly change: JsonObject;
  readonly resource?: JsonObject;
  readonly plan?: JsonObject;
  readonly expect: Expected;
  /** the message of the violation */
  readonly message?: string;
}

export interface Policy {
  readonly name: string;
  readonly severity: Severity;
  /** one sentence for people */
  readonly description?: string;
  readonly match: PolicyMatch;
  /** CEL; a change passes only if it gives `true` */
  readonly rule: string;
  /** CEL that gives a text */
  readonly message?: string;
  readonly exemptions: readonly Exemption[];
  readonly tests: readonly PolicyTest[];
  /** the place of its name */
  readonly place: Place;
}

/** The policies that a plan was checked with. */
export interface PlanPolicies {
  readonly count: number;
  /** RFC 3339: the time of the check */
  readonly at: string;
  readonly sources: readonly ReadSource[];
  /** violations that do not count, because of an exemption */
  readonly exempted: readonly UsedExemption[];
}

/** A source as it was read. */
export interface ReadSource {
  readonly policies: number;
  /** files of the work tree; absent for those of a commit */
  readonly files?: readonly string[];
  readonly remote?: string;
  readonly ref?: string;
  readonly path?: string;
  readonly commit?: string;
}

export interface UsedExemption {
  readonly guard: GuardId;
  /** the address of the exempted resource */
  readonly address: string;
  readonly until: string;
  readonly owner: string;
}

/** A change as policies see it, without secrets. The history keeps it, so that today's policies can check earlier applies. */
export interface ChangeForPolicies {
  /** the whole content before and after; absent where there is none */
  readonly before?: Readonly<Record<string, Json>>;
  readonly after?: Readonly<Record<string, Json>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly tagsBefore: Readonly<Record<string, string>>;
  /** it may have other tags, which the service did not show */
  readonly hasUnknownTags?: true;
  /** only its own tags are known, and not those that it inherits */
  readonly hasUnknownInherited?: true;
  /** only the tags that it gets from its workspace or project change, so only policies about tags check it */
  readonly getsOtherTags?: true;
  readonly accessGained: readonly string[];
  readonly accessLost: readonly string[];
  readonly declaredAt?: string;
  /** the address of its parent; absent if it is not a child */
  readonly parent?: AddressText;
  /** addresses of other resources that it names */
  readonly references: readonly AddressText[];
}

/** All changes of a plan as policies see them. */
export interface ChangesForPolicies {
  readonly changes: ReadonlyMap<AddressText, ChangeForPolicies>;
  /** resources without a change of their own whose tags change, which policies check as updates */
  readonly tagged: ReadonlyMap<AddressText, ChangeForPolicies>;
  /** the content of each parent and reference after the plan, once for all changes; unknown contents are left out */
  readonly related: Readonly<Record<string, Spec>>;
}

/** Another resource as it is after the plan. */
export interface RelatedResource {
  readonly address: AddressText;
  /** absent if it is not known */
  readonly spec?: Spec;
}
