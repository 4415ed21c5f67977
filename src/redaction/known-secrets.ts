/**
 * The secrets that a run has read: tokens, JWTs and passwords of all targets. Code that reads or sends a secret adds it here; code
 * that prints or stores a text redacts it here.
 */
import { isJsonObject, type Json } from '../model/json.ts';
import type { TextRange } from './joined-lines.ts';
import { makeFinder, SearchedText, type SecretFinder } from './secret-search.ts';

/** Replaces each occurrence of a secret in a text. */
export const secretPlaceholder = '[secret]';

/** Shorter secrets may be ordinary words: they are redacted in texts from outside, but not in everything that is printed. */
const minPrintedLength = 8;

/** Minimum length of the beginning of a secret that is redacted in texts from outside: many programs print only this part of a token. */
const minBeginning = 8;

/** Shorter parts of a JWT, and shorter lines, may be ordinary words or the same in many secrets; a signature is longer. */
const minPartLength = 16;

/** A secret, or a part of one. */
interface KnownSecret {
  readonly find: SecretFinder;
  /** where it was read from, for messages */
  readonly source: string | undefined;
  readonly isLong: boolean;
  /** false for an address, which begins like other addresses */
  readonly hasDistinctBeginning: boolean;
}

/** Where the secrets that a text contains were read from. */
export type SourcesIn = (text: string) => readonly string[];

export class KnownSecrets {
  readonly #known = new Map<string, KnownSecret>();
  /** redacted parts of a ledger by their originals */
  #redacted = new WeakMap<object, object>();
  /** for printed texts; undefined after a secret was added */
  #printed: readonly Finder[] | undefined;

