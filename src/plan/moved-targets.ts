/**
 * Targets with another identity than when their records were made: the same name, but another organization, mount or
 * address. The records of the former place prove nothing about the new one (rule 37).
 */
import { parseAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Ledger } from '../model/ledger.ts';
import { formatIdentity, identityOf, type IdentityText, type Target } from '../model/stack.ts';
import { quoted } from '../model/quoted.ts';

export interface MovedTarget {
  readonly target: Target;
  /** undefined: the ledger has records of it, but not their place */
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

/** For records of a target whose place was never stored. */
export const unknownPlace = 'a place that nobody kept';

export const movedCode = 'target-moved';

/** The only diagnostic about a moved target: it is not read, and nothing can be applied. */
export function movedProblem({ target, was, is }: MovedTarget): Diagnostic {
  const why =
    was === undefined
      ? `nobody kept which place the ledger's records of target ${quoted(target.name)} are of, so they prove nothing`
      : `target ${quoted(target.name)} is another place than the one that this stack was applied to, so nothing that the ledger knows of it proves anything`;
  return conflictOf({ target, was, is }, why);
}

/** By target name: clauses about records whose ids were found in another place. */
export type Displaced = ReadonlyMap<string, readonly string[]>;

/**
 * Diagnostics that need live state: records whose ids lead to another place are not of the current target, whatever the
 * ledger says. If the ledger stores no places, all its records are doubted then.
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

/** All targets with records, as moved from an unknown place. */
export function ofUnknownPlace(ledger: Ledger, all: readonly Target[]): MovedTarget[] {
  return movedTargets({ ...ledger, targets: new Map() }, all);
}

function displacedProblem(target: Target, found: readonly string[]): Diagnostic {
  const more = found.length > shownAtMost ? [`${found.length - shownAtMost} more`] : [];
  const where = [...found.slice(0, shownAtMost), ...more].join('; ');
  return conflictOf(
    { target, was: undefined, is: formatIdentity(identityOf(target)) },
    `target ${quoted(target.name)} seems to be another place than the ledger's records are of: ${where}`,
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
    fix: `point it back, give the new place a target of its own, or carry over what the new place proves: trueup recover --moved ${target.name}`,
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
