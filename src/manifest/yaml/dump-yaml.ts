/**
 * Writes values as YAML in which characters that change the direction of text, and so show something else than is written, stand as
 * escapes: the library writes them in clear.
 */
import { dump } from 'js-yaml';
import { isJsonObject, type Json } from '../../model/json/json.ts';

type DumpOptions = Parameters<typeof dump>[1];

/** Whether a text has a character that changes the direction of what follows. */
export function changesDirection(text: string): boolean {
  return /\p{Bidi_Control}/u.test(text);
}

/** JSON, in which what no reader shows is escaped, too. */
export function doubleQuoted(value: string): string {
  return JSON.stringify(value).replace(
    /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]|\p{Bidi_Control}/gu,
    (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** As the library writes it, but for texts and keys that change the direction. */
export function dumpYaml(value: Json, options: DumpOptions): string {
  const written = JSON.stringify(value);
  if (!changesDirection(written)) return dump(value, options);
  // A plain word is written in the place of each, one that occurs nowhere else.
  let mark = 'text';
  while (written.includes(mark)) mark += 'x';
  const texts: string[] = [];
  const marked = withTexts(value, (text) =>
    changesDirection(text) ? `${mark}${texts.push(text)}end` : text,
  );
  return dump(marked, options).replace(new RegExp(`${mark}(\\d+)end`, 'g'), (_, number: string) =>
    doubleQuoted(texts[Number(number) - 1] ?? ''),
  );
}

function withTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item: Json) => withTexts(item, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [change(key), withTexts(member, change)]),
  );
}
