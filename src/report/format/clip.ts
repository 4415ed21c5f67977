/** Shortens a text or a list for reports of limited size, and says so. */
import { printable } from './printable.ts';

/** The printable text, or its beginning. Only as much is made printable: a text may be very long. */
export function clip(text: string, max: number): string {
  const shown = printable(beginning(text, max));
  if (text.length <= max && shown.length <= max) return shown;
  return `${beginning(shown, max)}… (cut, ${text.length} characters in all)`;
}

/** Does not end with the half of a surrogate pair, which is no character. */
function beginning(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '');
}

/** The first few lines, and how many more there are. */
export function firstFew(lines: readonly string[], few = 3): string[] {
  const more = lines.length - few;
  return more <= 1 ? [...lines] : [...lines.slice(0, few), `and ${more} more`];
}
