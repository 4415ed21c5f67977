/**
 * One endpoint of the workspaces API: from an HTTP request to a plain value, and back. A handler runs inside one transaction,
 * which a thrown ApiError rolls back; the caller is authenticated inside that transaction, so a token that was revoked while
 * the body arrived does nothing.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticateBearer, type Caller } from './caller.ts';
import { badRequest, forbidden, unauthorized } from './documents.ts';
import type { EditionFeatures } from './workspaces-dialects.ts';
import { LONG_BODY_LIMIT_BYTES } from './long-body.ts';
import { withAnyType } from './request-body.ts';
import type { Services } from './services.ts';

export const MEDIA_TYPE = 'application/vnd.api+json';

export interface ApiRequest {
  readonly services: Services;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** The parsed body; undefined when there is none. */
  readonly body: unknown;
  /** `http://host:port`, for absolute links. */
  readonly origin: string;
  /** The path and the query of this request. */
  readonly path: string;
  /** The id that the audit trail and the `X-Request-Id` header carry. */
  readonly requestId: string;
}

export interface ApiAnswer {
  readonly status: 200 | 201 | 202 | 204;
  readonly document?: unknown;
  /** JSON:API's own, unless the endpoint speaks plain JSON. */
  readonly mediaType?: 'application/json';
}

export type Handler = (request: ApiRequest) => ApiAnswer;
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Endpoint {
  readonly method: Method;
  readonly path: string;
  readonly handler: Handler;
  /** The feature that the edition must have for the endpoint to exist. */
  readonly needs?: keyof EditionFeatures;
  /** The trait that the dialect must have for the endpoint to exist. */
  readonly needsOfDialect?: 'hasSiteAdministration';
  /** A GET that is recorded in the audit trail: it needs a write transaction. */
  readonly isRecorded?: true;
  /** It takes bodies with long texts, up to `LONG_BODY_LIMIT_BYTES`. */
  readonly takesLongBodies?: true;
  /** Whether an audit-trails token may use it. */
  readonly isForAuditTrails?: true;
}

/** One row of a table of endpoints. `path` is below /api/v2. */
export function on(method: Method, path: string, handler: Handler): Endpoint {
  return { method, path, handler };
}

/** The same for a GET whose handler records it in the audit trail. */
export function recordedRead(path: string, handler: Handler): Endpoint {
  return { ...on('GET', path, handler), isRecorded: true };
}

export function ok(document: unknown): ApiAnswer {
  return { status: 200, document };
}

export function created(document: unknown): ApiAnswer {
  return { status: 201, document };
}

/** The requested action is started or done; the answer has no body. */
export const ACCEPTED: ApiAnswer = { status: 202 };

export const NO_CONTENT: ApiAnswer = { status: 204 };

/** Serves an endpoint; a request whose token is not valid when the handler runs gets 401. */
export function serveEndpoint(app: FastifyInstance, services: Services, endpoint: Endpoint): void {
  const { method, path, handler } = endpoint;
  app.route({
    method,
    url: path,
    ...(endpoint.takesLongBodies ? { bodyLimit: LONG_BODY_LIMIT_BYTES } : {}),
    handler: (request, reply) => {
      const work = (): ApiAnswer => handler(apiRequest(services, request, endpoint));
      const { database } = services;
      const readsOnly = method === 'GET' && endpoint.isRecorded !== true;
      return send(reply, readsOnly ? database.snapshot(work) : database.transaction(work));
    },
  });
}

/** @throws ApiError 401; 403 for an audit-trails token at another endpoint */
function requireCaller(services: Services, request: FastifyRequest, endpoint: Endpoint): Caller {
  const caller = authenticateBearer(services.database, request.headers.authorization, services.now());
  if (caller === undefined) throw unauthorized();
  if (caller.tokenKind === 'audit-trails' && endpoint.isForAuditTrails !== true)
    throw forbidden('This token reads the audit trail of its organization, and may do nothing else');
  return caller;
}

function apiRequest(services: Services, request: FastifyRequest, endpoint: Endpoint): ApiRequest {
  const { takesUntypedBodies } = services.dialects.workspaces;
  return {
    services,
    caller: requireCaller(services, request, endpoint),
    params: request.params as Record<string, string>,
    query: request.query as Query,
    body: takesUntypedBodies ? withAnyType(request.body) : request.body,
    origin: `${request.protocol}://${request.host}`,
    path: request.originalUrl,
    requestId: request.id,
  };
}

function send(reply: FastifyReply, answer: ApiAnswer): FastifyReply {
  reply.code(answer.status);
  if (answer.document === undefined) return reply.send();
  return reply.type(answer.mediaType ?? MEDIA_TYPE).send(JSON.stringify(answer.document));
}

// Reading query parameters. Names are flat text (`page[size]`); encoded and unencoded brackets arrive the same.
// Invariant: unknown parameters are ignored; of a repeated single-valued parameter the last one counts.

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The parameter's value; undefined when it is absent. */
export function queryText(query: Query, name: string): string | undefined {
  const value = query[name];
  return typeof value === 'object' ? value.at(-1) : value;
}

/** Whether a parameter is switched on: `true`, or `1`. */
export function querySwitch(query: Query, name: string): boolean {
  return ['true', '1'].includes(queryText(query, name) ?? '');
}

/** The values of a parameter that may be repeated and may join several by commas; empty ones are dropped. */
export function queryList(query: Query, name: string): string[] {
  return [query[name] ?? []]
    .flat()
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

/** The values of `include`, which may have hyphens. @throws ApiError 400 for an unknown one, with the text that clients look for */
export function includesOf(query: Query, known: readonly string[]): Set<string> {
  const names = queryList(query, 'include').map((name) => name.replaceAll('-', '_'));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw badRequest(`"${unknown}" is not a valid include parameter`, { parameter: 'include' });
  }
  return new Set(names);
}
