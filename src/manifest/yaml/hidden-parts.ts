/**
 * Finds the parts of a text that no excerpt may show: values of fields for URLs and secrets, and private keys anywhere. In invalid YAML,
 * everything that might belong to such a field is hidden.
 */
import { type Event, EVENT_ID, getScalarValue, parseEvents, YAMLException } from 'js-yaml';
import { holdsPrivateKey, privateKeyParts } from '../../redaction/mask-text.ts';
import { anchorOf, type EventRange, itemsOf, keyText, pairsOf, type Span, spanOf } from './locate.ts';
import type { SecretNames } from './secret-fields.ts';

export interface HiddenParts {
  /** sorted by start */
  readonly spans: readonly Span[];
  /** the texts in the hidden parts; an alias may repeat them elsewhere */
  readonly values: readonly string[];
}

const nothing: HiddenParts = { spans: [], values: [] };

export function findHidden(text: string, names: SecretNames): HiddenParts {
  if (!mayHide(text, names)) return nothing;
  let events: Event[];
  try {
    events = parseEvents(text, {});
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { spans: sorted([...hiddenRegions(text, names), ...privateKeyParts(text)]), values: [] };
  }
  const finder = new Finder(text, names);
  for (const [index, event] of events.entries())
    if (event.type === EVENT_ID.DOCUMENT) finder.walk({ text, events, first: index + 1 }, index + 1);
  // The text itself is searched as well: a private key may be in a comment.
  return { spans: sorted([...finder.spans, ...privateKeyParts(text)]), values: [...finder.values] };
}

function sorted(spans: readonly Span[]): Span[] {
  return spans.toSorted((a, b) => a.start - b.start);
}

/** A quick check, because few manifests hide anything. Escapes may spell a name or a key, so a text with escapes is searched. */
function mayHide(text: string, names: SecretNames): boolean {
  if (/\\[uxU\r\n]|PRIVATE/.test(text)) return true;
  for (const [word] of text.matchAll(/[A-Za-z][\w-]*/g)) if (names.hides(word)) return true;
  return false;
}

class Finder {
  readonly spans: Span[] = [];
  readonly values = new Set<string>();
  readonly #text: string;
  readonly #names: SecretNames;
  /** nodes that are hidden already; prevents endless recursion when an alias refers to a node around it */
  readonly #seen = new Set<number>();

  constructor(text: string, names: SecretNames) {
    this.#text = text;
    this.#names = names;
  }

  /** Searches a node for fields of URLs and secrets. */
  walk(range: EventRange, at: number): void {
    const type = range.events[at]?.type;
    if (type === EVENT_ID.SEQUENCE) for (const item of itemsOf(range, at)) this.walk(range, item);
    if (type === EVENT_ID.SCALAR && this.#holdsSecret(range, at)) this.#hideScalar(range, at, '');
    if (type !== EVENT_ID.MAPPING) return;
    for (const { key, value } of pairsOf(range, at)) {
      const name = keyText(range, key);
      if (name !== undefined && this.#names.hides(name)) this.#hide(range, value, name);
      else if (name !== undefined && this.#isSecretKey(name)) this.#hideScalar(range, key, '');
      else {
        this.walk(range, key);
        this.walk(range, value);
      }
    }
  }

  #isSecretKey(key: string): boolean {
    return this.#holdsColon(key) || holdsPrivateKey(key);
  }

  #holdsSecret(range: EventRange, at: number): boolean {
    return this.#holdsFields(range, at) || isPrivateKey(range, at);
  }

  /** Whether a key holds a whole field, such as `token:abc`, because the space after the colon is missing. */
  #holdsColon(key: string): boolean {
    const name = /^([A-Za-z][\w-]*)\s*[:=]/.exec(key)?.[1];
    return name !== undefined && this.#names.hides(name);
  }

  /** Whether a line of a scalar holds a field that YAML does not parse as one, such as `token= …`. */
  #holdsFields(range: EventRange, at: number): boolean {
    const { start, end } = spanOf(range, at) ?? { start: 0, end: 0 };
    const lines = this.#text.slice(start, end).split('\n');
    return lines.some((line) => this.#holdsColon(line.replace(/^[\s"'|>-]*/, '')));
  }

