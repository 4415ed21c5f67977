/**
 * Name patterns as the services match them: `*` stands for any run of characters, also none, and nothing else is
 * special (rule 24). Never a regular expression, so no pattern can be slow or mean more than it says.
 */

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
 * Whether there is a text that both match. Case does not count: names that are kept in lower case are what this is asked
 * about, and two patterns that differ in case alone mean the same of them.
 */
export function patternsOverlap(one: string, other: string): boolean {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  if (!a.includes('*')) return matchesPattern(a, b);
  if (!b.includes('*')) return matchesPattern(b, a);
  // A star takes in whatever stands between the ends, so that only these can keep two patterns apart.
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
