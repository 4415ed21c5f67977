/**
 * The stricter of two versions of a stack, setting by setting. Settings that a pull request loosens do not count for its own plan: the
 * plan is made with the stricter ones, and the guard `loosened` reports each loosened setting. Pure.
 */
import { formatAddress } from '../model/address.ts';
import {
  type Guard,
  guardDefaults,
  type BuiltInGuard,
  guardIds,
  guardLimits,
  isAboutCheckout,
  type LoosenedSetting,
  policyOf,
} from '../model/guard.ts';
import { type LintCode, lintCodeNames } from '../model/lint-codes.ts';
import { canonicalText } from '../model/json.ts';
import { loosenedList } from '../model/loosened-list.ts';
import { matchesPattern } from '../model/name-pattern.ts';
import type { Plan } from '../model/plan.ts';
import type { PolicyRef } from '../model/policy-source.ts';
import { quoted } from '../model/quoted.ts';
import {
  formatIdentity,
  type Guards,
  identityOf,
  type Lint,
  type SecretPlaces,
  type Stack,
  type Target,
} from '../model/stack.ts';
import { shortHash } from './digest.ts';
import { elementsOf, type StricterSetting, stricterApprovals } from './stricter-approvals.ts';

interface Stricter {
  /** the stack `after` with the stricter of both settings: never looser than either */
  readonly stack: Stack;
  /** the settings that are looser in `after` than in `before` */
  readonly loosened: readonly LoosenedSetting[];
}

/** @param before the stack at an earlier commit, which people have accepted */
export function stricterOf(before: Stack, after: Stack): Stricter {
  const targets = after.targets.map((target) =>
    stricterThanAll(formerTargets(target, before.targets), target),
  );
  const guards = stricterGuards(before.guards, after.guards);
  const lint = stricterLint(before.lint, after.lint);
  const secrets = stricterSecrets(before.secrets, after.secrets);
  const approvals = stricterApprovals(before.approvals, after.approvals);
  const policies = stricterPolicies(before.policies, after.policies);
  const { lint: _, secrets: __, approvals: ___, policies: ____, ...rest } = after;
  return {
    stack: {
      ...rest,
      targets: targets.map(({ value }) => value),
      guards: guards.value,
      ...(lint.value === undefined ? {} : { lint: lint.value }),
      ...(secrets.value === undefined ? {} : { secrets: secrets.value }),
      ...(approvals.value === undefined ? {} : { approvals: approvals.value }),
      ...(policies.value === undefined ? {} : { policies: policies.value }),
    },
    loosened: [
      ...[guards, lint, secrets, approvals, policies, ...targets].flatMap(({ loosened }) => loosened),
      ...renamedTargets(before, after),
    ],
  };
}

/** The guards of a plan whose stack has loosened settings, one for each of them; nothing switches them off. */
export function loosenedGuards(
  loosened: readonly LoosenedSetting[],
): (Omit<Guard, 'effect' | 'id'> & { readonly id: 'loosened'; readonly always: true })[] {
  return loosened.map(({ name, before, after, isLost, whole = { before, after } }) => ({
    id: 'loosened' as const,
    counted: 1,
    message: `${name} is loosened from ${before} to ${after}, and ${isLost ? 'the former value does not hold' : 'the stricter value holds'} for this plan`,
    concerns: [],
    always: true,
    settingHash: shortHash(canonicalText([name, whole.before, whole.after])),
  }));
}

/**
 * The plan with the guards that an approved plan has because of stricter settings: `ci plan` used those of the base branch, which a
 * manual apply does not know. They block here as well, so that they are acknowledged.
 */
export function withStricterGuards(fresh: Plan, approved: Pick<Plan, 'guards'>): Plan {
  if (!approved.guards.some(({ id }) => id === 'loosened')) return fresh;
  const isIn = (guards: readonly Guard[], guard: Guard) => guards.some((one) => isSameGuard(one, guard));
  const lacking = approved.guards.filter((guard) => !isAboutCheckout(guard) && !isIn(fresh.guards, guard));
  return { ...fresh, guards: [...lacking, ...fresh.guards] };
}

/** Several guards may have the id of the same policy, if its stricter version has another result than the current one. */
function isSameGuard(one: Guard, other: Guard): boolean {
  const { id, kind, target, message, effect, settingHash } = other;
  if (one.id !== id || one.kind !== kind || one.target !== target) return false;
  if (id === 'loosened') return one.message === message && one.settingHash === settingHash;
  if (policyOf(id) === undefined) return true;
  const textOf = ({ concerns }: Guard) =>
    JSON.stringify(concerns.map(({ address, messages }) => [formatAddress(address), messages]));
  return one.effect === effect && textOf(one) === textOf(other);
}

// Guards and lint: limits, and the level of each guard and code.

