/** Checks the changes of a plan against policies: which violate one, which are exempt, and whether a violation stops the apply. */
import { createHash } from 'node:crypto';
import { placeIn } from '../manifest/yaml/yaml-document.ts';
import { type AddressText, formatAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { type Concern, type Guard, policyGuard, sortConcerns } from '../model/guard.ts';
import { canonicalText } from '../model/json.ts';
import type { Registry } from '../model/kind.ts';
import { matchesPattern } from '../model/name-pattern.ts';
import { nearestWord } from '../model/nearest-word.ts';
import type { Exemption, PlanPolicies, Policy, PolicyMatch, UsedExemption } from '../model/policy.ts';
import { counted, quoted } from '../model/quoted.ts';
import { evaluate } from './run-worker.ts';
import { exemptionsFor, exemptionState } from './exemptions.ts';
import { type LoadedPolicies, type ReadPolicy, specShape } from './load-policies.ts';
import { asksForTags, namesTags } from './names-tags.ts';
import {
  changeVariable,
  type PolicyChange,
  type CheckedPlan,
  planVariable,
  resourceVariable,
} from './variables.ts';
import type { CaseResult } from './evaluate-rules.ts';

export interface PlanCheck {
  readonly changes: readonly PolicyChange[];
  readonly plan: CheckedPlan;
  /** of all declared and recorded resources of the stack; absent if they are not all known */
  readonly addresses?: ReadonlySet<string>;
}

/** What a policy says about one change that does not pass. */
interface Violation {
  readonly policy: Policy;
  readonly change: PolicyChange;
  /** a clause; for an error, why the rule gave no result */
  readonly message: string;
  readonly isError: boolean;
  /** false if the rules took too long together or the worker failed, or if unknown tags could change the result */
  readonly isEvaluated: boolean;
}

interface PolicyFindings {
  /** one for each policy and effect, those that deny first */
  readonly guards: readonly Guard[];
  readonly policies: PlanPolicies;
  /** warnings about exemptions that end soon, and about those that match no resource */
  readonly problems: readonly Diagnostic[];
}

/** @param now milliseconds since 1970: exemptions are in force at this time, or not */
export async function checkPlan(
  { policies, sources }: LoadedPolicies,
  check: PlanCheck,
  { kinds, now }: { readonly kinds: Registry; readonly now: number },
): Promise<PolicyFindings> {
  const [violations = []] = await findViolations(policies, [check], kinds);
  const decided = violations.map((violation) => ({ violation, ...exemptionOf(violation, now) }));
  const exempted = decided.flatMap(({ violation, used }): UsedExemption[] =>
    used === undefined
      ? []
      : [
          {
            guard: policyGuard(violation.policy.name),
            address: formatAddress(violation.change.address),
            until: used.until,
            owner: used.owner,
          },
        ],
  );
  const open = decided.filter(({ used }) => used === undefined);
  return {
    guards: toGuards(open, policies),
    policies: { count: policies.length, at: check.plan.time, sources, exempted },
    problems: policies.flatMap((policy) => [
      ...endingSoon(policy, now),
      ...unusedExemptions(policy, check.addresses, open),
    ]),
  };
}

/** @returns the violations of each plan, in the order of the policies */
export async function findViolations(
  policies: readonly Policy[],
  checks: readonly PlanCheck[],
  kinds: Registry,
): Promise<readonly (readonly Violation[])[]> {
  const changes = checks.flatMap((check, of) => check.changes.map((change) => ({ change, of })));
  const cases = policies.flatMap((policy, rule) => {
    const isAboutTags = asksForTags(policy);
    return changes.flatMap(({ change }, index) => {
      const isAsked = isAboutTags || change.getsOtherTags !== true;
      return isAsked && isMatched(policy.match, change) ? [[rule, index] as const] : [];
    });
  });
  const found: Violation[][] = checks.map(() => []);
  if (cases.length === 0) return found;
  const [only] = checks.length === 1 ? checks : [];
  const { results } = await evaluate({
    rules: policies.map((policy) => ({
      rule: policy.rule,
      ...(policy.message === undefined ? {} : { message: policy.message }),
      spec: specShape(policy, kinds),
    })),
    changes: changes.map(({ change, of }) => ({
      change: changeVariable(change),
      resource: resourceVariable(change),
      ...(only === undefined && checks[of] ? { plan: planVariable(checks[of].plan) } : {}),
    })),
    plan: only === undefined ? {} : planVariable(only.plan),
    cases,
  });
  const unfinished = cases[results.findIndex(({ is }) => is === 'not-evaluated')]?.[0] ?? -1;
  for (const [at, [rule, index]] of cases.entries()) {
    const [policy, checked] = [policies[rule], changes[index]];
    const result = withUnfinished(results[at], policies[unfinished]);
    if (policy === undefined || checked === undefined) continue;
    const violation = violationOf(policy, checked.change, result);
    if (violation !== undefined) found[checked.of]?.push(violation);
  }
  return found;
}

/** Names the policy whose rule ran when the evaluation was stopped: those after it are not evaluated either. */
function withUnfinished(
  result: CaseResult | undefined,
  unfinished: Policy | undefined,
): CaseResult | undefined {
  if (result?.is !== 'not-evaluated' || unfinished === undefined) return result;
  return { ...result, message: `${result.message}; the rule of ${quoted(unfinished.name)} was not finished` };
}

function violationOf(
  policy: Policy,
  change: PolicyChange,
  result: CaseResult | undefined,
): Violation | undefined {
  const missing = missingTags(policy, change);
  if (result?.is === 'pass') {
    if (missing === undefined || !namesTags(policy)) return undefined;
    return { policy, change, message: missing, isError: true, isEvaluated: false };
  }
  const isError = result?.is !== 'violation';
  const cause = result?.message ?? (isError ? 'the rule was not evaluated' : '');
  const message = [cause, missing ?? ''].filter((text) => text !== '').join('; ');
  const wasRun = result !== undefined && result.is !== 'not-evaluated';
  return { policy, change, message, isError, isEvaluated: wasRun && missing === undefined };
}

/** A clause that says which tags are not known, if they could change the result. Unknown tags never count as no tags. */
function missingTags(policy: Policy, change: PolicyChange): string | undefined {
  const { hasUnknownTags, hasUnknownInherited, ...known } = change;
  if (hasUnknownTags === undefined && hasUnknownInherited === undefined) return undefined;
  if (!namesTags(policy) && isMatched(policy.match, known)) return undefined;
  const whose = hasUnknownTags === true ? 'its tags' : 'the tags of its project';
  return `${whose} are not known, so it may have tags that the policy is about`;
}

export function isMatched(
  { kinds, actions, targets, tags = {} }: PolicyMatch,
  {
    address,
    action,
    place,
    tags: has,
    tagsBefore = {},
    hasUnknownTags,
    hasUnknownInherited,
  }: Pick<
    PolicyChange,
    'address' | 'action' | 'place' | 'tags' | 'tagsBefore' | 'hasUnknownTags' | 'hasUnknownInherited'
  >,
): boolean {
  if (kinds !== undefined && !kinds.includes(address.kind)) return false;
  if (actions !== undefined && !actions.some((one) => one === action)) return false;
  // A stack chooses the names of its targets, but not their organizations and mounts.
  const mount = place?.replace(/^(.*\/)?auth\//, '');
  const names = [address.target, place, mount].filter((name) => name !== undefined);
  const isItsTarget = (pattern: string) =>
    names.some((name) => (name === place ? isPlace(place, pattern) : matchesPattern(name, pattern)));
  if (targets !== undefined && !targets.some(isItsTarget)) return false;
  if (hasUnknownTags === true) return true;
  return Object.entries(tags).every(([key, patterns]) => {
    // The tags before the change count as well: a change of the tag itself must not lead out of the policy.
    // A tag of the resource itself takes precedence over an inherited one.
    const isOwn = Object.hasOwn(has, key) && (action === 'create' || Object.hasOwn(tagsBefore, key));
    if (hasUnknownInherited === true && !isOwn) return true;
    const values = [has, tagsBefore].flatMap((all) => (Object.hasOwn(all, key) ? [all[key] ?? ''] : []));
    return values.some((value) => patterns.some((pattern) => matchesPattern(value, pattern)));
  });
}

/** Case does not matter in names of organizations, but it does in names of mounts. */
function isPlace(place: string, pattern: string): boolean {
  return place.includes('/')
    ? matchesPattern(place, pattern)
    : matchesPattern(place.toLowerCase(), pattern.toLowerCase());
}

interface Decision {
  /** the exemption in force, so that the violation does not count */
  readonly used?: Exemption;
  /** an exemption that has ended */
  readonly ended?: Exemption;
}

function exemptionOf({ policy, change }: Violation, now: number): Decision {
  const about = exemptionsFor(policy.exemptions, formatAddress(change.address));
  const used = about.find((one) => exemptionState(one, now).is === 'in-force');
  if (used !== undefined) return { used };
  const ended = about.find((one) => exemptionState(one, now).is === 'ended');
  return ended === undefined ? {} : { ended };
}

type Decided = Decision & { readonly violation: Violation };

const effects = { deny: 'denies', confirm: 'blocks', warn: 'warns' } as const;

/**
 * An exemption that has ended stops an apply, even if the policy was acknowledged: when that was done, the resource may still have been
 * exempt.
 */
function effectOf({ violation: { policy }, ended }: Decided): Guard['effect'] {
  return ended === undefined || policy.severity === 'warn' ? effects[policy.severity] : 'denies';
}

/** One guard for each policy and effect. */
function toGuards(decided: readonly Decided[], policies: readonly Policy[]): Guard[] {
  const groups = Map.groupBy(decided, (one) => `${effectOf(one)} ${one.violation.policy.name}`);
  const guards = [...groups.values()].flatMap((group): Guard[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { policy } = first.violation;
    const byAddress = Map.groupBy(
      group,
      ({ violation }): AddressText => formatAddress(violation.change.address),
    );
    const concerns = [...byAddress.values()].flatMap((some): Concern[] => {
      const [one] = some;
      if (one === undefined) return [];
      const messages = [...new Set(some.map(messageOf).filter((text) => text !== ''))];
      // Reports of limited size name only resources with a message.
      const shown = messages.length === 0 ? ['the rule does not hold'] : messages;
      return [{ address: one.violation.change.address, messages: shown }];
    });
    const violates = concerns.length === 1 ? 'violates' : 'violate';
    const wants = policy.description === undefined ? '' : `: ${policy.description}`;
    const message = `${counted(concerns.length, 'change')} ${violates} the policy ${quoted(policy.name)}${wants}`;
    const id = policyGuard(policy.name);
    const effect = effectOf(first);
    const about = { message, concerns: sortConcerns(concerns), ruleHash: ruleHash(policies, policy.name) };
    return [{ id, effect, counted: concerns.length, ...about }];
  });
  const order = ['denies', 'blocks', 'warns'];
  return guards.toSorted(
    (a, b) => order.indexOf(a.effect) - order.indexOf(b.effect) || (a.id < b.id ? -1 : Number(a.id > b.id)),
  );
}

/** 128 bits of a hash over all policies with this name: one of an earlier commit may apply as well. The guard itself has their messages. */
function ruleHash(policies: readonly Policy[], name: string): string {
  const rules = policies
    .filter((policy) => policy.name === name)
    .map(({ severity, match, rule }) => canonicalText([severity, { ...match }, rule]));
  return createHash('sha256')
    .update(canonicalText([...new Set(rules)].sort()))
    .digest('hex')
    .slice(0, 32);
}

function messageOf({ violation: { message, change }, ended }: Decided): string {
  const parts = [
    message,
    change.getsOtherTags === true ? otherTags : '',
    ended === undefined
      ? ''
      : `the exemption until ${ended.until} (${ended.owner}) has ended: remove it, or renew it`,
  ];
  return parts.filter((text) => text !== '').join('; ');
}

/** Shows why a resource that the plan does not change violates a policy. */
const otherTags = 'of this resource, the plan changes only inherited tags';

function endingSoon({ name, exemptions, document }: ReadPolicy, now: number): Diagnostic[] {
  return exemptions.flatMap((exemption, index): Diagnostic[] => {
    const state = exemptionState(exemption, now);
    if (state.is !== 'in-force' || !state.endsSoon) return [];
    const { resource, owner, until, reason } = exemption;
    return [
      {
        code: 'exemption-ends',
        severity: 'warning',
        class: 'failure',
        message: `the exemption of ${quoted(resource)} from the policy ${quoted(name)} ends on ${until} (owner: ${owner}; reason: ${reason})`,
        place: placeIn(document, ['spec', 'exemptions', `${index}`, 'until']),
        fix: `change the resource so that it follows the policy, or renew the exemption`,
      },
    ];
  });
}

/**
 * Warnings about exemptions that match no resource, but nearly match one that violates the policy, which was probably meant. There is no
 * warning about others, because policies may be for several stacks, and such an exemption may be about a resource of another stack.
 */
function unusedExemptions(
  policy: ReadPolicy,
  addresses: ReadonlySet<string> | undefined,
  open: readonly Decided[],
): Diagnostic[] {
  const { name, exemptions, document, isNamed = false } = policy;
  if (addresses === undefined || !isNamed) return [];
  const violating = open.flatMap(({ violation }): string[] =>
    violation.policy === policy ? [formatAddress(violation.change.address)] : [],
  );
  return exemptions.flatMap((exemption, index): Diagnostic[] => {
    const { resource } = exemption;
    const isUsed = [...addresses, ...violating].some(
      (address) => exemptionsFor([exemption], address).length > 0,
    );
    if (isUsed) return [];
    const near = nearestAddress(resource, violating);
    if (near === undefined) return [];
    return [
      {
        code: 'exemption-unused',
        severity: 'warning',
        class: 'failure',
        message: `the exemption of ${quoted(resource)} from the policy ${quoted(name)} is about no resource of this stack; did you mean ${quoted(near)}?`,
        place: placeIn(document, ['spec', 'exemptions', `${index}`, 'resource']),
        fix: 'correct the address, or remove the exemption',
      },
    ];
  });
}

/** Compares the names alone first: with the kind and the target, even unlike names are nearly equal. */
function nearestAddress(pattern: string, addresses: Iterable<string>): string | undefined {
  const split = (address: string) => /^([^/]*\/[^/]*\/)(.*)$/.exec(address) ?? [];
  const [, head = '', tail = ''] = split(pattern);
  const all = [...addresses];
  const beside = all.flatMap((address) => (address.startsWith(head) ? [address.slice(head.length)] : []));
  const near = head === '' ? undefined : nearestWord(tail, beside);
  if (near !== undefined) return `${head}${near}`;
  // A misspelt kind or target.
  const sameName = all.filter((address) => split(address)[2] === tail && !address.startsWith(head));
  return nearestWord(pattern, sameName);
}
