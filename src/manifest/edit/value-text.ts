/**
 * Values as YAML text, in the style of the surrounding text. A block scalar keeps its indicator, its indentation and its unchanged
 * lines if possible.
 */
import { dump, load } from 'js-yaml';
import { isJsonObject, type Json } from '../../model/json.ts';
import { jsonLikeSchema } from '../yaml/parse-documents.ts';
import { changesDirection, doubleQuoted, dumpYaml } from '../yaml/write-manifests.ts';
import type { Style } from './source-tree.ts';

/** Spaces inside a collection; if it shows none, those inside its document. */
export interface Gaps {
  /** after the colon of a quoted key, between brackets */
  readonly colon: '' | ' ';
  /** after a comma */
  readonly comma: '' | ' ';
}

/** The formatting of a document. */
export interface Formatting extends Gaps {
  /** how far a level is indented */
  readonly step: number;
  /** the dashes of a list have the indentation of its key */
  readonly flush: boolean;
  /** written as JSON */
  readonly json: boolean;
  /** one level of indentation, in JSON with one member or item per line; otherwise absent */
  readonly spread?: string;
  /** inside of the brackets */
  readonly padding: { readonly map: '' | ' '; readonly list: '' | ' ' };
  /** texts such as `2026-01-01` are written without quotes */
  readonly bare: boolean;
}

/** Where and how one value is written. */
export interface ValueContext {
  /** the style of the value that is replaced, or of a neighbour */
  readonly style: Style | undefined;
  readonly formatting: Formatting;
  /** between brackets */
  readonly flow: boolean;
  /** the indentation of the line on which it begins */
  readonly indent: string;
  readonly lineBreak: string;
}

/** The value on one line, or on several lines if the JSON around it has one member or item per line. */
export function inlineText(value: Json, context: ValueContext): string {
  const { formatting, indent, lineBreak } = context;
  if (typeof value === 'string') return wordText(value, context);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = partsOf(value, {
    ...context,
    style: undefined,
    flow: true,
    indent: indent + (formatting.spread ?? ''),
  });
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (parts.length === 0) return open + close;
  if (formatting.spread !== undefined) {
    const [pad, end] = [indent + formatting.spread, indent].map((lead) => lineBreak + lead);
    return `${open}${parts.map((part) => pad + part).join(',')}${end}${close}`;
  }
  const padding = Array.isArray(value) ? formatting.padding.list : formatting.padding.map;
  return `${open}${padding}${parts.join(`,${formatting.comma}`)}${padding}${close}`;
}

function partsOf(value: Json, context: ValueContext): string[] {
  if (Array.isArray(value)) return value.map((item: Json) => inlineText(item, context));
  const { json, colon } = context.formatting;
  return Object.entries(isJsonObject(value) ? value : {}).map(
    ([key, member]) => `${keyText(key, context)}:${json ? colon : ' '}${inlineText(member, context)}`,
  );
}

/** A key, with the quotes of `context.style`. */
export function keyText(key: string, context: Omit<ValueContext, 'flow' | 'indent' | 'lineBreak'>): string {
  return wordText(key, { ...context, flow: true, indent: '', lineBreak: '\n' });
}

function wordText(value: string, { style, formatting, flow }: ValueContext): string {
  const isQuoted = formatting.json || style === 'double' || /[\r\n]/.test(value);
  if (isQuoted || changesDirection(value)) return doubleQuoted(value);
  const plain = bareText(value, { flow, bare: formatting.bare });
  // Only printable text can be in single quotes; the library writes the rest in double quotes.
  const isOdd = plain.startsWith('"');
  return style === 'single' && !isOdd ? `'${value.replaceAll("'", "''")}'` : plain;
}

/**
 * The text without quotes where that is safe. The library decides, and quotes what other parsers read as dates or numbers. Outside of
 * brackets a text of several lines may become a block scalar.
 */
