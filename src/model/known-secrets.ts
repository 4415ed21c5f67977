/**
 * The secrets that a run has read: tokens, JWTs, passwords, of whatever target (rule 42). Code that reads or sends a secret
 * adds it here; code that prints or stores a text redacts it here.
 */
import { isJsonObject, type Json } from './json/json.ts';
import { type SecretFinder, type TextRange, makeFinder } from './secret-spellings.ts';

/** Replaces each occurrence of a secret in a text. */
export const secretPlaceholder = '[secret]';

/** Shorter secrets may be ordinary words: they are redacted in texts from outside, but not in everything that is printed. */
const minPrintedLength = 8;

/** Shorter parts of a JWT may be words, or the same in many; no signature is as short. */
const minPartLength = 16;

export class KnownSecrets {
  readonly #finders = new Map<string, SecretFinder>();
  /** redacted values by their originals: a ledger is written many times, and most of it does not change */
  #redacted = new WeakMap<object, object>();

  /** Adds a secret, and the parts of a JWT, for a service may repeat one of them. @returns `value` itself */
  keep(value: string): string {
    const secret = value.trim();
    for (const text of [secret, ...partsOfJwt(secret)]) {
      if (text === '' || this.#finders.has(text)) continue;
      this.#finders.set(text, makeFinder(text));
      this.#redacted = new WeakMap();
    }
    return value;
  }

  /** For texts from a service or a proxy: redacts all secrets, short ones included. */
  redact(text: string): string {
    return redact(text, [...this.#finders.values()]);
  }

  /** The same for every text inside a body. */
  redactBody(body: Json): Json {
    return redactBody(body, [...this.#finders.values()]);
  }

  /**
   * For everything that is printed: does not redact short secrets, which may be ordinary words, so that plans stay readable.
   * JSON stays valid JSON.
   */
  redactPrinted(text: string): string {
    const finders = this.#longFinders();
    const clean = redact(text, finders);
    return clean !== text && isJson(text) ? redactStrings(text, finders) : clean;
  }

  /**
   * The same for every text inside a value that will be stored, so that later prints show the same. Only texts change.
   * @param value must not be changed afterwards: the result is cached
   */
  redactKept<T extends object>(value: T): T {
    const redacted = this.#redacted.get(value) ?? redactBody(value as unknown as Json, this.#longFinders());
    this.#redacted.set(value, redacted as object);
    return redacted as T;
  }

  /** Whether `redactKept` would change the value. */
  isIn(value: Json): boolean {
    return redactBody(value, this.#longFinders()) !== value;
  }

  #longFinders(): SecretFinder[] {
    return [...this.#finders].flatMap(([secret, finder]) =>
      secret.length >= minPrintedLength ? [finder] : [],
    );
  }
}

/** Header, claims and signature as they are written; empty for a text of another form. */
function partsOfJwt(secret: string): string[] {
  const parts = /^[\w-]+\.[\w-]+\.[\w-]*$/.test(secret) ? secret.split('.') : [];
  return parts.filter(({ length }) => length >= minPartLength);
}

/** Replaces every occurrence in any spelling by `[secret]`; overlapping occurrences become one. */
function redact(text: string, finders: readonly SecretFinder[]): string {
  const found = finders.flatMap((find) => find(text)).sort((a, b) => a.start - b.start);
  let clean = '';
  let shown = 0;
  for (const { start, end } of mergeOverlaps(found)) {
    clean += `${text.slice(shown, start)}${secretPlaceholder}`;
    shown = end;
  }
  return shown === 0 ? text : clean + text.slice(shown);
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

/** Returns the same object when there is nothing to redact. */
function redactBody(body: Json, finders: readonly SecretFinder[]): Json {
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

/** Only string tokens change: a secret made of digits or quotes must not remove a number or a bracket. */
function redactStrings(json: string, finders: readonly SecretFinder[]): string {
  return json.replace(/"(?:[^"\\]|\\.)*"/g, (token) => {
    const value: string = JSON.parse(token);
    const clean = redact(value, finders);
    return clean === value ? token : asciiJson(clean);
  });
}

/** Escapes all but printable ASCII again: other characters can move the cursor or reorder a line. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
