/** What is nearest to a selector that matches nothing. */
import { type Address, formatAddress } from '../../model/address.ts';
import { editDistance } from '../../model/nearest-word.ts';

/** @param pattern an address or a pattern, or a name alone. @returns at most three addresses, the nearest first */
export function nearAddresses(pattern: string, addresses: readonly Address[]): string[] {
  const isName = !pattern.includes('/');
  return nearest(
    addresses.map((address) => ({
      shown: formatAddress(address),
      compared: isName ? address.name : formatAddress(address),
    })),
    pattern,
  );
}

/** @returns at most three of the texts, the nearest first */
export function nearTexts(pattern: string, texts: Iterable<string>): string[] {
  return nearest(
    [...new Set(texts)].map((text) => ({ shown: text, compared: text })),
    pattern,
  );
}

interface Candidate {
  readonly shown: string;
  readonly compared: string;
}

const most = 3;

/** A candidate is too far away when more than a third of its letters differ. Of a pattern, its longest end is compared. */
function nearest(candidates: readonly Candidate[], pattern: string): string[] {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.at(-1) ?? '';
  const isTail = rest.length > 0 && tail.length > head.length;
  const wanted = isTail ? tail : head;
  const partOf = (text: string) => {
    if (rest.length === 0) return text;
    return isTail ? text.slice(-wanted.length) : text.slice(0, wanted.length);
  };
  const limit = Math.floor((wanted.length + 1) / 3);
  return candidates
    .map(({ shown, compared }) => ({
      shown,
      distance: editDistance(wanted.toLowerCase(), partOf(compared).toLowerCase()),
    }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance || (a.shown < b.shown ? -1 : 1))
    .slice(0, most)
    .map(({ shown }) => shown);
}
