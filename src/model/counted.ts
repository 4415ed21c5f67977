/** Counts with their nouns, singular or plural. */

/** `1 file`, `3 files`, `2 directories`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