  /** @param name the name of the field that holds the node */
  #hide(range: EventRange, at: number, name: string): void {
    const event = range.events[at];
    if (event === undefined || this.#seen.has(at)) return;
    this.#seen.add(at);
    this.#hideProperties(event);
    if (event.type === EVENT_ID.SEQUENCE)
      for (const item of itemsOf(range, at)) this.#hide(range, item, name);
    if (event.type === EVENT_ID.MAPPING) this.#hideMap(range, at);
    if (event.type === EVENT_ID.SCALAR) this.#hideScalar(range, at, name);
    if (event.type !== EVENT_ID.ALIAS) return;
    this.#add(spanOf(range, at));
    const target = anchorOf(range, at, this.#text.slice(event.anchorStart, event.anchorEnd));
    if (target !== undefined) this.#hide(range, target, name);
  }

  #hideMap(range: EventRange, at: number): void {
    for (const { key, value } of pairsOf(range, at)) {
      const field = keyText(range, key);
      if (field === undefined || !this.#names.isField(field)) this.#hide(range, key, '');
      // Messages must be able to name a field, and a plain name with a value is a field.
      if (field !== undefined && isPlainName(field) && keyText(range, value) !== '')
        this.values.delete(field);
      this.#hide(range, value, field ?? '');
    }
  }

  #hideScalar(range: EventRange, at: number, name: string): void {
    const event = range.events[at];
    if (event?.type !== EVENT_ID.SCALAR) return;
    const value = getScalarValue(range.text, event);
    if (value === '' || isPlain(name, value)) return;
    this.#add(spanOf(range, at));
    this.values.add(value);
  }

  /** Hides the tag and the anchor of a node as well: the secret may be there. */
  #hideProperties(event: Event): void {
    if (!('tagStart' in event)) return;
    if (event.tagStart !== -1) this.#add({ start: event.tagStart, end: event.tagEnd });
    if (event.anchorStart !== -1) this.#add({ start: event.anchorStart, end: event.anchorEnd });
  }

  #add(span: Span | undefined): void {
    if (span !== undefined) this.spans.push(span);
  }
}

/** Whether a scalar holds a private key, however it is written. */
function isPrivateKey(range: EventRange, at: number): boolean {
  return holdsPrivateKey(keyText(range, at) ?? '');
}

/** Whether a key is a plain word. Any other key, or a key without a value as in `{ s3cr3t }`, may be the secret itself. */
export function isPlainName(name: string): boolean {
  return /^[a-z][a-z_-]{0,30}$/i.test(name);
}

/** By field, the form of values that cannot be secrets: the name of a variable, a URL that ends with the host. */
const plainForms: Readonly<Record<string, RegExp>> = {
  env: /^[A-Z_][A-Z0-9_]*$/,
  version: /^\d{1,6}$/,
  url: /^(?:embedded|https?:\/\/[a-z0-9.-]+(?::\d{1,5})?\/?)$/,
  ledger: /^(?:local|git|postgres)$/,
};

function isPlain(name: string, value: string): boolean {
  return plainForms[name]?.test(value) ?? false;
}

// Finds what to hide in a text that is not valid YAML. The end of a value is unknown there. So everything is hidden from the
// name of a field for a URL or a secret up to the next line that begins a field at the same or a lower depth.

function hiddenRegions(text: string, names: SecretNames): Span[] {
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

/** The rest of a line whose value cannot be a secret: a known word, or a complete `{ env: NAME }`. */
const plainRest =
  /^["']?\s*:\s+(?:embedded|local|git|postgres|\{\s*env:\s+[A-Z_][A-Z0-9_]*\s*\})\s*(?:#.*)?$/;

/**
 * The region that the field of this name covers; undefined when its value cannot be a secret.
 * @param start offset of the name, @param end offset after it
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

/** The end of the line on which the quote or bracket that opens after the name is closed; the end of the text if it is not closed. */
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
