/**
 * Name patterns as the services match them, and which names of a target belong to a stack. `*` matches any characters, and
 * nothing else is special; a pattern is never a regular expression.
 */
import type { NameRule } from './kind.ts';
import type { Target } from './stack.ts';

/** Whether `name` as a whole matches `pattern`. Case counts. */
export function matchesPattern(name: string, pattern: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return name === head;
  const tail = rest.pop() ?? '';
  if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let at = head.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

/**
 * Whether some text matches both patterns. Case does not count: this is about names that the service stores in lower case,
 * for which patterns that differ only in case mean the same.
 */
export function patternsOverlap(one: string, other: string): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  if (!a.includes('*')) return matchesPattern(a, b);
  if (!b.includes('*')) return matchesPattern(b, a);
  // A star matches anything between the ends, so only the ends can make two patterns disjoint.
  const [headA, headB] = [headOf(a), headOf(b)];
  const [tailA, tailB] = [tailOf(a), tailOf(b)];
  const headsAgree = headA.startsWith(headB) || headB.startsWith(headA);
  return headsAgree && (tailA.endsWith(tailB) || tailB.endsWith(tailA));
}

function headOf(pattern: string): string {
  return pattern.slice(0, pattern.indexOf('*'));
}

function tailOf(pattern: string): string {
  return pattern.slice(pattern.lastIndexOf('*') + 1);
}

/**
 * Whether a name of a target belongs to the stack. It does if it matches a pattern of `owns`, when both are folded as the service
 * folds names. Without `owns` every name belongs to it. The same rule applies to reading, planning and removing.
 */
export function ownsName(
  { owns }: Pick<Target, 'owns'>,
  name: string,
  names: Pick<NameRule, 'fold'>,
): boolean {
  const fold = (text: string) => names.fold?.(text) ?? text;
  return owns?.some((pattern) => matchesPattern(fold(name), fold(pattern))) ?? true;
}
