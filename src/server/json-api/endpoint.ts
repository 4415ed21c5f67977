/**
 * One endpoint of the workspaces API: from an HTTP request to a plain value, and back.
 * Invariants: a handler runs whole inside one transaction (reads on one snapshot), and a refusal it throws undoes
 * everything it did; its caller is read inside that transaction, so nothing is done by a token or a right that was taken
 * away while the body was still on its way.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { authenticateBearer, type Caller } from '../identity/caller.ts';
import type { EditionFeatures } from '../editions.ts';
import type { Services } from '../services.ts';
import { withAnyType } from './body.ts';
import { forbidden, unauthorized } from './errors.ts';
import type { Query } from './query.ts';

export const MEDIA_TYPE = 'application/vnd.api+json';

export interface ApiRequest {
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

export type Handler = (services: Services, request: ApiRequest) => ApiAnswer;
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Endpoint {
  readonly method: Method;
  readonly path: string;
  readonly handler: Handler;
  /** What an edition must have for the endpoint to exist. */
  readonly needs?: keyof EditionFeatures;
  /** The same of a dialect. */
  readonly needsOfDialect?: 'hasSiteAdministration';
  /** A GET that tells the audit trail who read: it writes, and so it takes a transaction that may. */
  readonly isRecorded?: true;
  /** Whether a token that is made for audit trails may use it. */
  readonly isForAuditTrails?: true;
}

/** One row of a table of endpoints. `path` is below /api/v2. */
export function on(method: Method, path: string, handler: Handler): Endpoint {
  return { method, path, handler };
}

/** The same for a GET that tells the audit trail who read; its handler records the event. */
export function recordedRead(path: string, handler: Handler): Endpoint {
  return { ...on('GET', path, handler), isRecorded: true };
}

export function ok(document: unknown): ApiAnswer {
  return { status: 200, document };
}

export function created(document: unknown): ApiAnswer {
  return { status: 201, document };
}

/** What was asked for is under way or done; there is nothing to tell. */
export const ACCEPTED: ApiAnswer = { status: 202 };

export const NO_CONTENT: ApiAnswer = { status: 204 };

/** Serves an endpoint; who has no valid token when the handler is to run is refused with 401. */
export function serveEndpoint(app: FastifyInstance, services: Services, endpoint: Endpoint): void {
  const { method, path, handler } = endpoint;
  app.route({
    method,
    url: path,
    handler: (request, reply) => {
      const work = (): ApiAnswer => handler(services, apiRequest(services, request, endpoint));
      const { database } = services;
      const readsOnly = method === 'GET' && endpoint.isRecorded !== true;
      return send(reply, readsOnly ? database.snapshot(work) : database.transaction(work));
    },
  });
}

/** @throws ApiError 401; 403 for a token that is made for something else */
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
