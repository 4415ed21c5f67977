/**
 * The stricter of two versions of a stack, setting by setting. What a pull request loosens does not count for its own plan: the plan
 * is made with the stricter settings, and the guard `loosened` names the others. Pure.
 */
import { approvalMethods, type ApprovalRules, type Approver } from '../model/approval.ts';
import { type Guard, guardDefaults, type GuardId, guardIds, guardLimits } from '../model/guard.ts';
import { canonicalText, type Json } from '../model/json.ts';
import { type LintCode, lintCodeNames } from '../model/lint-codes.ts';
import { matchesPattern } from '../model/name-pattern.ts';
import { counted, quoted } from '../model/quoted.ts';
import {
  formatIdentity,
  type Guards,
  identityOf,
  type Lint,
  type SecretPlaces,
  type Stack,
  type Target,
} from '../model/stack.ts';

/** A setting that is looser than before. */
export interface LoosenedSetting {
  /** as its path in the stack file: `spec.guards.maxDeletes` */
  readonly name: string;
  /** the value that holds, as YAML on one line, or a word */
  readonly before: string;
  readonly after: string;
}

interface Stricter {
  /** the stack `after` with the stricter of both settings: never looser than either */
  readonly stack: Stack;
  /** what `after` has looser than `before` */
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
  const { lint: _, secrets: __, approvals: ___, ...rest } = after;
  return {
    stack: {
      ...rest,
      targets: targets.map(({ value }) => value),
      guards: guards.value,
      ...(lint.value === undefined ? {} : { lint: lint.value }),
      ...(secrets.value === undefined ? {} : { secrets: secrets.value }),
      ...(approvals.value === undefined ? {} : { approvals: approvals.value }),
    },
    loosened: [guards, lint, secrets, approvals, ...targets].flatMap(({ loosened }) => loosened),
  };
}

/** The guard of a plan whose stack has loosened settings; nothing switches it off. */
export function loosenedGuard(
  loosened: readonly LoosenedSetting[],
): (Omit<Guard, 'effect'> & { always: true })[] {
  if (loosened.length === 0) return [];
  const each = loosened.map(({ name, before, after }) => `${name} from ${before} to ${after}`);
  const message = `${counted(loosened.length, 'setting')} of the stack ${loosened.length === 1 ? 'is' : 'are'} loosened, and the stricter ${loosened.length === 1 ? 'value holds' : 'values hold'} for this plan: ${each.join('; ')}`;
  return [{ id: 'loosened', counted: loosened.length, message, concerns: [], always: true }];
}

/** One part of a stack: the stricter value, and what was loosened. */
interface Part<T> {
  readonly value: T;
  readonly loosened: readonly LoosenedSetting[];
}

// Guards and lint: limits, and the level of each guard and code.

