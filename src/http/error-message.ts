/**
 * The service's own words about a failure, as one line without control characters. Each service has its envelope, old
 * endpoints and proxies have theirs; all of them are read here, none is required.
 */
import { isJsonObject, type Json } from '../model/json/json.ts';

const longest = 300;

/** From a body that is JSON. Empty when it says nothing, such as `{"errors":[]}`. */
export function errorMessage(body: Json): string {
  if (typeof body === 'string') return oneLine(body);
  if (!isJsonObject(body)) return '';
  const errors = body['errors'];
  if (Array.isArray(errors)) return joined(errors.map(errorWords));
  if (typeof errors === 'string') return oneLine(errors);
  // What gateways in front of a service answer.
  return joined([body['error'], body['message']].map((value) => (typeof value === 'string' ? value : '')));
}

/** From a body that is no JSON: the title of a page, or the beginning of a text. */
export function foreignMessage(text: string): string {
  if (!/<html|<!doctype/i.test(text)) return oneLine(text);
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1] ?? '';
  const visible = text.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' ');
  return `a page "${oneLine(title.trim() === '' ? visible : title)}"`;
}

/** What a secrets service adds to a success: "this role has no audience" (wire/cluster-auth 2.1). */
export function serviceWarnings(body: Json): string[] {
  const warnings = isJsonObject(body) ? body['warnings'] : undefined;
  if (!Array.isArray(warnings)) return [];
  return warnings.flatMap((warning) => (typeof warning === 'string' ? oneLine(warning) : []));
}

function errorWords(error: Json): string {
  if (typeof error === 'string') return separated(error);
  return isJsonObject(error) ? documentErrorWords(error) : '';
}

/** `title: detail (pointer)` of JSON:API; a status, as text or number, when there is nothing else. */
function documentErrorWords(error: Readonly<Record<string, Json>>): string {
  const { title, detail, status, source } = error;
  const words = [title, detail].filter((part) => typeof part === 'string' && part !== '');
  const said = [...new Set(words)].join(': ');
  if (said === '') return typeof status === 'string' || typeof status === 'number' ? `status ${status}` : '';
  const pointer = isJsonObject(source) ? (source['pointer'] ?? source['parameter']) : undefined;
  return typeof pointer === 'string' && pointer !== '' ? `${said} (${pointer})` : said;
}

/** `2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n` of secrets services, without the frame. */
function separated(text: string): string {
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
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
