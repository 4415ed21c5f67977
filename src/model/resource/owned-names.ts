/** Which names of a target are the stack's: one answer for whoever reads, judges or removes resources (rule 24). */
import type { NameRule } from '../kind/kind.ts';
import { matchesPattern } from '../kind/name-pattern.ts';
import type { Target } from '../stack/target.ts';

/** Whether `owns` of the target admits the name, both as the service keeps names; where it says nothing, every name is. */
export function ownsName(
  { owns }: Pick<Target, 'owns'>,
  name: string,
  names: Pick<NameRule, 'fold'>,
): boolean {
  const fold = (text: string) => names.fold?.(text) ?? text;
  return owns?.some((pattern) => matchesPattern(fold(name), fold(pattern))) ?? true;
}
