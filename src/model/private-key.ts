/**
 * Finds private keys in PEM form in a text: with real line breaks, with escaped ones as in JSON, or folded into one line. They
 * have no place in any manifest, so what stands where one stands is never shown (docs/safety.md, "No secret is shown").
 */

/** A part of a text; `end` is exclusive. */
interface KeyPart {
  readonly start: number;
  readonly end: number;
}

const begin = /-----BEGIN\s[A-Z0-9\s]*PRIVATE\s+KEY(?:\s+BLOCK)?-----/g;
const end = /-----END\s[A-Z0-9\s]*PRIVATE\s+KEY(?:\s+BLOCK)?-----/g;

/** What may belong to a key whose end is missing: the rest of its line and whole lines of base64 or of PEM headers. */
const body = /[\w+/=\\ \t]*(?:\r?\n[ \t#>-]*(?:[\w+/=\\]+|[A-Z][\w-]+:[^\r\n]*)?[ \t\\'"]*(?=\r?\n|$))*/y;

export function holdsPrivateKey(text: string): boolean {
  return text.includes('PRIVATE') && text.search(begin) !== -1;
}

/** From the BEGIN line to the END line, or as far as a key may reach that has none; in order. */
export function privateKeyParts(text: string): KeyPart[] {
  const parts: KeyPart[] = [];
  let behind = 0;
  let closed: number | undefined = 0;
  for (const { 0: opening, index: start } of text.matchAll(begin)) {
    if (start < behind) continue;
    const from = start + opening.length;
    if (closed !== undefined && closed <= from) closed = endOf(end, text, from);
    behind = closed ?? endOf(body, text, from) ?? from;
    parts.push({ start, end: behind });
  }
  return parts;
}

export function maskPrivateKeys(text: string): string {
  if (!text.includes('PRIVATE')) return text;
  let masked = '';
  let shown = 0;
  for (const part of privateKeyParts(text)) {
    masked += `${text.slice(shown, part.start)}***`;
    shown = part.end;
  }
  return masked + text.slice(shown);
}

function endOf(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
