/**
 * Checks that no two targets of a stack are the same place (rule 37): resources that are declared for one would be undeclared for
 * the other. Two targets may share a place only when both have `owns` and no name can match the patterns of both.
 */
import type { Path } from '../../model/json/json.ts';
import { patternsOverlap } from '../../model/kind/name-pattern.ts';
import type { Target } from '../../model/stack/target.ts';
import { formatIdentity, identityOf } from '../../model/stack/target-identity.ts';
import { quoted } from '../../model/quoted.ts';
import type { Problem } from '../explain/problem.ts';

/** @param targets as the stack lists them; undefined where one could not be read */
export function checkPlaces(targets: readonly (Target | undefined)[]): Problem[] {
  return targets.flatMap((again, at) => {
    if (again === undefined) return [];
    const problems = targets
      .slice(0, at)
      .map((first, index) => first && checkPair([first, index], [again, at]));
    return problems.find((problem) => problem !== undefined) ?? [];
  });
}

const identityText = (target: Target) => formatIdentity(identityOf(target));

type IndexedTarget = readonly [target: Target, index: number];

function checkPair([first, firstAt]: IndexedTarget, [again, at]: IndexedTarget): Problem | undefined {
  // Two targets with the same name are reported as duplicates.
  if (first.name === again.name || identityText(first) !== identityText(again)) return undefined;
  const base = ['spec', 'targets'];
  const where = identityText(first);
  const both = `targets ${quoted(first.name)} and ${quoted(again.name)} are one place: ${where}`;
  const problem = (path: Path, related: Path, texts: Pick<Problem, 'message' | 'fix'>): Problem => ({
    code: 'one-place',
    path: [...base, `${at}`, ...path],
    ...texts,
    related: [{ message: 'the other one', path: [...base, `${firstAt}`, ...related] }],
  });
  if (first.owns === undefined || again.owns === undefined)
    return problem(['name'], ['name'], { message: both, fix: fixFor(again) });
  const shared = firstOverlap(first.owns, again.owns);
  if (shared === undefined) return undefined;
  const [theirs, ours] = shared;
  const message = `${both}, and a name can match both ${quoted(first.owns[theirs] ?? '')} and ${quoted(again.owns[ours] ?? '')}`;
  const fix = 'narrow one of the two, so that each name is of one target';
  return problem(['owns', `${ours}`], ['owns', `${theirs}`], { message, fix });
}

function fixFor({ service }: Target): string {
  return service === 'workspaces'
    ? 'keep one of them, and name it in the manifests of both'
    : 'keep one of them, or give each an "owns" that no name of the other one matches';
}

/** Indexes of the first two patterns that one name can match. */
function firstOverlap(
  one: readonly string[],
  other: readonly string[],
): readonly [one: number, other: number] | undefined {
  const found = one.flatMap((pattern, index) => {
    const match = other.findIndex((candidate) => patternsOverlap(pattern, candidate));
    return match === -1 ? [] : [[index, match] as const];
  });
  return found[0];
}
