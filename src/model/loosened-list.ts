/** A loosened setting that is a list: what people see of it, and its whole values, which an acknowledgement covers. */
import type { LoosenedSetting } from './guard.ts';
import { quoted } from './quoted.ts';

export interface ListElement {
  /** two elements are equal if these texts are */
  readonly whole: string;
  /** for people, with the most important part first, because a long text is cut */
  readonly shown: string;
}

interface ListSides {
  /** undefined if the setting is absent */
  readonly before: readonly ListElement[] | undefined;
  readonly after: readonly ListElement[] | undefined;
}

/** A longer list is shown as its number of elements. All sizes are in characters, except `maxNamed`. */
const maxList = 300;
const maxElement = 300;
/** the number of elements that are named as added, and as removed */
const maxNamed = 20;

/** @param absent what people see of an absent list */
export function loosenedList(
  name: string,
  { before, after }: ListSides,
  absent: Readonly<Record<'before' | 'after', string>> = { before: 'no limit', after: 'no limit' },
): LoosenedSetting {
  const [was, is] = [before ?? [], after ?? []];
  const [added, removed] = [lackingIn(was, is), lackingIn(is, was)];
  const sides = [listText(before, absent.before), listText(after, absent.after)] as const;
  const changes = after === undefined || (was.length === 0 && isWhole(is)) ? [] : [added, removed];
  const [more, less] = changes.map(namesText);
  const named = [...(more ? [`${more} added`] : []), ...(less ? [`${less} removed`] : [])].join(' and ');
  const isCut = !isWhole(was) || !isWhole(is);
  return {
    name,
    before: sides[0],
    after: `${sides[1]}${named === '' ? '' : `, with ${named}`}${isCut ? ` (an acknowledgement covers all elements)` : ''}`,
    whole: { before: wholeText(before), after: wholeText(after) },
  };
}

/** The elements of `list` that `other` lacks. */
function lackingIn(other: readonly ListElement[], list: readonly ListElement[]): readonly ListElement[] {
  const known = new Set(other.map(({ whole }) => whole));
  return list.filter(({ whole }) => !known.has(whole));
}

/** The order of a list, and elements that are in it twice, mean nothing. */
function wholeText(list: readonly ListElement[] | undefined): string {
  return list === undefined ? 'absent' : JSON.stringify([...new Set(list.map(({ whole }) => whole))].sort());
}

function isWhole(list: readonly ListElement[]): boolean {
  return list.reduce((sum, { shown }) => sum + shown.length + 2, 0) <= maxList;
}

function listText(list: readonly ListElement[] | undefined, absent: string): string {
  if (list === undefined) return absent;
  return isWhole(list) ? `[${list.map(({ shown }) => shown).join(', ')}]` : `a list of ${list.length}`;
}

function namesText(list: readonly ListElement[]): string {
  const names = list.slice(0, maxNamed).map(({ shown }) => cutText(shown));
  const more = list.length - names.length;
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** In quotes of its own if it is cut, because the rest may have the end of a quoted value. */
function cutText(text: string): string {
  const more = text.length - maxElement;
  return more > 0 ? `${quoted(`${text.slice(0, maxElement)}…`)} (and ${more} more characters)` : text;
}
