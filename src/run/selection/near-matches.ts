/** What is nearest to a selector that matches nothing. */
import { type Address, formatAddress } from '../../model/address.ts';
import { editDistance, nearestWords } from '../../model/nearest-word.ts';

/** @param pattern an address or a pattern, or a name alone. @returns at most three addresses, the nearest first */
export function nearAddresses(pattern: string, addresses: readonly Address[]): string[] {
  if (pattern.includes('/')) return nearTexts(pattern, addresses.map(formatAddress));
  const byName = Map.groupBy(addresses, ({ name }) => name);
  const same = byName.get(pattern) ?? [];
  const near =
    same.length > 0 ? same : nearTexts(pattern, byName.keys()).flatMap((name) => byName.get(name) ?? []);
  return near.slice(0, most).map(formatAddress);
}

/** @returns at most three of the texts, the nearest first */
export function nearTexts(pattern: string, texts: Iterable<string>): string[] {
  const all = new Set(texts);
  return pattern.includes('*') ? nearPattern(pattern, all) : nearestWords(pattern, all, most);
}

const most = 3;

/** Of a pattern, its longest end is compared. A text is too far away when more than a third of its letters differ. */
function nearPattern(pattern: string, texts: ReadonlySet<string>): string[] {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.at(-1) ?? '';
  const isTail = tail.length > head.length;
  const wanted = (isTail ? tail : head).toLowerCase();
  const endOf = (text: string) => (isTail ? text.slice(-wanted.length) : text.slice(0, wanted.length));
  const limit = Math.floor((wanted.length + 1) / 3);
  return [...texts]
    .map((text) => ({ text, distance: editDistance(wanted, endOf(text).toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || (a.text < b.text ? -1 : 1))
    .slice(0, most)
    .map(({ text }) => text);
}
