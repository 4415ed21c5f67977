/**
 * What a run has learnt and nobody may read: tokens, JWTs, passwords, whatever place they belong to (rule 42). Filled by
 * whoever reads or sends a secret, asked by whoever says something.
 */
import { isJsonObject, type Json } from './json/json.ts';
import { type SpellingFinder, type Found, finderOf } from './secret-spellings.ts';

/** What stands in the place of a secret, wherever one would have been said. */
export const secretWord = '[secret]';

/** Shorter ones are words, too: kept out of what others say, not out of everything. */
const shortestUnmistakable = 8;

export class KnownSecrets {
  readonly #finders = new Map<string, SpellingFinder>();
  /** what was cleaned before: a ledger is written many times, and most of it stays as it is */
  #kept = new WeakMap<object, object>();

  /** Remembers it, and gives it back as it is. */
  keep(value: string): string {
    const secret = value.trim();
    if (secret !== '' && !this.#finders.has(secret)) {
      this.#finders.set(secret, finderOf(secret));
      this.#kept = new WeakMap();
    }
    return value;
  }

  /** For what a service or a proxy said. */
  redact(text: string): string {
    return redact(text, [...this.#finders.values()]);
  }

  /** The same for every text inside a body. */
  redactBody(body: Json): Json {
    return redactBody(body, [...this.#finders.values()]);
  }

  /**
   * For everything that is printed: a secret that may well be a word of its own stays, or plans could not be read. What is
   * JSON stays JSON.
   */
  redactPrinted(text: string): string {
    const finders = this.#unmistakable();
    const clean = redact(text, finders);
    return clean !== text && isJson(text) ? redactStrings(text, finders) : clean;
  }

  /**
   * The same for every text inside of what is written to be kept: what is printed of it later is the very same. Texts
   * become texts, and nothing else changes. @param value never changed afterwards
   */
  redactKept<T extends object>(value: T): T {
    const kept = this.#kept.get(value) ?? redactBody(value as unknown as Json, this.#unmistakable());
    this.#kept.set(value, kept as object);
    return kept as T;
  }

  /** Whether it would be kept otherwise than it is. */
  isIn(value: Json): boolean {
    return redactBody(value, this.#unmistakable()) !== value;
  }

  #unmistakable(): SpellingFinder[] {
    return [...this.#finders].flatMap(([secret, finder]) =>
      secret.length >= shortestUnmistakable ? [finder] : [],
    );
  }
}

/** Every occurrence in whatever spelling becomes `[secret]`; those that overlap become one. */
function redact(text: string, finders: readonly SpellingFinder[]): string {
  const found = finders.flatMap((find) => find(text)).sort((a, b) => a.start - b.start);
  let clean = '';
  let shown = 0;
  for (const { start, end } of joined(found)) {
    clean += `${text.slice(shown, start)}${secretWord}`;
    shown = end;
  }
  return shown === 0 ? text : clean + text.slice(shown);
}

/** @param found sorted */
function joined(found: readonly Found[]): Found[] {
  const parts: Found[] = [];
  for (const part of found) {
    const last = parts.at(-1);
    if (last === undefined || part.start >= last.end) parts.push(part);
    else parts[parts.length - 1] = { start: last.start, end: Math.max(last.end, part.end) };
  }
  return parts;
}

/** The very same value where there is nothing to leave out. */
function redactBody(body: Json, finders: readonly SpellingFinder[]): Json {
  if (typeof body === 'string') return redact(body, finders);
  if (Array.isArray(body)) {
    const items = body.map((item) => redactBody(item, finders));
    return items.every((item, index) => item === body[index]) ? body : items;
  }
  if (!isJsonObject(body)) return body;
  const members = Object.entries(body).map(
    ([name, member]) => [redact(name, finders), redactBody(member, finders)] as const,
  );
  const isSame = members.every(([name, member]) => Object.hasOwn(body, name) && body[name] === member);
  return isSame ? body : Object.fromEntries(members);
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

/** Only texts of it change: a secret of digits or of quotes must not take a number or a bracket away. */
function redactStrings(json: string, finders: readonly SpellingFinder[]): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, (token) => {
    const value: string = JSON.parse(token);
    const clean = redact(value, finders);
    return clean === value ? token : asciiJson(clean);
  });
}

/** What was escaped, because it can move a cursor or reorder a line, has to be again. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
