/** Counts with their nouns, singular or plural. */
import { quoted } from './quoted.ts';

/** `1 file`, `3 files`, `2 directories`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Quoted names for a message: `"a", "b" and 7 more`. */
export function quoteSome(names: readonly string[], most = 10): string {
  const more = names.length - most;
  const shown = names.slice(0, most).map(quoted);
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
