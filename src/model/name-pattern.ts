/**
 * Name patterns as the services match them: `*` stands for any run of characters, also none, and nothing else is
 * special (RULES 24). Never a regular expression, so no pattern can be slow or mean more than it says.
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