function stricterGuards(before: Guards, after: Guards): Part<Guards> {
  const limits = (Object.keys(guardLimits) as (keyof typeof guardLimits)[]).map((name) => {
    const [was, is] = [before[name] ?? guardLimits[name], after[name] ?? guardLimits[name]];
    return { name, was, is, isSet: before[name] !== undefined || after[name] !== undefined };
  });
  const levels = stricterLevels(guardIds as readonly GuardId[], [before, after], {
    name: (id) => `spec.guards, the level of ${quoted(id)},`,
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

function stricterLint(before: Lint | undefined, after: Lint | undefined): Part<Lint | undefined> {
  const { value, loosened } = stricterLevels(
    lintCodeNames as readonly LintCode[],
    [before ?? {}, after ?? {}],
    {
      name: (code) => `spec.lint, the level of ${quoted(code)},`,
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
  /** then `raise` says nothing more than its default */
  blocksByDefault(id: Id): boolean;
  /** of allowed, default, raised */
  readonly words: readonly [string, string, string];
}

/** `allow` is looser than the default of an id, and `raise` is stricter. */
function stricterLevels<Id extends string>(
  ids: readonly Id[],
  [before, after]: readonly [Levels<Id>, Levels<Id>],
  { name, blocksByDefault, words }: LevelWords<Id>,
): Part<Levels<Id>> {
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

// Targets: whose resources a plan may remove, and how.

/** The one of its name, and where that is another place also those of its place: a new name does not make a new target. */
function formerTargets(target: Target, before: readonly Target[]): readonly Target[] {
  const identity = formatIdentity(identityOf(target));
  const isSamePlace = (other: Target) => formatIdentity(identityOf(other)) === identity;
  const named = before.find(({ name }) => name === target.name);
  if (named !== undefined && isSamePlace(named)) return [named];
  return [...(named === undefined ? [] : [named]), ...before.filter(isSamePlace)];
}

function stricterThanAll(before: readonly Target[], after: Target): Part<Target> {
  const loosened = new Map<string, LoosenedSetting>();
  let value = after;
  for (const was of before) {
    for (const setting of stricterTarget(was, after).loosened) loosened.set(setting.name, setting);
    value = stricterTarget(was, value).value;
  }
  return { value, loosened: [...loosened.values()] };
}

function stricterTarget(before: Target, after: Target): Part<Target> {
  const owns = narrower(before.owns, after.owns);
  const { owns: _, exclusive, ownership, deletes, ...rest } = after;
  const isExclusive = exclusive === true && before.exclusive === true;
  const isClaimed = (before.ownership ?? 'claim') === 'claim' || (ownership ?? 'claim') === 'claim';
  const isSafe = (before.deletes ?? 'safe') === 'safe' || (deletes ?? 'safe') === 'safe';
  const setting = (name: string) => `${name} of the target ${quoted(after.name)}`;
  return {
    value: {
      ...rest,
      ...(owns === undefined ? {} : { owns }),
      ...(exclusive === undefined ? {} : { exclusive: isExclusive }),
      ...(ownership === undefined ? {} : { ownership: isClaimed ? 'claim' : 'ledger' }),
      ...(deletes === undefined ? {} : { deletes: isSafe ? 'safe' : 'plain' }),
    },
    loosened: [
      ...widened(setting('owns'), before.owns, after.owns),
      ...(exclusive === true && before.exclusive !== true
        ? [{ name: setting('exclusive'), before: 'false', after: 'true' }]
        : []),
      ...(ownership === 'ledger' && isClaimed
        ? [{ name: setting('ownership'), before: 'claim', after: 'ledger' }]
        : []),
      ...(deletes === 'plain' && isSafe
        ? [{ name: setting('deletes'), before: 'safe', after: 'plain' }]
        : []),
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
  return isWithin ? [] : [{ name, before: shown(before), after: shown(after) }];
}

/** Whether each name that the second pattern matches is matched by the first one, in which a star also matches stars. */
function coversName(wider: string, pattern: string): boolean {
  return matchesPattern(pattern, wider);
}

/** Of globs only equal ones are compared: one may cover another in many ways. */
function coversFile(wider: string, pattern: string): boolean {
  return wider === pattern;
}

function stricterSecrets(
  before: SecretPlaces | undefined,
  after: SecretPlaces | undefined,
): Part<SecretPlaces | undefined> {
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

// Approvals: who may approve, how, and how many.

type Accepted = NonNullable<ApprovalRules['accept']>;

/** An empty `accept` of the result means that no method is accepted by both. */
function stricterApprovals(
  before: ApprovalRules | undefined,
  after: ApprovalRules | undefined,
): Part<ApprovalRules | undefined> {
  if (before === undefined && after === undefined) return { value: undefined, loosened: [] };
  const [was, is] = [before ?? {}, after ?? {}];
  const people = stricterPeople(was.from, is.from);
  const [accepted, acceptedNow] = [acceptedBy(was), acceptedBy(is)];
  const both = acceptedByBoth(accepted, acceptedNow);
  const accept = people.isNobody
    ? both.filter((method) => method === 'signature' || method === 'none')
    : both;
  const [count, countNow] = [was.count ?? 1, is.count ?? 1];
  const flags = (['selfApprove', 'selfAck'] as const).map((name) => ({
    name,
    was: was[name] ?? false,
    is: is[name] ?? false,
  }));
  const isWider = !accepted.includes('none') && acceptedNow.some((method) => !accepted.includes(method));
  const from = 'spec.approvals';
  return {
    value: {
      accept,
      count: Math.max(count, countNow),
      ...(people.from.length === 0 ? {} : { from: people.from }),
      ...Object.fromEntries(flags.map(({ name, was, is }) => [name, was && is])),
    },
    loosened: [
      ...(isWider ? [{ name: `${from}.accept`, before: shown(accepted), after: shown(acceptedNow) }] : []),
      ...(countNow < count ? [{ name: `${from}.count`, before: `${count}`, after: `${countNow}` }] : []),
      ...(people.isWider ? [{ name: `${from}.from`, before: shown(was.from), after: shown(is.from) }] : []),
      ...flags
        .filter(({ was, is }) => is && !was)
        .map(({ name }) => ({ name: `${from}.${name}`, before: 'false', after: 'true' })),
    ],
  };
}

function acceptedBy({ accept }: ApprovalRules): Accepted {
  if (accept === undefined) return approvalMethods;
  return accept.includes('none') ? ['none'] : accept;
}

/** Where one of them needs no approval, the other one holds. */
function acceptedByBoth(one: Accepted, other: Accepted): Accepted {
  if (one.includes('none')) return other;
  if (other.includes('none')) return one;
  return one.filter((method) => other.includes(method));
}

interface People {
  readonly from: readonly Approver[];
  /** both name people of the code host, and none of them in common: only signatures are left */
  readonly isNobody: boolean;
  readonly isWider: boolean;
}

/** Without people, everybody with write permission may approve in the code host; without signers, nobody may sign. */
function stricterPeople(
  before: readonly Approver[] | undefined = [],
  after: readonly Approver[] | undefined = [],
): People {
  const [was, is] = [splitApprovers(before), splitApprovers(after)];
  const signers = common(was.signers, is.signers);
  const isFree = was.people.length === 0 || is.people.length === 0;
  const people = isFree ? [...was.people, ...is.people] : common(was.people, is.people);
  const hasMorePeople =
    was.people.length > 0 &&
    (is.people.length === 0 || common(is.people, was.people).length < is.people.length);
  return {
    from: [...signers, ...people],
    isNobody: !isFree && people.length === 0,
    isWider: hasMorePeople || signers.length < is.signers.length,
  };
}

interface SplitApprovers {
  readonly signers: readonly Approver[];
  readonly people: readonly Approver[];
}

function splitApprovers(all: readonly Approver[]): SplitApprovers {
  return {
    signers: all.filter((one) => 'signers' in one),
    people: all.filter((one) => !('signers' in one)),
  };
}

function common(one: readonly Approver[], other: readonly Approver[]): readonly Approver[] {
  const known = new Set(other.map((each) => canonicalText({ ...each })));
  return one.filter((each) => known.has(canonicalText({ ...each })));
}

function shown(value: readonly (string | Approver)[] | undefined): string {
  if (value === undefined) return 'no limit';
  return JSON.stringify(value as Json);
}
