/** Which names of a target belong to the stack: the same rule for reading, judging and removing resources (rule 24). */
import type { NameRule } from '../kind/kind.ts';
import { matchesPattern } from '../kind/name-pattern.ts';
import type { Target } from '../stack/target.ts';

/** Whether `owns` of the target admits the name, both folded as the service folds names. Without `owns` every name is admitted. */
export function ownsName(
  { owns }: Pick<Target, 'owns'>,
  name: string,
  names: Pick<NameRule, 'fold'>,
): boolean {
  const fold = (text: string) => names.fold?.(text) ?? text;
  return owns?.some((pattern) => matchesPattern(fold(name), fold(pattern))) ?? true;
}
