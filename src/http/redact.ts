/** Keeps secrets out of what people read: a service, or a proxy before it, may repeat what it was sent. */
import { isJsonObject, type Json } from '../model/json.ts';

/** Every occurrence of a secret becomes `[secret]`: as it is, and as JSON text writes it, in JSON text again if need be. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, escaped(secret), escaped(escaped(secret))])
    .reduce((clean, secret) => clean.replaceAll(secret, '[secret]'), text);
}

/** The same for every text inside a body. */
export function redactBody(body: Json, secrets: readonly string[]): Json {
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
