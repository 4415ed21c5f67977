/**
 * Masks addresses (URLs) in texts: user names, passwords and parameters are never shown.
 */
import type { TextRange } from './redaction/secret-search.ts';

/** A word, or a quoted text that holds an address, which may have spaces; a quote in the middle of a word does not end it. */
const words = /(["'])(?:(?!\1)[^\n])*\/\/(?:(?!\1)[^\n])*\1(?![^\s:;,.?!)\]}])|\S+/g;

/** Everything after the path, up to the punctuation that closes the word. */
const parameters = /(\/\/[^?#]*[?#]).+?(["']?[:;,.?!)\]}]*)$/;

/** Replaces by `***` what stands before the last "@" of each address, and what follows its "?" or "#". */
export function maskAddresses(text: string): string {
  let shown = '';
  let at = 0;
  for (const { start, end } of partsOfAddresses(text)) {
    shown += `${text.slice(at, start)}***`;
    at = end;
  }
  return shown + text.slice(at);
}

/** What `maskAddresses` hides, in the order of the text. */
export function partsOfAddresses(text: string): TextRange[] {
  return [...text.matchAll(words)].flatMap(({ 0: word, index }) =>
    partsOfWord(word).map(({ start, end }) => ({ start: index + start, end: index + end })),
  );
}

function partsOfWord(word: string): TextRange[] {
  const [start, at] = [word.indexOf('//'), word.lastIndexOf('@')];
  if (start === -1) return [];
  const user = at < start ? [] : [{ start: start + 2, end: at }];
  // The user's part may hold a "?", which begins no parameters.
  const shown = user.length === 0 ? word : `${word.slice(0, start)}//***${word.slice(at)}`;
  const found = parameters.exec(shown);
  if (found === null) return user;
  const { 1: before = '', 2: after = '', index } = found;
  const longer = word.length - shown.length;
  return [...user, { start: index + before.length + longer, end: word.length - after.length }];
}
