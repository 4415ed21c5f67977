/**
 * From an HTTP request to the operation, path and fields that it asks for (wire/cluster-auth 2.1).
 * Invariant: what is refused here is refused for anyone, with or without a token: nothing was looked up yet.
 */
import type { FastifyRequest } from 'fastify';

import { type SecretsAnswer, answerError } from './answer.ts';
import type { Operation } from './endpoints.ts';
import { parseBoolean } from './values/field-coercion.ts';

export interface SecretsRequest {
  readonly operation: Operation;
  /** The decoded path below `/v1/`; a list's path ends with a slash, as access rules and error texts have it. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const OPERATIONS: Record<string, Operation> = {
  GET: 'read',
  POST: 'write',
  PUT: 'write',
  DELETE: 'delete',
  PATCH: 'patch',
};

/** Reads the request, or gives the answer that refuses it. LIST has become GET with `list=true` (list-verb.ts). */
export function readRequest(request: FastifyRequest): SecretsRequest | SecretsAnswer {
  const operation = operationOf(request);
  if (typeof operation !== 'string') return operation;
  if (operation === 'patch') {
    const refusal = patchTypeRefusal(request.headers['content-type']);
    if (refusal !== undefined) return refusal;
  }
  const path = pathOf(request.url, operation);
  if (path === undefined) return answerError(400);
  if (path.split('/').includes('..')) return answerError(400, 'path cannot contain parent references');
  const body = operation === 'write' ? fieldsOf(request) : {};
  if (typeof body === 'string') return answerError(400, body);
  if (operation === 'write' && path.endsWith('/'))
    return answerError(400, "cannot write to a path ending in '/'");
  return { operation, path, body };
}

function operationOf(request: FastifyRequest): Operation | SecretsAnswer {
  const operation = OPERATIONS[request.method];
  if (operation === undefined) return answerError(405);
  const { list } = request.query as { list?: string | string[] };
  const text = Array.isArray(list) ? list[0] : list;
  if (operation !== 'read' || text === undefined || text === '') return operation;
  const wantsList = parseBoolean(text);
  if (wantsList === undefined) return answerError(400);
  return wantsList ? 'list' : 'read';
}

function patchTypeRefusal(contentType: string | undefined): SecretsAnswer | undefined {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  if (!type) return answerError(400, 'mime: no media type');
  if (type === 'application/merge-patch+json') return undefined;
  return answerError(415, `PATCH requires Content-Type of application/merge-patch+json, provided ${type}`);
}

/** Taken from the URL, not from the router, which drops the trailing slash that matters here. */
function pathOf(url: string, operation: Operation): string | undefined {
  const encoded = url.replace(/\?.*$/s, '').replace(/^\/v1\//, '');
  try {
    const path = decodeURIComponent(encoded);
    return operation === 'list' && !path.endsWith('/') ? `${path}/` : path;
  } catch {
    return undefined;
  }
}

/** The body's fields, or why it has none that can be read. An empty body and `null` have no fields. */
function fieldsOf(request: FastifyRequest): Record<string, unknown> | string {
  const text = typeof request.body === 'string' ? request.body : '';
  if (text.trim() === '') return {};
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') ?? false;
  if (isForm && !/^\s*[{[]/.test(text)) return formFields(text);
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return {};
    if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
    return 'failed to decode JSON input: the body is not an object';
  } catch (error) {
    // A parser's message quotes the body, which may hold a credential: only its place is told.
    const place = /at position \d+/.exec(String(error))?.[0];
    return `failed to decode JSON input: invalid JSON${place === undefined ? '' : ` ${place}`}`;
  }
}

function formFields(text: string): Record<string, unknown> {
  const form = new URLSearchParams(text);
  return Object.fromEntries(
    [...new Set(form.keys())].map((key) => {
      const values = form.getAll(key);
      return [key, values.length === 1 ? values[0] : values];
    }),
  );
}
