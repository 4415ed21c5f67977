/**
 * What a run has learnt and nobody may read: tokens, JWTs, passwords, whatever place they belong to (RULES 42). Filled by
 * whoever reads or sends a secret, asked by whoever says something.
 */
import { isJsonObject, type Json } from './json.ts';

/** Shorter ones are words, too: kept out of what others say, not out of everything. */
const shortestUnmistakable = 8;

export class KnownSecrets {
  readonly #values = new Set<string>();

  /** Remembers it, and gives it back as it is. */
  keep(value: string): string {
    if (value.trim() !== '') this.#values.add(value.trim());
    return value;
  }

  /** For what a service or a proxy said. */
  redact(text: string): string {
    return redact(text, this.#all());
  }

  /** The same for every text inside a body. */
  redactBody(body: Json): Json {
    return redactBody(body, this.#all());
  }

  /** For everything that is printed: a secret that may well be a word of its own stays, or plans could not be read. */
  redactPrinted(text: string): string {
    return redact(
      text,
      this.#all().filter((secret) => secret.length >= shortestUnmistakable),
    );
  }

  /** The longest first, as one may be a part of another. */
  #all(): string[] {
    return [...this.#values].sort((a, b) => b.length - a.length);
  }
}

/** Every occurrence becomes `[secret]`: as it is, as a URL has it, as JSON text does, in JSON text again if need be. */
function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, escaped(secret), escaped(escaped(secret)), encodeURIComponent(secret)])
    .reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text);
}

function redactBody(body: Json, secrets: readonly string[]): Json {
  if (typeof body === 'string') return redact(body, secrets);
  if (Array.isArray(body)) return body.map((item) => redactBody(item, secrets));
  if (!isJsonObject(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, member]) => [redact(name, secrets), redactBody(member, secrets)]),
  );
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
