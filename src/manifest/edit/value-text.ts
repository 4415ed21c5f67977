/** Values as YAML text, in the style of what stands around them. */
import { dump } from 'js-yaml';
import { isJsonObject, type Json } from '../../model/json/json.ts';
import type { Style } from './source-tree.ts';

interface Manner {
  /** of the value that is replaced, or of a neighbour */
  readonly style: Style | undefined;
  /** all keys and texts around it have double quotes, as in JSON */
  readonly json: boolean;
}

/** On one line. */
export function inlineText(value: Json, { style, json }: Manner): string {
  if (json) return JSON.stringify(value);
  if (typeof value !== 'string') return dumpInline(value);
  if (style === 'double' || /[\r\n]/.test(value)) return JSON.stringify(value);
  const plain = dumpInline(value);
  // Only what is printable can stand in single quotes; the library quotes the rest doubly.
  const isOdd = plain.startsWith('"');
  return style === 'single' && !isOdd ? `'${value.replaceAll("'", "''")}'` : plain;
}

/** The library's choice, inside of brackets: so it can stand everywhere on a line. */
function dumpInline(value: Json): string {
  const text = dump([value], { flowLevel: 0, lineWidth: -1, noRefs: true }).trimEnd();
  return text.slice(1, -1);
}

export function keyText(key: string, json: boolean): string {
  return json ? JSON.stringify(key) : inlineText(key, { style: undefined, json });
}

/** Whether it stands on lines of its own, where there is room for them. */
export function needsLines(value: Json): boolean {
  if (typeof value === 'string') return isTextBlock(value);
  // Empty lines at the end of a text inside would be lost at the end of the lines.
  if (/\\n\\n"/.test(JSON.stringify(value))) return false;
  return Array.isArray(value) ? value.length > 0 : isJsonObject(value) && Object.keys(value).length > 0;
}

/** Whether a text can be written as a block of lines; what is not printable needs escapes. */
function isTextBlock(value: string): boolean {
  return /[^\n]\n/.test(value) && !/[^\n\x20-\x7E\u00A0-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]/.test(value);
}

/** What stands behind the key, and the lines below it. @param indent spaces before each line */
export function blockText(value: Json, indent: number, step: number): { head: string; lines: string[] } {
  const pad = ' '.repeat(indent);
  if (typeof value === 'string') {
    const [lines, chomp] = withoutEnd(value);
    const indicator = /^[ \n]/.test(value) ? String(step) : '';
    return { head: `|${indicator}${chomp}`, lines: lines.map((line) => (line === '' ? '' : pad + line)) };
  }
  const written = dump(value, { indent: step, lineWidth: -1, noRefs: true }).trimEnd().split('\n');
  return { head: '', lines: written.map((line) => (line === '' ? '' : pad + line)) };
}

/** The lines of a text, and the indicator that gives back its end. */
function withoutEnd(value: string): [string[], '' | '-' | '+'] {
  const ends = /\n*$/.exec(value)?.[0].length ?? 0;
  const lines = value.split('\n');
  if (ends === 0) return [lines, '-'];
  return [lines.slice(0, -1), ends === 1 ? '' : '+'];
}
