/**
 * Finds what to hide in a text that is not valid YAML. The end of a value is unknown there. So everything is hidden from the
 * name of a field for an address or a secret up to the next line that begins a field at the same or a lower depth.
 */
import type { Span } from './yaml/locate.ts';
import type { SecretNames } from './secret-names.ts';

export function hiddenRegions(text: string, names: SecretNames): Span[] {
  const regions: Span[] = [];
  let behind = 0;
  for (const { 0: word, index } of text.matchAll(/[A-Za-z][\w-]*/g)) {
    if (index < behind || !names.hides(word)) continue;
    const region = regionBehind(text, index, index + word.length);
    if (region === undefined) continue;
    regions.push(region);
    behind = region.end;
  }
  return [...regions, ...anchored(text, regions)].sort((a, b) => a.start - b.start);
}

/** The values of the anchors that aliases in hidden regions refer to. */
function anchored(text: string, regions: readonly Span[]): Span[] {
  const aliases = regions.flatMap(({ start, end }) =>
    [...text.slice(start, end).matchAll(/\*([^\s,[\]{}]+)/g)].map(([, name]) => name),
  );
  const wanted = new Set(aliases);
  return [...text.matchAll(/&([^\s,[\]{}]+)/g)].flatMap(({ 0: anchor, 1: name, index }) =>
    wanted.has(name)
      ? [regionBehind(text, index, index + anchor.length) ?? { start: index, end: index }]
      : [],
  );
}

/** The rest of a line whose value cannot be a secret: a word of ours, or a complete `{ env: NAME }`. */
const plainRest =
  /^["']?\s*:\s+(?:embedded|local|git|postgres|\{\s*env:\s+[A-Z_][A-Z0-9_]*\s*\})\s*(?:#.*)?$/;

/**
 * The region that the field of this name covers; undefined when its value cannot be a secret.
 * @param start offset of the name, @param end offset behind it
 */
function regionBehind(text: string, start: number, end: number): Span | undefined {
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const lineEnd = endOfLine(text, end);
  if (plainRest.test(text.slice(end, lineEnd).replace(/\r$/, ''))) return undefined;
  const before = text.slice(lineStart, start);
  const isBegun = /^[\s"'-]*$/.test(before);
  const column = isBegun ? before.replace(/["']$/, '').length : before.length - before.trimStart().length;
  const from = end + (/^["']?\s*:?[^\S\n]*/.exec(text.slice(end, lineEnd))?.[0].length ?? 0);
  const closed = endOfOpen(text, lineStart, from);
  let stop = Math.max(lineEnd, closed);
  const isFlow = /[[{]/.test(before);
  while (stop < text.length && !isFlow) {
    const next = endOfLine(text, stop + 1);
    if (beginsField(text.slice(stop + 1, next), column)) break;
    stop = next;
  }
  return { start: Math.min(from, lineEnd), end: stop };
}

/** Whether a line begins a field that is not indented deeper than the column, or begins another document. */
function beginsField(line: string, column: number): boolean {
  if (/^---(?:\s|$)/.test(line)) return true;
  const indent = /^[ -]*/.exec(line)?.[0].length ?? 0;
  const isItem = /^\s*-\s+(?:\{\s*)?["']?[\w$.-]+["']?\s*:(?:\s|$)/.test(line);
  if (isItem) return (/^\s*/.exec(line)?.[0].length ?? 0) < column;
  return indent <= column && /^\s*["']?[\w$.-]+["']?\s*:(?:\s|$)/.test(line);
}

/** The end of the line on which the quote or bracket that opens behind the name is closed; the end of the text when it is not. */
function endOfOpen(text: string, lineStart: number, from: number): number {
  const quote = /^(?:[&!]\S*\s+)*(["'])/.exec(text.slice(from))?.[1];
  if (quote !== undefined) {
    const opened = text.indexOf(quote, from);
    const closed = text.indexOf(quote, opened + 1);
    return closed === -1 ? text.length : endOfLine(text, closed);
  }
  let depth = 0;
  for (let index = lineStart; index < text.length; index++) {
    const character = text[index] ?? '';
    if ('[{'.includes(character)) depth++;
    else if (']}'.includes(character)) depth--;
    const isOver = depth <= 0 || (character === '\n' && /^---\s/.test(text.slice(index + 1, index + 5)));
    if (index >= from && isOver) return endOfLine(text, index);
  }
  return text.length;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
