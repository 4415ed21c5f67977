/**
 * Parses a response and translates it to neutral names; a failure gets the service's error message as one line. A success
 * without JSON did not come from the service and is an error.
 */
import { renameMembers } from '../../model/call.ts';
import { type Answer, WireError } from '../../model/http.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import type { Dialect } from '../../model/stack.ts';
import type { KnownSecrets } from '../../redaction/known-secrets.ts';
import { maskPlace, maskText } from '../../redaction/mask-exchange.ts';
import type { Connection } from './connection.ts';
import { headerOf, type RawAnswer } from './exchange.ts';
import { targetAddress } from './explain-failure.ts';

interface AnsweredRequest {
  readonly method: string;
  readonly url: string;
  readonly dialect: Pick<Dialect, 'rename' | 'hosted'>;
  /** removed from all messages */
  readonly secrets: KnownSecrets;
  /** the setting that holds the address of the service */
  readonly address?: string;
  /** the source of the token, as a clause; absent if none was sent, or it comes from a login */
  readonly tokenFrom?: string | undefined;
  /** gets the body before its names are translated */
  readonly inspect?: Connection['inspect'];
}

/** @throws WireError when the status means success and the body is not JSON */
export function readAnswer(
  raw: RawAnswer,
  { method, url, dialect, secrets, address = targetAddress, tokenFrom, inspect }: AnsweredRequest,
): Answer {
  const { status, text } = raw;
  const compression = compressionOf(raw);
  if (compression !== undefined) {
    const why = `${method} ${url} answered ${status} with a body in the encoding ${quoted(compression)}, which was not requested and is not supported; correct the proxy or service that compresses it`;
    throw new WireError(why, { method, url, sent: true });
  }
  const parsed = parse(text);
  const failed = status >= 300;
  if (parsed === undefined && !failed) {
    const found = foreignMessage(secrets.redact(text));
    throw new WireError(
      `${method} ${url} answered ${status} without valid JSON: ${found}; check that ${address} leads to the service itself`,
      { method, url, sent: true },
    );
  }
  inspect?.({ body: parsed ?? null, header: (name) => headerOf(raw, name) });
  const shown = failed && parsed !== undefined ? secrets.redactBody(parsed) : parsed;
  const warnings = failed ? [] : warningsOf(parsed, secrets);
  const requestId = secrets.redact(headerOf(raw, 'x-request-id') ?? requestIdOf(parsed) ?? '');
  return {
    method,
    url,
    status,
    body: toNeutral(shown ?? null, dialect),
    words: failed ? withToken(failureMessage(raw, shown, { secrets, address }), status, tokenFrom) : '',
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(requestId === '' ? {} : { requestId }),
    ...(isFromHosted(raw, dialect) ? { hosted: true } : {}),
  };
}

function isFromHosted(raw: RawAnswer, { hosted }: Pick<Dialect, 'hosted'>): boolean {
  return hosted !== undefined && headerOf(raw, hosted.header) === hosted.value;
}

