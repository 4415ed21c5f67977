/** Helpers for lists that are mostly empty: thousands of unchanged resources share one empty list. */

export const none: readonly never[] = [];

/** The items of all lists, in order. */
export function joined<T>(...lists: readonly (readonly T[] | undefined)[]): readonly T[] {
  const filled = lists.filter((list) => list !== undefined && list.length > 0);
  return filled.length < 2 ? (filled[0] ?? none) : filled.flatMap((list) => list ?? none);
}
