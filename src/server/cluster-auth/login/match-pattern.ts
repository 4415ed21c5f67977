/** Whether a name is among those that a role admits: entries are names, with `*` for any text (wire/cluster-auth 1.8). */

/** Whether one of the patterns fits. `*` is the only wildcard, case counts, and an empty list admits nobody. */
export function matchesPattern(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => fits(pattern.split('*'), name));
}

/** Piece by piece, leftmost first: never more than one look at each letter for each piece, however many stars there are. */
function fits(pieces: readonly string[], name: string): boolean {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
