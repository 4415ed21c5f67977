/**
 * Reads operation, path and fields of an HTTP request (wire/cluster-auth 2.1). Errors here do not depend on the token: the
 * database has not been read yet.
 */
import type { FastifyRequest } from 'fastify';
import type { ClusterAuthDialect } from '../kernel/dialects.ts';
import { formTextOf, HALF_CHARACTER, textOf } from '../kernel/well-formed-text.ts';
import { answerError, type SecretsAnswer } from './answer.ts';
import type { Operation } from './call.ts';
import { readDuration } from './durations.ts';
import { parseBoolean } from './field-coercion.ts';
import { firstJsonValue, isObject, JsonLimitError, type JsonLimits, MAX_PARTS } from './json-values.ts';

export interface SecretsRequest {
  readonly operation: Operation;
  /** The decoded path below `/v1/`. The path of a list ends with a slash, as in access rules and error texts. */
  readonly path: string;
  /** The fields of the body; without a body, those of the query. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether a wrapped answer is requested. */
  readonly wraps: boolean;
}

const OPERATIONS: Record<string, Operation> = {
  GET: 'read',
  POST: 'write',
  PUT: 'write',
  DELETE: 'delete',
  PATCH: 'patch',
  HEAD: 'head',
};

/** The request, or the error answer. LIST and SCAN have become GET (list-verb.ts). */
export function readRequest(
  request: FastifyRequest,
  dialect: ClusterAuthDialect,
): SecretsRequest | SecretsAnswer {
  const { method } = request;
  if (method === 'OPTIONS') return answerError(400, 'cannot handle internal-only request operation');
  const requested = OPERATIONS[method];
  if (requested === undefined) return answerError(405);
  const query = { ...readForm(/\?(.*)$/s.exec(request.url)?.[1] ?? '').fields };
  const operation = requested === 'read' ? readOrList(query, dialect) : requested;
  const refusal = operation === undefined ? answerError(400) : headerRefusal(request, requested, dialect);
  if (operation === undefined || refusal !== undefined) return refusal ?? answerError(400);
  const path = pathOf(request.url, operation);
  if (path === undefined) return answerError(400);
  const hasBody = operation === 'write' || operation === 'patch';
  const body = hasBody ? fieldsOf(request, dialect) : query;
  if (typeof body === 'string') return answerError(400, body);
  if (operation === 'write' && path.endsWith('/'))
    return answerError(400, "cannot write to a path ending in '/'");
  const wraps = /[1-9]/.test(String(request.headers[dialect.wrapHeader.toLowerCase()] ?? ''));
  return { operation, path, body, wraps };
}

/** The operation that the query of a GET requests; its parameter is removed from `query`. Undefined for an invalid query. */
function readOrList(query: Record<string, unknown>, { scans }: ClusterAuthDialect): Operation | undefined {
  const requested: Operation[] = [];
  for (const word of scans ? (['list', 'scan'] as const) : (['list'] as const)) {
    const value = query[word] ?? '';
    const text = Array.isArray(value) ? value[0] : value;
    const isRequested = text === '' ? false : parseBoolean(text);
    if (isRequested === undefined) return undefined;
    if (!isRequested) continue;
    requested.push(word);
    delete query[word];
  }
  return requested.length > 1 ? undefined : (requested[0] ?? 'read');
}

function headerRefusal(
  request: FastifyRequest,
  operation: Operation,
  { wrapHeader }: ClusterAuthDialect,
): SecretsAnswer | undefined {
  const refusal = operation === 'patch' ? patchTypeRefusal(sentContentType(request)) : undefined;
  if (refusal !== undefined) return refusal;
  const wrap = request.headers[wrapHeader.toLowerCase()];
  if (typeof wrap !== 'string') return undefined;
  const duration = readDuration(wrap);
  const isNegative = 'seconds' in duration && duration.seconds < 0;
  const problem = isNegative ? 'requested wrap ttl cannot be negative' : undefined;
  const reason = 'problem' in duration ? duration.problem : problem;
  return reason === undefined ? undefined : answerError(400, `error parsing ${wrapHeader} header: ${reason}`);
}

function patchTypeRefusal(contentType: string | undefined): SecretsAnswer | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (!type) return answerError(400, 'mime: no media type');
  if (type === 'application/merge-patch+json') return undefined;
  return answerError(415, `PATCH requires Content-Type of application/merge-patch+json, provided ${type}`);
}