  /**
   * Adds a secret. Also adds the parts of a JWT, because a service may repeat only one, and lines, because texts are shown by line.
   * @param source `the environment variable "API_TOKEN"`
   * @returns `value` itself
   */
  keep(value: string, source?: string): string {
    const secret = value.trim();
    for (const text of [secret, ...partsOfJwt(secret), ...linesOf(secret)]) {
      if (text === '' || this.#known.has(text)) continue;
      this.#known.set(text, {
        find: makeFinder(text),
        source,
        isLong: text.length >= minPrintedLength,
        hasDistinctBeginning: !text.includes('://'),
      });
      this.#redacted = new WeakMap();
      this.#printed = undefined;
    }
    return value;
  }

  /**
   * For texts that a service, a proxy or git returned: redacts all secrets, short ones included, and beginnings of secrets of eight
   * or more characters.
   */
  redact(text: string): string {
    return redact(text, this.#findersForReturned());
  }

  /** Redacts every text inside a body, as `redact` does. */
  redactBody(body: Json): Json {
    return redactBody(body, this.#findersForReturned());
  }

  /**
   * For everything that is printed: does not redact short secrets, which may be ordinary words, so that plans stay readable.
   * JSON stays valid JSON.
   */
  redactPrinted(text: string): string {
    const finders = this.#findersForPrinted();
    const clean = redact(text, finders);
    return clean !== text && isJson(text) ? redactStrings(text, finders) : clean;
  }

  /** Redacts a printed line, and moves the offsets of a part of it. A part that begins or ends in a secret is extended to all of it. */
  redactLine(line: string, { start, end }: TextRange): TextRange & { readonly text: string } {
    const found = rangesIn(line, this.#findersForPrinted());
    return {
      text: replaced(line, found),
      start: movedOffset(start, found, 'start'),
      end: movedOffset(end, found, 'end'),
    };
  }

  /** Redacts every text inside a value that will be stored, as `redactPrinted` does, so that later prints show the same texts. */
  redactKept<T extends object>(value: T): T {
    return redactBody(value as unknown as Json, this.#findersForPrinted()) as unknown as T;
  }

  /**
   * The same for the parts of a ledger, which is written many times while most of it does not change.
   * @param value must not be changed afterwards: the result is cached
   */
  redactLedgerPart<T extends object>(value: T): T {
    const redacted = this.#redacted.get(value) ?? this.redactKept(value);
    this.#redacted.set(value, redacted);
    return redacted as T;
  }

  /** Whether `redactKept` would change the value. */
  isIn(value: Json): boolean {
    return redactBody(value, this.#findersForPrinted()) !== value;
  }

  /** Where the secrets that a text contains were read from. */
  sourcesIn(text: string): string[] {
    const searched = new SearchedText(text);
    const found = [...this.#known.values()].filter(({ isLong, find }) => isLong && find(searched).length > 0);
    return [...new Set(found.map(({ source = 'this run' }) => source))];
  }

  #findersForPrinted(): readonly Finder[] {
    this.#printed ??= [...this.#known.values()].flatMap(({ isLong, find }) => (isLong ? [find] : []));
    return this.#printed;
  }

  #findersForReturned(): Finder[] {
    return [...this.#known.values()].map(({ find, hasDistinctBeginning }) =>
      hasDistinctBeginning ? (text: SearchedText) => find(text, minBeginning) : find,
    );
  }
}

type Finder = (text: SearchedText) => readonly TextRange[];

/** Header, claims and signature as they are written; empty for a text of another form. */
function partsOfJwt(secret: string): string[] {
  const parts = /^[\w-]+\.[\w-]+\.[\w-]*$/.test(secret) ? secret.split('.') : [];
  return parts.filter(({ length }) => length >= minPartLength);
}

/** The lines of a multi-line secret, without the frame of a key or certificate, which is common. */
function linesOf(secret: string): string[] {
  const lines = secret.split(/[\r\n]+/).map((line) => line.trim());
  if (lines.length < 2) return [];
  return lines.filter((line) => line.length >= minPartLength && !/^-----(BEGIN|END) .*-----$/.test(line));
}

/** Replaces every occurrence in any spelling by `[secret]`; overlapping occurrences become one. */
function redact(text: string, finders: readonly Finder[]): string {
  return replaced(text, rangesIn(text, finders));
}

/** Sorted, without overlaps. */
function rangesIn(text: string, finders: readonly Finder[]): TextRange[] {
  const searched = new SearchedText(text);
  const found: TextRange[] = [];
  for (const find of finders) for (const range of find(searched)) found.push(range);
  return mergeOverlaps(found.sort((a, b) => a.start - b.start));
}

/** @param found sorted, without overlaps */
function replaced(text: string, found: readonly TextRange[]): string {
  let clean = '';
  let shown = 0;
  for (const { start, end } of found) {
    clean += `${text.slice(shown, start)}${secretPlaceholder}`;
    shown = end;
  }
  return shown === 0 ? text : clean + text.slice(shown);
}

/** The offset after these ranges are replaced; inside one of them it moves to the edge of the placeholder. */
function movedOffset(offset: number, found: readonly TextRange[], edge: 'start' | 'end'): number {
  let shift = 0;
  for (const { start, end } of found) {
    if (start >= offset) break;
    if (end > offset) return start + shift + (edge === 'end' ? secretPlaceholder.length : 0);
    shift += secretPlaceholder.length - (end - start);
  }
  return offset + shift;
}

/** @param found sorted */
function mergeOverlaps(found: readonly TextRange[]): TextRange[] {
  const parts: TextRange[] = [];
  for (const part of found) {
    const last = parts.at(-1);
    if (last === undefined || part.start >= last.end) parts.push(part);
    else parts[parts.length - 1] = { start: last.start, end: Math.max(last.end, part.end) };
  }
  return parts;
}

/** Returns the same value when there is nothing to redact. */
function redactBody(body: Json, finders: readonly Finder[]): Json {
  // Most values have no secret, and one search of all texts takes less time than many. What separates them hides no secret.
  if (rangesIn(textsIn(body).join('\0'), finders).length === 0) return body;
  return redactTexts(body, finders);
}

/** All texts in a value, names of members included. */
export function textsIn(value: Json | undefined, texts: string[] = []): readonly string[] {
  if (typeof value === 'string') texts.push(value);
  else if (Array.isArray(value)) for (const item of value) textsIn(item, texts);
  else if (isJsonObject(value))
    for (const name in value) {
      texts.push(name);
      textsIn(value[name], texts);
    }
  return texts;
}

function redactTexts(value: Json, finders: readonly Finder[]): Json {
  if (typeof value === 'string') return redact(value, finders);
  if (Array.isArray(value)) {
    const items = value.map((item) => redactTexts(item, finders));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(
    ([name, member]) => [redact(name, finders), redactTexts(member, finders)] as const,
  );
  const isSame = members.every(([name, member]) => Object.hasOwn(value, name) && value[name] === member);
  return isSame ? value : Object.fromEntries(members);
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Redacts string tokens only: a secret made of digits or quotes must not remove a number or a bracket. */
function redactStrings(json: string, finders: readonly Finder[]): string {
  let clean = '';
  let copied = 0;
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', copied)) {
    const end = endOfString(json, start);
    const token = json.slice(start, end);
    const value: string = JSON.parse(token);
    const redacted = redact(value, finders);
    clean += json.slice(copied, start) + (redacted === value ? token : asciiJson(redacted));
    copied = end;
  }
  return clean + json.slice(copied);
}

/** The end of the string token of valid JSON that begins at `start`. A regular expression would fail for a token of many megabytes. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Escapes all but printable ASCII again: other characters can move the cursor or reorder a line. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