function stricterGuards(before: Guards, after: Guards): StricterSetting<Guards> {
  const limits = (Object.keys(guardLimits) as (keyof typeof guardLimits)[]).map((name) => {
    const [was, is] = [before[name] ?? guardLimits[name], after[name] ?? guardLimits[name]];
    return { name, was, is, isSet: before[name] !== undefined || after[name] !== undefined };
  });
  const levels = stricterLevels(guardIds as readonly BuiltInGuard[], [before, after], {
    name: (id) => `the level of ${quoted(id)} in spec.guards`,
    blocksByDefault: (id) => guardDefaults[id] === 'blocks',
    words: ['"allow"', 'its default', '"raise"'],
  });
  return {
    value: {
      ...Object.fromEntries(
        limits.filter(({ isSet }) => isSet).map(({ name, was, is }) => [name, Math.min(was, is)]),
      ),
      ...levels.value,
    },
    loosened: [
      ...limits
        .filter(({ was, is }) => is > was)
        .map(({ name, was, is }) => ({ name: `spec.guards.${name}`, before: `${was}`, after: `${is}` })),
      ...levels.loosened,
    ],
  };
}

function stricterLint(before: Lint | undefined, after: Lint | undefined): StricterSetting<Lint | undefined> {
  const { value, loosened } = stricterLevels(
    lintCodeNames as readonly LintCode[],
    [before ?? {}, after ?? {}],
    {
      name: (code) => `the level of ${quoted(code)} in spec.lint`,
      blocksByDefault: () => false,
      words: ['"allow"', 'its default', '"raise"'],
    },
  );
  return { value: before === undefined && after === undefined ? undefined : value, loosened };
}

interface Levels<Id> {
  readonly raise?: readonly Id[];
  readonly allow?: readonly Id[];
}

interface LevelWords<Id> {
  name(id: Id): string;
  /** Whether the default of the id blocks: then `raise` changes nothing. */
  blocksByDefault(id: Id): boolean;
  /** for the levels allowed, default and raised */
  readonly words: readonly [string, string, string];
}

/** `allow` is looser than the default of an id, and `raise` is stricter. */
function stricterLevels<Id extends string>(
  ids: readonly Id[],
  [before, after]: readonly [Levels<Id>, Levels<Id>],
  { name, blocksByDefault, words }: LevelWords<Id>,
): StricterSetting<Levels<Id>> {
  const level = ({ raise = [], allow = [] }: Levels<Id>, id: Id): 0 | 1 | 2 =>
    allow.includes(id) ? 0 : raise.includes(id) ? 2 : 1;
  const each = ids.map((id) => ({ id, was: level(before, id), is: level(after, id) }));
  const at = (wanted: number) =>
    each.filter(({ was, is }) => Math.max(was, is) === wanted).map(({ id }) => id);
  const [raise, allow] = [at(2), at(0)];
  return {
    value: { ...(raise.length === 0 ? {} : { raise }), ...(allow.length === 0 ? {} : { allow }) },
    loosened: each
      .filter(({ id, was, is }) => is < was && !(is === 1 && blocksByDefault(id)))
      .map(({ id, was, is }) => ({ name: name(id), before: words[was], after: words[is] })),
  };
}

/** Compares only the sources of policies: the content of policy files in the stack is compared where these files are read. */
function stricterPolicies(
  before: Stack['policies'] = [],
  after: Stack['policies'],
): StricterSetting<Stack['policies']> {
  const has = (sources: Stack['policies'] = [], wanted: PolicyRef) =>
    sources.some((source) => 'git' in source && isSameRef(source.git, wanted));
  const left = before.flatMap((source) =>
    'git' in source && !has(after, source.git) ? [{ git: source.git, earlier: true as const }] : [],
  );
  if (left.length === 0) return { value: after, loosened: [] };
  const elements = (sources: Stack['policies'] = []) =>
    sources.flatMap((source) =>
      'git' in source && source.earlier !== true
        ? [{ whole: wholeRef(source.git), shown: refText(source.git) }]
        : [],
    );
  const now = elements(after);
  return {
    value: [...(after ?? []), ...left],
    loosened: [
      loosenedList(
        'spec.policies.from',
        { before: elements(before), after: now.length === 0 ? undefined : now },
        { before: 'nothing', after: 'nothing' },
      ),
    ],
  };
}

function isSameRef(one: PolicyRef, other: PolicyRef): boolean {
  return one.remote === other.remote && one.ref === other.ref && one.path === other.path;
}

function wholeRef({ remote, ref, path }: PolicyRef): string {
  return canonicalText([remote, ref, path]);
}

function refText({ remote, ref, path }: PolicyRef): string {
  return quoted(`${remote}/${ref}:${path}`);
}

// Targets: whose resources a plan may remove, and how.

