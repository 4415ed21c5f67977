/**
 * Masks addresses (URLs) in texts: user names, passwords and parameters are never shown.
 */

/** A word, or a quoted text that holds an address, which may have spaces; a quote in the middle of a word does not end it. */
const words = /(["'])(?:(?!\1)[^\n])*\/\/(?:(?!\1)[^\n])*\1(?![^\s:;,.?!)\]}])|\S+/g;

/** Everything after the path, up to the punctuation that closes the word. */
const parameters = /(\/\/[^?#]*[?#]).+?(["']?[:;,.?!)\]}]*)$/;

/** Replaces by `***` what stands before the last "@" of each address, and what follows its "?" or "#". */
export function maskAddresses(text: string): string {
  return text.replace(words, (word) => {
    const [start, end] = [word.indexOf('//'), word.lastIndexOf('@')];
    if (start === -1) return word;
    const shown = end < start ? word : `${word.slice(0, start)}//***${word.slice(end)}`;
    return shown.replace(parameters, '$1***$2');
  });
}
