/**
 * Addresses in what people and programs say: nobody is told who an address says one is, with which password, or what stands
 * among its parameters.
 */

/** A word, or all within quotes, where an address may have spaces; a quote in the middle of a word ends nothing. */
const words = /(["'])(?:(?!\1)[^\n])*\/\/(?:(?!\1)[^\n])*\1(?![^\s:;,.?!)\]}])|\S+/g;

/** Behind the path, up to what closes the word. */
const parameters = /(\/\/[^?#]*[?#]).+?(["']?[:;,.?!)\]}]*)$/;

/** The text, with `***` in place of all before the last "@" of each address, and of all behind its "?" or "#". */
export function maskAddresses(text: string): string {
  return text.replace(words, (word) => {
    const [start, end] = [word.indexOf('//'), word.lastIndexOf('@')];
    if (start === -1) return word;
    const shown = end < start ? word : `${word.slice(0, start)}//***${word.slice(end)}`;
    return shown.replace(parameters, '$1***$2');
  });
}