/** The path comes from the URL, not from the router, which drops the trailing slash that matters here. */
function pathOf(url: string, operation: Operation): string | undefined {
  const path = decoded(url.replace(/\?.*$/s, '').replace(/^\/v1\//, ''));
  const isList = operation === 'list' || operation === 'scan';
  return isList && path !== undefined && !path.endsWith('/') ? `${path}/` : path;
}

/**
 * The content type as it was sent. The service accepts any text, but the framework does not, so cluster-auth-routes.ts hides the
 * header from it.
 */
function sentContentType({ raw: { rawHeaders } }: FastifyRequest): string | undefined {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type');
  return at < 0 ? undefined : rawHeaders[at + 1];
}

const HALF_OR_PLACE = new RegExp(`${HALF_CHARACTER}|at position \\d+`);

function fieldsOfForm(bytes: Buffer, text: string): Readonly<Record<string, unknown>> | string {
  if (text.split('&', MAX_PARTS + 1).length > MAX_PARTS)
    return 'failed to parse form data: there is too much in it';
  if (formTextOf(bytes) === undefined) return 'failed to decode input: the form is not UTF-8';
  const { fields, isBroken } = readForm(text);
  return isBroken ? 'error parsing form data' : fields;
}

/** The fields of the body, or the error. An empty body and `null` have no fields. */
function fieldsOf(request: FastifyRequest, limits: JsonLimits): Readonly<Record<string, unknown>> | string {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const text = textOf(bytes);
  if (text === undefined) return 'failed to decode input: the body is not UTF-8';
  if (text.trim() === '') return {};
  const isForm = sentContentType(request)?.startsWith('application/x-www-form-urlencoded') ?? false;
  if (isForm && !/^\s*[{[]/.test(text)) return fieldsOfForm(bytes, text);
  try {
    const value = firstJsonValue(text, limits);
    if (value === null) return {};
    return isObject(value) ? value : 'failed to decode JSON input: the body is not an object';
  } catch (error) {
    if (error instanceof JsonLimitError) return error.message;
    // A parser's message quotes the body, which may contain a credential: only the position or the kind of the error is kept.
    const place = HALF_OR_PLACE.exec(String(error))?.[0];
    return `failed to decode JSON input: invalid JSON${place === undefined ? '' : ` ${place}`}`;
  }
}

// Paths without `//`, `.` and `..`: requests for other paths are redirected (wire/cluster-auth 2.1).

/** The redirect target of a URL, with its query; undefined for a clean path, or one that cannot be decoded. */
export function cleanedUrl(url: string): string | undefined {
  const [, encoded = '', query = ''] = /^([^?]*)(.*)$/s.exec(url) ?? [];
  const path = decoded(encoded);
  if (path === undefined) return undefined;
  const clean = cleaned(path);
  return clean === path ? undefined : `${clean.split('/').map(encodeSegment).join('/')}${query}`;
}

/** The path with its escapes decoded; undefined if an escape is broken. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** The path without `.`, `..` and empty segments; a slash at the end stays. */
function cleaned(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}${kept.length > 0 && path.endsWith('/') ? '/' : ''}`;
}

/** Escapes a segment as the service's library does: some reserved characters are kept, some others are escaped without need. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment)
    .replaceAll(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

// Forms and queries, read as the service's library reads them (wire/cluster-auth 2.1).
// Invariant: a pair with a `;` or a broken escape is invalid. In a query it is ignored; a form with one is refused.

/** The fields of a form or a query. */
interface FormFields {
  /** A name that occurs more than once has a list. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Whether a pair could not be read. */
  readonly isBroken: boolean;
}

/** Reads `a=b&c=d`. */
function readForm(text: string): FormFields {
  const byName = new Map<string, string[]>();
  let isBroken = false;
  for (const pair of text.split('&')) {
    const [name, value] = readPair(pair);
    if (name === undefined || value === undefined) isBroken = true;
    else if (pair !== '') byName.set(name, [...(byName.get(name) ?? []), value]);
  }
  const fields = [...byName].map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
  return { fields: Object.fromEntries(fields), isBroken };
}

function readPair(pair: string): readonly (string | undefined)[] {
  if (pair.includes(';')) return [];
  const equals = pair.indexOf('=');
  return equals < 0
    ? [unescaped(pair), '']
    : [unescaped(pair.slice(0, equals)), unescaped(pair.slice(equals + 1))];
}

/** The decoded text; undefined for a `%` without two hex digits. Bytes that are not UTF-8 become replacement characters. */
function unescaped(text: string): string | undefined {
  if (/%(?![\da-f]{2})/i.test(text)) return undefined;
  const bytes = text
    .replaceAll('+', ' ')
    .split(/(%[\da-f]{2})/i)
    .map((piece, at) => (at % 2 === 0 ? Buffer.from(piece) : Buffer.from(piece.slice(1), 'hex')));
  return Buffer.concat(bytes).toString('utf8');
}