/** Policies and their exemptions name targets, so a renamed target may escape a policy, or get an exemption. */
function renamedTargets(before: Stack, after: Stack): LoosenedSetting[] {
  if (![before, after].some(({ policies = [] }) => policies.length > 0)) return [];
  return after.targets.flatMap((target): LoosenedSetting[] => {
    const place = formatIdentity(identityOf(target));
    const names = before.targets
      .filter((other) => formatIdentity(identityOf(other)) === place)
      .map(({ name }) => name);
    if (names.length === 0 || names.includes(target.name)) return [];
    const was = names.map(quoted).join(', ');
    return [
      { name: `the name of the target ${place}`, before: was, after: quoted(target.name), isLost: true },
    ];
  });
}

/** The target with the same name and, if that has another identity, also those with the same identity: a renamed target is not new. */
function formerTargets(target: Target, before: readonly Target[]): readonly Target[] {
  const identity = formatIdentity(identityOf(target));
  const isSamePlace = (other: Target) => formatIdentity(identityOf(other)) === identity;
  const named = before.find(({ name }) => name === target.name);
  if (named !== undefined && isSamePlace(named)) return [named];
  return [...(named === undefined ? [] : [named]), ...before.filter(isSamePlace)];
}

function stricterThanAll(before: readonly Target[], after: Target): StricterSetting<Target> {
  const loosened = new Map<string, LoosenedSetting>();
  let value = after;
  for (const was of before) {
    for (const setting of stricterTarget(was, after).loosened) loosened.set(JSON.stringify(setting), setting);
    value = stricterTarget(was, value).value;
  }
  return { value, loosened: [...loosened.values()] };
}

/** Settings of a target with two values: the stricter value, the looser one, and the default. */
const choices = {
  exclusive: [false, true, false],
  ownership: ['claim', 'ledger', 'claim'],
  deletes: ['safe', 'plain', 'safe'],
  readBeforeWrite: ['resource', 'page', 'page'],
} as const;

function isLoose(target: Target, name: keyof typeof choices): boolean {
  const [, loose, byDefault] = choices[name];
  return (target[name] ?? byDefault) === loose;
}

function stricterTarget(before: Target, after: Target): StricterSetting<Target> {
  const owns = narrower(before.owns, after.owns);
  const { owns: _, ...rest } = after;
  const setting = (name: string) => `${name} of the target ${quoted(after.name)}`;
  const loosened = (Object.keys(choices) as (keyof typeof choices)[]).filter(
    (name) => isLoose(after, name) && !isLoose(before, name),
  );
  return {
    value: {
      ...rest,
      ...(owns === undefined ? {} : { owns }),
      ...Object.fromEntries(loosened.map((name) => [name, choices[name][0]])),
    },
    loosened: [
      ...widened(setting('owns'), before.owns, after.owns),
      ...loosened.map((name) => ({
        name: setting(name),
        before: String(choices[name][0]),
        after: String(choices[name][1]),
      })),
    ],
  };
}

// Lists of patterns: which names and files they admit. Without a list everything is admitted.

type Patterns = readonly string[] | undefined;

/** Patterns that admit only what both lists admit; where two overlap and neither covers the other, neither counts. */
function narrower(one: Patterns, other: Patterns, covers = coversName): Patterns {
  if (one === undefined || other === undefined) return one ?? other;
  const within = (some: readonly string[], all: readonly string[]) =>
    some.filter((pattern) => all.some((wider) => covers(wider, pattern)));
  return [...new Set([...within(other, one), ...within(one, other)])];
}

function widened(name: string, before: Patterns, after: Patterns, covers = coversName): LoosenedSetting[] {
  if (before === undefined) return [];
  const isWithin = after?.every((pattern) => before.some((wider) => covers(wider, pattern))) ?? false;
  return isWithin ? [] : [loosenedList(name, { before: elementsOf(before), after: elementsOf(after) })];
}

/** Whether each name that the second pattern matches is matched by the first one, in which a star also matches stars. */
function coversName(wider: string, pattern: string): boolean {
  return matchesPattern(pattern, wider);
}

/** Globs are only compared for equality, because one may cover another in many ways. */
function coversFile(wider: string, pattern: string): boolean {
  return wider === pattern;
}

function stricterSecrets(
  before: SecretPlaces | undefined,
  after: SecretPlaces | undefined,
): StricterSetting<SecretPlaces | undefined> {
  if (before === undefined) return { value: after, loosened: [] };
  const env = narrower(before.env, after?.env) ?? [];
  const files = narrower(before.files, after?.files, coversFile) ?? [];
  return {
    value: { env, files },
    loosened: [
      ...widened('spec.secrets.env', before.env, after?.env),
      ...widened('spec.secrets.files', before.files, after?.files, coversFile),
    ],
  };
}
