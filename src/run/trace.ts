/**
 * `--trace`: prints each request and its answer to stderr, without secrets. Answers come in another order than requests, so both have
 * the number of the request.
 */
import type { Exchange, Observer } from '../api/transport/exchange.ts';
import { foreignMessage } from '../api/transport/read-response.ts';
import { spanText } from '../api/transport/retry.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import type { KnownSecrets } from '../redaction/known-secrets.ts';
import { maskBody, maskHeader, maskLinks, maskText } from '../redaction/mask-exchange.ts';
import { clip, printable, printableJson } from '../report/view/printable.ts';
import type { CliHost } from './host.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export function openTrace({ stderr, secrets, now }: Pick<CliHost, 'stderr' | 'secrets' | 'now'>): Observer {
  let last = 0;
  const clock = () => new Date(now()).toISOString().slice(11, 23);
  const print = (lines: readonly string[]) => stderr.write(`${lines.join('\n')}\n`);
  return {
    request({ method, origin, path, headers, body }, note) {
      last += 1;
      const [number, began] = [last, now()];
      const url = printable(maskLinks(secrets.redact(`${origin}${path}`)));
      print([
        `${clock()} → ${number} ${method} ${url}${note === '' ? '' : `  (${note})`}`,
        ...headerLines((headers ?? {}) as Headers, secrets),
        ...(typeof body === 'string' ? bodyLines(body, secrets) : []),
      ]);
      return (result) =>
        print([
          `${clock()} ← ${number} ${resultText(result, now() - began, secrets)}`,
          ...(result.kind === 'answered'
            ? [...headerLines(result.headers, secrets), ...bodyLines(result.text, secrets)]
            : []),
        ]);
    },
    wait: (why, milliseconds) =>
      print([`${clock()} … waits ${spanText(milliseconds)}: ${printable(maskLinks(secrets.redact(why)))}`]),
  };
}

function resultText(result: Exchange, milliseconds: number, secrets: KnownSecrets): string {
  const span = spanText(milliseconds);
  if (result.kind === 'answered')
    return `${result.status} in ${span} (${sizeText(Buffer.byteLength(result.text))})`;
  const { message, code } = result.cause as NodeJS.ErrnoException;
  const why = printable(maskText(secrets.redact(message === '' ? (code ?? 'unknown') : message)));
  return `no answer after ${span}: ${why}${result.sent ? '' : ' (not sent)'}`;
}

/** `3.4 kB` */
function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const margin = '    ';

/** Headers that are not printed, because every exchange has them. */
const hiddenHeaders =
  /^(?:accept|accept-encoding|user-agent|date|connection|keep-alive|content-length|transfer-encoding|cache-control|strict-transport-security|x-content-type-options|x-frame-options|x-xss-protection|referrer-policy|content-security-policy|vary)$/;

function headerLines(headers: Headers, secrets: KnownSecrets): string[] {
  const printed = Object.entries(headers).filter(([name]) => !hiddenHeaders.test(name.toLowerCase()));
  return printed.flatMap(([name, value = '']) =>
    [value].flat().map((one) => {
      const shown = maskHeader(name.toLowerCase(), secrets.redact(one));
      return `${margin}${printable(secrets.redact(name))}: ${clip(shown, 200)}`;
    }),
  );
}

/** Limits of what is shown of one body. */
const most = { items: 3, text: 300, lines: 40, depth: 20, redacted: 20_000 };

function bodyLines(text: string, secrets: KnownSecrets): string[] {
  if (text.trim() === '') return [];
  const lines = shownBody(text, secrets).split('\n');
  const left = lines.length - most.lines;
  const shown = left <= 1 ? lines : [...lines.slice(0, most.lines), `… ${left} lines more`];
  return shown.map((line) => `${margin}${line}`);
}

function shownBody(text: string, secrets: KnownSecrets): string {
  const body = parse(text);
  if (body === undefined) return foreignBody(text, secrets);
  // Long lists are shortened first, because redacting megabytes takes long. Long texts are shortened last: a secret must not be cut.
  const clean = shortTexts(maskBody(secrets.redactBody(firstItems(body, most.depth))));
  return printableJson(JSON.stringify(clean, undefined, 2));
}

function foreignBody(text: string, secrets: KnownSecrets): string {
  if (text.length > most.redacted) return `(a text of ${text.length} characters)`;
  return `(no JSON: ${printable(foreignMessage(secrets.redact(text)))})`;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The first items of each list, as far as the depth goes. A very long text is replaced. */
function firstItems(value: Json, depth: number): Json {
  if (typeof value === 'string')
    return value.length > most.redacted ? `(a text of ${value.length} characters)` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  if (!isJsonObject(value)) {
    const left = value.length - most.items;
    const shown = value
      .slice(0, left <= 1 ? undefined : most.items)
      .map((item) => firstItems(item, depth - 1));
    return left <= 1 ? shown : [...shown, `… ${left} more`];
  }
  const members = Object.entries(value).map(([name, member]) => [name, firstItems(member, depth - 1)]);
  return Object.fromEntries(members) as Json;
}

function shortTexts(value: Json): Json {
  if (typeof value === 'string') return value.length > most.text ? `${value.slice(0, most.text)}…` : value;
  if (Array.isArray(value)) return value.map(shortTexts);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortTexts(member)]));
}
