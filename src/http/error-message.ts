/**
 * Extracts the service's error message from an answer, as one line without control characters. Services, old endpoints and
 * proxies have different formats; all of them are understood, and none is required.
 */
import { isJsonObject, type Json } from '../model/json/json.ts';
import { maskAddresses } from '../model/mask-addresses.ts';
import { quoted } from '../model/quoted.ts';

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

/** The message of a body that is no JSON: the title of a page, or the beginning of a text. What was to be JSON holds data and no message. */
export function foreignMessage(body: string): string {
  if (/^\s*[[{]/.test(body)) return 'what looks like JSON and is cut short or damaged';
  const text = maskAddresses(body);
  if (!/<html|<!doctype/i.test(text)) return oneLine(text);
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(text)?.[1] ?? '';
  const visible = text.replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' ');
  return `a page ${quoted(oneLine(title.trim() === '' ? visible : title))}`;
}

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