/** The encoding that makes a body unreadable; undefined for a readable one. Requests ask for no encoding. */
function compressionOf(raw: RawAnswer): string | undefined {
  const encoding = headerOf(raw, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  return encoding === 'identity' || encoding === '' || raw.text === '' ? undefined : encoding.slice(0, 40);
}

/** Adds the source of a refused token to the message. */
function withToken(words: string, status: number, tokenFrom: string | undefined): string {
  if (status !== 401 || tokenFrom === undefined) return words;
  return `${words}${words === '' ? '' : '; '}the token comes from ${tokenFrom}`;
}

/** Secrets are removed only from the warnings, which are shown. The rest of a successful body is not shown, and can be megabytes. */
function warningsOf(body: Json | undefined, secrets: KnownSecrets): string[] {
  const warnings = isJsonObject(body) ? body['warnings'] : undefined;
  return warnings === undefined ? [] : serviceWarnings({ warnings: secrets.redactBody(warnings) });
}

function failureMessage(
  raw: RawAnswer,
  body: Json | undefined,
  { secrets, address }: Required<Pick<AnsweredRequest, 'secrets' | 'address'>>,
): string {
  const location = headerOf(raw, 'location');
  if (raw.status < 400 && location !== undefined) {
    // Masked, because the parameters may hold a login code or a signature.
    return `it redirects to ${quoted(maskPlace(secrets.redact(location)))}; set ${address} to the address of the service itself`;
  }
  return body === undefined ? foreignMessage(secrets.redact(raw.text)) : errorMessage(body);
}

/** The maximal depth of a body, ten times that of real ones, because bodies are processed by recursion. */
const maxDepth = 200;

/** @returns null for an empty text; undefined if the text is not JSON, or is nested too deeply */
function parse(text: string): Json | undefined {
  if (text.trim() === '') return null;
  try {
    const body: Json = JSON.parse(text);
    return isDeeperThan(maxDepth, body) ? undefined : body;
  } catch {
    return undefined;
  }
}

/** The recursion ends at the maximal depth, however deep the body is. Allocates nothing: every response is checked. */
function isDeeperThan(levels: number, body: Json): boolean {
  if (levels === 0) return true;
  if (Array.isArray(body)) {
    for (const item of body) if (isDeeperThan(levels - 1, item)) return true;
  } else if (isJsonObject(body)) {
    for (const name in body) if (isDeeperThan(levels - 1, body[name] ?? null)) return true;
  }
  return false;
}

/**
 * Translates the member names of a body, at any depth, from the dialect to `neutral`; values and unknown names stay. There is no
 * translation in the other direction: calls use the dialect's names already (`plan/calls/plan-calls.ts`), so that the plan shows
 * what is sent.
 */
export function toNeutral(body: Json, { rename }: Pick<Dialect, 'rename'>): Json {
  const pairs = Object.entries(rename);
  if (pairs.length === 0) return body;
  return renameMembers(body, Object.fromEntries(pairs.map(([neutral, wire]) => [wire, neutral])));
}

function requestIdOf(body: Json | undefined): string | undefined {
  const id = isJsonObject(body) ? body['request_id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

// Extracts the service's error message from an answer, as one line without control characters. Services, old endpoints and
// proxies have different formats, which are all supported; none is required.

const maxLength = 300;

/** The message in a JSON body; empty when it has none, such as `{"errors":[]}`. */
export function errorMessage(body: Json): string {
  if (typeof body === 'string') return oneLine(body);
  if (!isJsonObject(body)) return '';
  const errors = body['errors'];
  if (Array.isArray(errors)) return joined(errors.map(errorText));
  if (typeof errors === 'string') return oneLine(errors);
  // The format of gateways in front of a service.
  return joined([body['error'], body['message']].map((value) => (typeof value === 'string' ? value : '')));
}

/** The message of a body that is not JSON: the title of a page, or the beginning of a text. Damaged JSON is data, which is not shown. */
export function foreignMessage(body: string): string {
  if (/^\s*[[{]/.test(body)) return 'incomplete or damaged JSON';
  // Attributes, such as those of a hidden field, are not needed.
  const text = maskText(beginning(body).replaceAll(/<(\w+)\s[^<>]*(?:>|$)/g, '<$1>'));
  if (!/<html|<!doctype/i.test(text)) return oneLine(text);
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1] ?? '';
  const visible = text.replace(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ').replace(/<[^>]*>/g, ' ');
  return `a page ${quoted(oneLine(title.trim() === '' ? visible : title))}`;
}

/** The part of a long text that can be masked at once. It never ends within a word, because a part of a secret would not be found. */
function beginning(body: string): string {
  return body.length <= maxMasked ? body : body.slice(0, maxMasked).replace(/\S*$/, '');
}

const maxMasked = 20_000;

/** The warnings that a secrets service adds to a success: "this role has no audience" (wire/cluster-auth 2.1). */
export function serviceWarnings(body: Json): string[] {
  const warnings = isJsonObject(body) ? body['warnings'] : undefined;
  if (!Array.isArray(warnings)) return [];
  return warnings.flatMap((warning) => (typeof warning === 'string' ? oneLine(warning) : []));
}

function errorText(error: Json): string {
  if (typeof error === 'string') return withoutFrame(error);
  return isJsonObject(error) ? jsonApiErrorText(error) : '';
}

/** `title: detail (pointer)` of a JSON:API error; its status when there is nothing else. */
function jsonApiErrorText(error: Readonly<Record<string, Json>>): string {
  const { title, detail, status, source } = error;
  const parts = [title, detail].filter((part) => typeof part === 'string' && part !== '');
  const text = [...new Set(parts)].join(': ');
  if (text === '') return typeof status === 'string' || typeof status === 'number' ? `status ${status}` : '';
  const pointer = isJsonObject(source) ? (source['pointer'] ?? source['parameter']) : undefined;
  return typeof pointer === 'string' && pointer !== '' ? `${text} (${pointer})` : text;
}

/** Removes the frame from `2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n` of secrets services. */
function withoutFrame(text: string): string {
  const framed = /^\d+ errors? occurred:\s*\n([\s\S]*)$/.exec(text)?.[1];
  return framed === undefined ? text : joined(framed.split(/^\s*\* /m));
}

function joined(parts: readonly string[]): string {
  return oneLine(
    parts
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .join('; '),
  );
}

function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
}
