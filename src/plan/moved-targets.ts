/**
 * Targets with another identity than when their records were made: the same name, but another organization, mount or
 * URL. The records of the former address prove nothing about the new one.
 */
import { type AddressText, formatAddress, parseAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Ledger, MovedAway } from '../model/ledger.ts';
import { formatIdentity, identityOf, type IdentityText, type Target } from '../model/stack.ts';
import { quoted } from '../model/quoted.ts';

export interface MovedTarget {
  readonly target: Target;
  /** undefined: the ledger has records of it, but not their address */
  readonly was: IdentityText | undefined;
  readonly is: IdentityText;
}

/** Only targets with records: a target that was never applied cannot have moved. */
export function movedTargets({ targets, records }: Ledger, all: readonly Target[]): MovedTarget[] {
  const recorded = new Set([...records.keys()].map((text) => parseAddress(text).target));
  return all.flatMap((target) => {
    const was = targets?.get(target.name);
    const is = formatIdentity(identityOf(target));
    return targets === undefined || was === is || !recorded.has(target.name) ? [] : [{ target, was, is }];
  });
}

/** For records of a target whose address was never stored. */
export const unknownPlace = 'an address that was not recorded';

export const movedCode = 'target-moved';

/** The only diagnostic about a moved target: it is not read, and nothing can be applied. */
export function movedProblem({ target, was, is }: MovedTarget): Diagnostic {
  const why =
    was === undefined
      ? `the ledger does not have the address of target ${quoted(target.name)} at its last apply, so its records prove nothing`
      : `the address of target ${quoted(target.name)} changed since the last apply, so the ledger's records of it prove nothing`;
  return conflictOf({ target, was, is }, why);
}

/** By target name: clauses about records whose ids were found at another address. */
export type Displaced = ReadonlyMap<string, readonly string[]>;

/**
 * Diagnostics that need live state: records whose ids were found at another address are not about the current target, even if the
 * ledger has its address. If the ledger has no addresses at all, such an id puts all its records in doubt.
 */
export function displacedProblems(
  ledger: Ledger,
  all: readonly Target[],
  displaced: Displaced,
): ReadonlyMap<string, Diagnostic> {
  if (displaced.size === 0) return new Map();
  const doubted = ledger.targets === undefined ? ofUnknownPlace(ledger, all) : [];
  const proved = all.flatMap((target) => {
    const found = displaced.get(target.name);
    return found === undefined ? [] : [[target.name, displacedProblem(target, found)] as const];
  });
  return new Map([...doubted.map((moved) => [moved.target.name, movedProblem(moved)] as const), ...proved]);
}

/** All targets with records, as moved from an unknown address. */
export function ofUnknownPlace(ledger: Ledger, all: readonly Target[]): MovedTarget[] {
  return movedTargets({ ...ledger, targets: new Map() }, all);
}

function displacedProblem(target: Target, found: readonly string[]): Diagnostic {
  const more = found.length > shownAtMost ? [`${found.length - shownAtMost} more`] : [];
  const where = [...found.slice(0, shownAtMost), ...more].join('; ');
  return conflictOf(
    { target, was: undefined, is: formatIdentity(identityOf(target)) },
    `the address of target ${quoted(target.name)} seems to have changed since the last apply: ${where}`,
  );
}

const shownAtMost = 3;

function conflictOf({ target, was, is }: MovedTarget, message: string): Diagnostic {
  return {
    code: movedCode,
    severity: 'error',
    class: 'conflict',
    message,
    found: is,
    allowed: was ?? unknownPlace,
    fix: `restore its address, declare the new address as a separate target, or carry over the records that the new address proves: trueup recover --moved ${target.name}`,
  };
}

/** The target identities for the ledger after an apply; targets that the stack no longer has keep theirs. */
export function identitiesAfter(
  { targets = new Map() }: Ledger,
  all: readonly Target[],
): Ledger['targets'] & object {
  return new Map([...targets, ...identitiesOf(all)]);
}

/** The current identity of each target, by name. */
export function identitiesOf(all: readonly Target[]): ReadonlyMap<string, IdentityText> {
  return new Map(all.map((target) => [target.name, formatIdentity(identityOf(target))] as const));
}

/**
 * The ledger with current names of targets in `movedAway`, the resources that other stacks took over. A target may have been renamed, and
 * of a role nothing else shows that another stack owns it.
 */
export function withPresentNames(ledger: Ledger, all: readonly Target[]): Ledger {
  const { movedAway, targets } = ledger;
  if (movedAway === undefined || targets === undefined) return ledger;
  const present = new Map([...identitiesOf(all)].map(([name, identity]) => [identity, name] as const));
  const nameNow = (name: string) => {
    const was = targets.get(name);
    if (was === undefined || identitiesOf(all).get(name) === was) return name;
    return present.get(was) ?? name;
  };
  const renamed = [...movedAway].map(([text, away]): [AddressText, MovedAway] => {
    const address = parseAddress(text);
    return [formatAddress({ ...address, target: nameNow(address.target) }), away];
  });
  return {
    ...ledger,
    movedAway: new Map(renamed.toSorted(([, one], [, other]) => (one.at < other.at ? -1 : 1))),
  };
}