export function bareText(
  value: string,
  { flow, bare }: { readonly flow: boolean; readonly bare: boolean },
): string {
  const schema = bare ? { schema: jsonLikeSchema } : {};
  const options = { lineWidth: -1, noRefs: true, ...schema };
  return flow
    ? dump([value], { flowLevel: 0, ...options })
        .trimEnd()
        .slice(1, -1)
    : dump({ k: value }, options).trimEnd().slice(3);
}

/** A word that begins with a letter is text for every parser, except these words. */
const otherWords = /^(?:y|n|yes|no|on|off)$/i;

/** Whether our parser reads this word as text without quotes, but other parsers may not. */
export function isAmbiguousWord(written: string): boolean {
  if (!/^[\w.+:-]+$/.test(written)) return false;
  if (/^[a-z]/i.test(written) && !otherWords.test(written)) return false;
  const [kept, quoted] = [true, false].map((bare) => bareText(written, { flow: true, bare }));
  return kept === written && quoted !== written;
}

/** Whether the value is written on separate lines, where that is possible. */
export function needsLines(value: Json): boolean {
  if (typeof value === 'string') return isTextBlock(value);
  // Empty lines at the end of a nested text would be lost.
  if (/\\n\\n"/.test(JSON.stringify(value))) return false;
  return Array.isArray(value) ? value.length > 0 : isJsonObject(value) && Object.keys(value).length > 0;
}

/** Whether a text can be written as a block scalar; unprintable characters need escapes. */
function isTextBlock(value: string): boolean {
  return /[^\n]\n/.test(value) && isPrintable(value);
}

function isPrintable(value: string): boolean {
  const isOdd = /[^\n\x20-\x7E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD]/.test(value);
  return !isOdd && !changesDirection(value);
}

/** The text after the key on its line, and the lines below it. @param column of the key */
export function blockText(
  value: Json,
  column: number,
  { step, flush, bare }: Formatting,
): { head: string; lines: string[] } {
  if (typeof value === 'string') {
    const pad = ' '.repeat(column + step);
    const [lines, chomp] = withoutEnd(value);
    const indicator = /^[ \n]/.test(value) ? String(step) : '';
    return { head: `|${indicator}${chomp}`, lines: lines.map((line) => (line === '' ? '' : pad + line)) };
  }
  const pad = ' '.repeat(flush && Array.isArray(value) ? column : column + step);
  const schema = bare ? { schema: jsonLikeSchema } : {};
  const options = { indent: step, seqNoIndent: flush, lineWidth: -1, noRefs: true, ...schema };
  const written = dumpYaml(value, options).trimEnd().split('\n');
  return { head: '', lines: written.map((line) => (line === '' ? '' : pad + line)) };
}

/** The lines of a text, and the chomping indicator that keeps its end. */
function withoutEnd(value: string): [string[], '' | '-' | '+'] {
  const ends = /\n*$/.exec(value)?.[0].length ?? 0;
  const lines = value.split('\n');
  if (ends === 0) return [lines, '-'];
  return [lines.slice(0, -1), ends === 1 ? '' : '+'];
}

// Rewrites a block scalar with another text; its indicator, indentation and unchanged lines are kept if possible.

interface TextBlock {
  /** after the key, without the comment */
  readonly header: string;
  /** the lines below the header, without line breaks */
  readonly lines: readonly string[];
  /** the column of the key */
  readonly column: number;
}

/** The same block with another text; undefined if a block scalar cannot hold it. */
export function rewriteBlock(old: TextBlock, value: string): TextBlock | undefined {
  if (!isPrintable(value) || /^\n*$/.test(value)) return undefined;
  const lead = leadOf(old);
  const wasKept = old.header.includes('+');
  const [body, empty] = splitEnd(old.lines);
  const [plain, chomp] = withoutEnd(value);
  const written = chomp === '+' ? plain : [...plain, ...(wasKept ? empty.map(() => '') : [])];
  const bodies = old.header.startsWith('>') ? [fold(written, body, lead), written] : [written];
  for (const [index, lines] of bodies.entries()) {
    const sign = bodies.length - index === 2 ? '>' : '|';
    const block = blockOf(lines, { sign, chomp, lead, old: body });
    if (block !== undefined && parsesTo({ ...block, column: old.column }, value))
      return { ...block, column: old.column };
  }
  return undefined;
}

/** The indentation of the lines of a block. */
function leadOf({ header, lines, column }: TextBlock): { width: number; column: number } {
  const given = /[1-9]/.exec(header)?.[0];
  const first = lines.find((line) => line.trim() !== '') ?? '';
  const width = given === undefined ? /^ */.exec(first)?.[0].length : column + Number(given);
  return { width: Math.max(width ?? 0, column + 1), column };
}

/** The lines up to the last one that is not blank, and the blank lines after it. */
function splitEnd(lines: readonly string[]): [readonly string[], readonly string[]] {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return [lines.slice(0, last + 1), lines.slice(last + 1)];
}

interface Writing {
  readonly sign: '|' | '>';
  readonly chomp: string;
  readonly lead: { readonly width: number; readonly column: number };
  readonly old: readonly string[];
}

function blockOf(
  lines: readonly string[],
  { sign, chomp, lead, old }: Writing,
): Omit<TextBlock, 'column'> | undefined {
  const needsWidth = /^ /.test(lines.find((line) => line !== '') ?? '');
  const width = lead.width - lead.column;
  if (needsWidth && width > 9) return undefined;
  const made = lines.map((line) => (line === '' ? '' : ' '.repeat(lead.width) + line));
  return { header: `${sign}${needsWidth ? width : ''}${chomp}`, lines: keepSame(made, old) };
}

/** Blank lines keep their spaces, if they are among the equal lines at the beginning or at the end. */
function keepSame(made: readonly string[], old: readonly string[]): string[] {
  const isSame = (one: string | undefined, other: string | undefined) =>
    one?.trimEnd() === other?.trimEnd() && one !== undefined;
  let above = 0;
  while (above < made.length && isSame(made[above], old[above])) above++;
  let below = 0;
  const room = Math.min(made.length, old.length) - above;
  while (below < room && isSame(made.at(-1 - below), old.at(-1 - below))) below++;
  return made.map((line, index) => {
    const kept =
      index < above
        ? old[index]
        : index >= made.length - below
          ? old[index - made.length + old.length]
          : line;
    return kept !== undefined && line.trim() === '' && kept.trim() === '' ? kept : line;
  });
}

/** Folds each line to the width of the old lines, with the old line breaks where they still fit. */
function fold(lines: readonly string[], old: readonly string[], { width }: { width: number }): string[] {
  const before = old.map((line) => line.slice(width).trimEnd());
  const longest = Math.max(40, ...before.map((line) => line.length));
  return lines.flatMap((line, index) => {
    const gap = index > 0 && line !== '' && lines[index - 1] !== '' ? [''] : [];
    return [...gap, ...foldLine(line, before, longest)];
  });
}

function foldLine(line: string, before: readonly string[], longest: number): string[] {
  const made: string[] = [];
  let rest = line;
  while (rest !== '') {
    const known = before.find((old) => old !== '' && (rest === old || rest.startsWith(`${old} `)));
    const next = known ?? firstWords(rest, longest);
    made.push(next);
    rest = rest.slice(next.length + 1);
  }
  return made.length === 0 ? [''] : made;
}

/** As many words as fit; at least one. */
function firstWords(text: string, longest: number): string {
  const ends = [...text.matchAll(/(?<=\S) (?=\S)/g)].map(({ index }) => index);
  if (text.length <= longest) return text;
  return text.slice(0, ends.findLast((end) => end <= longest) ?? ends[0] ?? text.length);
}

function parsesTo({ header, lines, column }: TextBlock, value: string): boolean {
  const text = `${' '.repeat(column)}k: ${header}\n${lines.join('\n')}\n`;
  try {
    return (load(text) as { k: unknown }).k === value;
  } catch {
    return false;
  }
}
