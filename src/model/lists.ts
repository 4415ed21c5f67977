/** Lists that are mostly empty: thousands of unchanged resources share one. */

export const none: readonly never[] = [];

/** All items in order. */
export function joined<T>(...lists: readonly (readonly T[] | undefined)[]): readonly T[] {
  const filled = lists.filter((list) => list !== undefined && list.length > 0);
  return filled.length < 2 ? (filled[0] ?? none) : filled.flatMap((list) => list ?? none);
}
