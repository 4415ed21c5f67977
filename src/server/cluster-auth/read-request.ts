/**
 * From an HTTP request to the operation, path and fields that it asks for (wire/cluster-auth 2.1). What is refused here is
 * refused with or without a token, before anything is read from the database.
 */
import type { FastifyRequest } from 'fastify';
import type { ClusterAuthDialect } from '../kernel/dialects.ts';
import { formTextOf, HALF_CHARACTER, textOf } from '../kernel/well-formed-text.ts';
import { answerError, type SecretsAnswer } from './answer.ts';
import type { Operation } from './call.ts';
import { readDuration } from './durations.ts';
import { parseBoolean } from './field-coercion.ts';
import { firstJsonValue, isObject, JsonLimitError, MOST_PARTS } from './json-values.ts';

export interface SecretsRequest {
  readonly operation: Operation;
  /** The decoded path below `/v1/`; a list's path ends with a slash, as access rules and error texts have it. */
  readonly path: string;
  /** The body's fields; for what has no body, those of the query. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether the answer shall come in wraps. */
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

/** Reads the request, or gives the answer that refuses it. LIST and SCAN have become GET (list-verb.ts). */
export function readRequest(
  request: FastifyRequest,
  dialect: ClusterAuthDialect,
): SecretsRequest | SecretsAnswer {
  const { method } = request;
  if (method === 'OPTIONS') return answerError(400, 'cannot handle internal-only request operation');
  const asked = OPERATIONS[method];
  if (asked === undefined) return answerError(405);
  const query = new URLSearchParams(/\?(.*)$/s.exec(request.url)?.[1]);
  const operation = asked === 'read' ? readOrList(query, dialect) : asked;
  const refusal = operation === undefined ? answerError(400) : headerRefusal(request, asked, dialect);
  if (operation === undefined || refusal !== undefined) return refusal ?? answerError(400);
  const path = pathOf(request.url, operation);
  if (path === undefined) return answerError(400);
  const body = operation === 'write' ? fieldsOf(request, dialect) : formFields(query);
  if (typeof body === 'string') return answerError(400, body);
  if (operation === 'write' && path.endsWith('/'))
    return answerError(400, "cannot write to a path ending in '/'");
  const wraps = /[1-9]/.test(String(request.headers[dialect.wrapHeader.toLowerCase()] ?? ''));
  return { operation, path, body, wraps };
}

/** Which of them a GET is, by its query, from which that is taken out; undefined for what is no answer to that. */
function readOrList(query: URLSearchParams, { scans }: ClusterAuthDialect): Operation | undefined {
  const asked: Operation[] = [];
  for (const word of scans ? (['list', 'scan'] as const) : (['list'] as const)) {
    const text = query.get(word) ?? '';
    const isAsked = text === '' ? false : parseBoolean(text);
    if (isAsked === undefined) return undefined;
    if (!isAsked) continue;
    asked.push(word);
    query.delete(word);
  }
  return asked.length > 1 ? undefined : (asked[0] ?? 'read');
}

function headerRefusal(
  { headers }: FastifyRequest,
  operation: Operation,
  { wrapHeader }: ClusterAuthDialect,
): SecretsAnswer | undefined {
  const refusal = operation === 'patch' ? patchTypeRefusal(headers['content-type']) : undefined;
  if (refusal !== undefined) return refusal;
  const wrap = headers[wrapHeader.toLowerCase()];
  if (typeof wrap !== 'string') return undefined;
  const duration = readDuration(wrap);
  const isNegative = 'seconds' in duration && duration.seconds < 0;
  const problem = isNegative ? 'requested wrap ttl cannot be negative' : undefined;
  const told = 'problem' in duration ? duration.problem : problem;
  return told === undefined ? undefined : answerError(400, `error parsing ${wrapHeader} header: ${told}`);
}

function patchTypeRefusal(contentType: string | undefined): SecretsAnswer | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (!type) return answerError(400, 'mime: no media type');
  if (type === 'application/merge-patch+json') return undefined;
  return answerError(415, `PATCH requires Content-Type of application/merge-patch+json, provided ${type}`);
}

/** Taken from the URL, not from the router, which drops the trailing slash that matters here. */
function pathOf(url: string, operation: Operation): string | undefined {
  const path = decoded(url.replace(/\?.*$/s, '').replace(/^\/v1\//, ''));
  const isList = operation === 'list' || operation === 'scan';
  return isList && path !== undefined && !path.endsWith('/') ? `${path}/` : path;
}

const HALF_OR_PLACE = new RegExp(`${HALF_CHARACTER}|at position \\d+`);

/** The body's fields, or why it has none that can be read. An empty body and `null` have no fields. */
function fieldsOfForm(bytes: Buffer, text: string): Record<string, unknown> | string {
  if (text.split('&', MOST_PARTS + 1).length > MOST_PARTS)
    return 'failed to parse form data: there is too much in it';
  const form = formTextOf(bytes);
  return form === undefined
    ? 'failed to decode input: the form is not UTF-8'
    : formFields(new URLSearchParams(form));
}

function fieldsOf(
  request: FastifyRequest,
  { mostTexts }: ClusterAuthDialect,
): Record<string, unknown> | string {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const text = textOf(bytes);
  if (text === undefined) return 'failed to decode input: the body is not UTF-8';
  if (text.trim() === '') return {};
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') ?? false;
  if (isForm && !/^\s*[{[]/.test(text)) return fieldsOfForm(bytes, text);
  try {
    const value = firstJsonValue(text, mostTexts);
    if (value === null) return {};
    return isObject(value) ? value : 'failed to decode JSON input: the body is not an object';
  } catch (error) {
    if (error instanceof JsonLimitError) return error.message;
    // A parser's message quotes the body, which may hold a credential: only where or what it is is told.
    const told = HALF_OR_PLACE.exec(String(error))?.[0];
    return `failed to decode JSON input: invalid JSON${told === undefined ? '' : ` ${told}`}`;
  }
}

/** A name that comes more than once has a list. */
function formFields(form: URLSearchParams): Record<string, unknown> {
  const byName = new Map<string, string[]>();
  for (const [name, value] of form) {
    const values = byName.get(name);
    if (values === undefined) byName.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries(
    [...byName].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

// Paths as the service wants them: without `//`, `.` and `..`. Others are answered with the address that was meant
// (wire/cluster-auth 2.1).

/** Where a URL with such a path leads, its query included; undefined for a path that is fine, or cannot be decoded. */
export function cleanedUrl(url: string): string | undefined {
  const [, encoded = '', query = ''] = /^([^?]*)(.*)$/s.exec(url) ?? [];
  const path = decoded(encoded);
  if (path === undefined) return undefined;
  const clean = cleaned(path);
  return clean === path ? undefined : `${clean.split('/').map(encodeSegment).join('/')}${query}`;
}

/** The path with its escapes replaced; undefined where they are broken. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** A slash at the end stays. */
function cleaned(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}${kept.length > 0 && path.endsWith('/') ? '/' : ''}`;
}

/** As the service's library does it: some reserved characters stay, some that need no escape get one. */
function encodeSegment(segment: string): string {
  return encodeURIComponent(segment)
    .replaceAll(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
