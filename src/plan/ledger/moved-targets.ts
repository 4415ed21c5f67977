/**
 * Targets that are another place than when the ledger's records of them were made: the same word, another organization,
 * mount or address. What is recorded of the one proves nothing about the other (rule 37).
 */
import { parseAddress } from '../../model/resource/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Ledger } from '../../model/stack/ledger.ts';
import type { Target } from '../../model/stack/target.ts';
import { formatIdentity, type IdentityText, identityOf } from '../../model/stack/target-identity.ts';

export interface MovedTarget {
  readonly target: Target;
  /** undefined: the ledger has records of it, and nobody kept of which place */
  readonly was: IdentityText | undefined;
  readonly is: IdentityText;
}

/** Only those that the ledger has records of: what was never applied has moved nowhere. */
export function movedTargets({ targets, records }: Ledger, all: readonly Target[]): MovedTarget[] {
  const recorded = new Set([...records.keys()].map((text) => parseAddress(text).target));
  return all.flatMap((target) => {
    const was = targets?.get(target.name);
    const is = formatIdentity(identityOf(target));
    return targets === undefined || was === is || !recorded.has(target.name) ? [] : [{ target, was, is }];
  });
}

/** For records of a target that the stack did not have when its ledger learned of places. */
export const unknownPlace = 'a place that nobody kept';

export const movedCode = 'target-moved';

/** The one finding about a moved target: nothing of it is looked at, and nothing can be applied. */
export function movedProblem({ target, was, is }: MovedTarget): Diagnostic {
  const why =
    was === undefined
      ? `nobody kept which place the ledger's records of target "${target.name}" are of, so they prove nothing`
      : `target "${target.name}" is another place than the one that this stack was applied to, so nothing that the ledger knows of it proves anything`;
  return conflictOf({ target, was, is }, why);
}

/** By target, of some that were read: what their records lead to in another place, in clauses. */
export type Displaced = ReadonlyMap<string, readonly string[]>;

/**
 * The findings that only a look can make: records that lead to another place are not of the target that is there now,
 * whatever the ledger says. One that kept no places is doubted whole then: what else it knows may be of anywhere too.
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

/** All targets that the ledger has records of, as if it had never known where any of them is. */
export function ofUnknownPlace(ledger: Ledger, all: readonly Target[]): MovedTarget[] {
  return movedTargets({ ...ledger, targets: new Map() }, all);
}

function displacedProblem(target: Target, found: readonly string[]): Diagnostic {
  const more = found.length > shownAtMost ? [`${found.length - shownAtMost} more`] : [];
  const where = [...found.slice(0, shownAtMost), ...more].join('; ');
  return conflictOf(
    { target, was: undefined, is: formatIdentity(identityOf(target)) },
    `target "${target.name}" seems to be another place than the ledger's records are of: ${where}`,
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

/** What the ledger says of targets once today's stack is applied: those that the stack has left keep what they were. */
export function identitiesAfter(
  { targets = new Map() }: Ledger,
  all: readonly Target[],
): Ledger['targets'] & object {
  return new Map([...targets, ...identitiesOf(all)]);
}

/** By name, what each target is today. */
export function identitiesOf(all: readonly Target[]): ReadonlyMap<string, IdentityText> {
  return new Map(all.map((target) => [target.name, formatIdentity(identityOf(target))] as const));
}
