/**
 * Compares a stack with that of the base branch. An untrusted author must not change where its secrets go or come from. Settings that a
 * pull request loosens do not count for the plan of the same pull request. Pure.
 */
import { canonicalText, type Json, sameJson } from '../../model/json.ts';
import type { SecretSource, Stack, Target } from '../../model/stack.ts';
import { quoted } from '../../model/quoted.ts';
import { matchesPattern } from '../../model/name-pattern.ts';
import type { LoosenedSetting } from '../../model/guard.ts';
import { stricterOf } from '../../plan/loosened.ts';
import type { AdjustedStack } from '../load-manifests.ts';
import { type LoosenedPolicies, withPolicySources } from './loosened-policies.ts';

/** Where a target is, and what is sent to it. */
const placeMembers = [
  'service',
  'url',
  'dialect',
  'organization',
  'mount',
  'namespace',
  'caCert',
  'token',
  'auditToken',
] as const satisfies readonly (keyof Target)[];

/** Where else a stack stores or reads something. */
const stackPlaces = { ledger: 'spec.ledger', audit: 'spec.audit', embedded: 'spec.embedded' } as const;

/** The settings, by their names for people, that decide where secrets go and that differ from the base branch. */
export function changedPlaces(base: Stack, head: Stack): string[] {
  const ofTargets = head.targets.flatMap((target) => {
    const was = base.targets.find(({ name }) => name === target.name);
    if (was === undefined) return [nameOf(target)];
    return placeMembers
      .filter((member) => !isSame(was[member], target[member]))
      .map((member) => `${member} of ${nameOf(target)}`);
  });
  const ofStack = (Object.keys(stackPlaces) as (keyof typeof stackPlaces)[])
    .filter((member) => !isSame(base[member], head[member]))
    .map((member) => stackPlaces[member]);
  return [...ofTargets, ...ofStack];
}

/**
 * What decides where the secrets of a stack go, by the name of each target and setting for people. Two stacks with the same text for a name
 * send the same secrets to the same place, as far as the stack file says.
 */
export function secretPlaces(stack: Stack): ReadonlyMap<string, string> {
  const textOf = (values: readonly (object | string | undefined)[]) =>
    canonicalText(values.map((value) => (value ?? null) as Json));
  return new Map([
    ...stack.targets.map(
      (target) => [nameOf(target), textOf(placeMembers.map((member) => target[member]))] as const,
    ),
    ...(Object.keys(stackPlaces) as (keyof typeof stackPlaces)[]).map(
      (member) => [stackPlaces[member], textOf([stack[member]])] as const,
    ),
  ]);
}

export function nameOf({ name }: Pick<Target, 'name'>): string {
  return `the target ${quoted(name)}`;
}

function isSame(one: object | string | undefined, other: object | string | undefined): boolean {
  return sameJson((one ?? null) as Json, (other ?? null) as Json);
}

/** Whether the base has each target of the head: only then the head's manifests can be planned with the base's targets. */
export function hasTargetsOf(base: Stack, head: Stack): boolean {
  const names = new Set(base.targets.map(({ name }) => name));
  return head.targets.every(({ name }) => names.has(name));
}

/** The head with the targets, the ledger and the archive of the base. */
function withPlacesOf(base: Stack, head: Stack): Stack {
  const { ledger: _, audit: __, embedded: ___, ...rest } = head;
  const { ledger, audit, embedded, targets } = base;
  return {
    ...rest,
    targets,
    ...(ledger === undefined ? {} : { ledger }),
    ...(audit === undefined ? {} : { audit }),
    ...(embedded === undefined ? {} : { embedded }),
  };
}

interface Baselines {
  /** the stack at the merge base, and at the newest commit of the base branch: the strictest settings hold */
  readonly stacks: readonly Stack[];
  /** the stack whose targets, ledger and archive are used; absent if the head may choose its own */
  readonly placesFrom?: Stack | undefined;
  /** reported for a base that cannot be compared */
  readonly unknown?: LoosenedSetting | undefined;
  /** loosened settings in files of signers that the stack names */
  readonly signers?: readonly LoosenedSetting[];
  /** loosened settings in files of policies, with the policies that these files had before */
  readonly policies?: LoosenedPolicies;
}

/** The strictest settings, which hold for the plan of a pull request. Only differences from the first stack are reported as loosened. */
export function adjustTo({
  stacks,
  placesFrom,
  unknown,
  signers = [],
  policies,
}: Baselines): (head: Stack) => AdjustedStack {
  return (head) => {
    const ofStack = stacks[0] === undefined ? [] : stricterOf(stacks[0], head).loosened;
    const loosened = [...ofStack, ...signers, ...(policies?.loosened ?? [])];
    const strictest = stacks.reduce((stack, base) => stricterOf(base, stack).stack, head);
    const strict = withPolicySources(strictest, policies?.sources ?? []);
    const stack =
      placesFrom === undefined ? strict : stricterOf(strict, withPlacesOf(placesFrom, strict)).stack;
    return { stack, loosened: unknown === undefined ? loosened : [withWhole(unknown, head), ...loosened] };
  };
}

/** An acknowledgement of an unknown setting covers only the settings that the head has, with the files that they name. */
function withWhole(unknown: LoosenedSetting, head: Stack): LoosenedSetting {
  const files = unknown.whole?.after ?? null;
  const { guards, lint, secrets, approvals, policies, targets } = head;
  const settings = { guards, lint, secrets, approvals, policies, targets, files };
  // As JSON it has no undefined members.
  const after = canonicalText(JSON.parse(JSON.stringify(settings)));
  return { ...unknown, whole: { before: unknown.before, after } };
}

/** The sources of secrets that manifests of the head name, and that neither manifests nor `spec.secrets` of the base name. */
export function newSources(
  base: {
    readonly stack: Pick<Stack, 'secrets'>;
    readonly sources: readonly SecretSource[];
  },
  head: readonly SecretSource[],
): SecretSource[] {
  const known = new Set(base.sources.map((source) => canonicalText({ ...source })));
  const admitted = base.stack.secrets;
  return head.filter((source) => {
    if (known.has(canonicalText({ ...source }))) return false;
    return !('env' in source && admitted?.env.some((pattern) => matchesPattern(source.env, pattern)));
  });
}
