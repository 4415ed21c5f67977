/**
 * An answer as the floors above see it: parsed, in `neutral` names, with the service's words if it failed. Success that
 * is no JSON did not come from the service, and is an error: a captive page must never read as an empty list.
 */
import { isJsonObject, type Json } from '../model/json/json.ts';
import type { KnownSecrets } from '../model/known-secrets.ts';
import type { Dialect } from '../model/stack/target.ts';
import { type Answer, WireError } from '../model/wire.ts';
import { headerOf, type RawAnswer } from './transport/exchange.ts';
import { errorMessage, foreignMessage, serviceWarnings } from './error-message.ts';
import { toNeutral } from './rename-body.ts';

export interface AnsweredRequest {
  readonly method: string;
  readonly url: string;
  readonly dialect: Dialect;
  /** what no message may show */
  readonly secrets: KnownSecrets;
}

/** @throws WireError when the answer claims success and is no JSON */
export function readAnswer(raw: RawAnswer, { method, url, dialect, secrets }: AnsweredRequest): Answer {
  const { status, text } = raw;
  const parsed = parse(text);
  const failed = status >= 300;
  if (parsed === undefined && !failed) {
    const found = foreignMessage(secrets.redact(text));
    throw new WireError(
      `${method} ${url} answered ${status} with no JSON but ${found}; check that the target's "url" leads to the service itself`,
      { method, url, sent: true },
    );
  }
  const shown = failed && parsed !== undefined ? secrets.redactBody(parsed) : parsed;
  const warnings = failed ? [] : warningsOf(parsed, secrets);
  const requestId = secrets.redact(headerOf(raw, 'x-request-id') ?? requestIdOf(parsed) ?? '');
  return {
    method,
    url,
    status,
    body: toNeutral(shown ?? null, dialect),
    words: failed ? wordsOf(raw, shown, secrets) : '',
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(requestId === '' ? {} : { requestId }),
  };
}

/** Only what somebody may read is cleaned: the body of a success can be megabytes, and is shown to no one. */
function warningsOf(body: Json | undefined, secrets: KnownSecrets): string[] {
  const warnings = isJsonObject(body) ? body['warnings'] : undefined;
  return warnings === undefined ? [] : serviceWarnings({ warnings: secrets.redactBody(warnings) });
}

function wordsOf(raw: RawAnswer, body: Json | undefined, secrets: KnownSecrets): string {
  const location = headerOf(raw, 'location');
  if (raw.status < 400 && location !== undefined) {
    return `it redirects to "${secrets.redact(location)}"; set the target's "url" to where the service answers`;
  }
  return body === undefined ? foreignMessage(secrets.redact(raw.text)) : errorMessage(body);
}

/** No service of these nests deeper than a tenth of it; whoever goes through a body does so by recursion. */
const deepest = 200;

/** undefined when there is text and it is no JSON that anybody could read; null when there is none */
function parse(text: string): Json | undefined {
  if (text.trim() === '') return null;
  try {
    const body: Json = JSON.parse(text);
    return isDeeperThan(deepest, body) ? undefined : body;
  } catch {
    return undefined;
  }
}

/** Level by level, for the depth of it is what is in question. */
function isDeeperThan(levels: number, body: Json): boolean {
  let level: readonly Json[] = [body];
  for (let left = levels; left > 0 && level.length > 0; left -= 1) level = level.flatMap(membersOf);
  return level.length > 0;
}

function membersOf(body: Json): readonly Json[] {
  if (Array.isArray(body)) return body as readonly Json[];
  return isJsonObject(body) ? Object.values(body) : [];
}

function requestIdOf(body: Json | undefined): string | undefined {
  const id = isJsonObject(body) ? body['request_id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}
