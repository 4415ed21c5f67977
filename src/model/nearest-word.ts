/**
 * "Did you mean": finds the word of a list that is nearest to a misspelt word. Letter case, `-` and `_` do not count, so an
 * API's spelling of a name is always nearest to ours. A word is too far away when more than a third of its letters differ.
 */

/**
 * @param candidates in order of preference: the first of equally near ones wins
 * @returns the nearest candidate; undefined when none is near, or when the word itself is a candidate
 */
export function nearestWord(word: string, candidates: Iterable<string>): string | undefined {
  return nearestWords(word, candidates, 1)[0];
}

/** The nearest candidates, the nearest first. @returns empty when none is near, or when the word itself is a candidate */
export function nearestWords(word: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = plain(word);
  const near: { readonly word: string; readonly distance: number }[] = [];
  for (const candidate of candidates) {
    if (candidate === word) return [];
    const other = plain(candidate);
    const limit = Math.floor((Math.max(wanted.length, candidate.length) + 1) / 3);
    // Saves time: most of thousands of names differ too much in their length alone.
    if (Math.abs(wanted.length - other.length) > limit) continue;
    const distance = editDistance(wanted, other);
    if (distance <= limit) near.push({ word: candidate, distance });
  }
  // Equally near words keep their order.
  return near
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, most)
    .map((one) => one.word);
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[-_]/g, '');
}

/** Damerau-Levenshtein (optimal string alignment): insert, remove, replace, or swap two neighbours, each counts 1. */
export function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      let least = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) least = Math.min(least, at(beforeLast, column - 2) + 1);
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, other.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
