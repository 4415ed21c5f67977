/**
 * One endpoint of the workspaces API: from an HTTP request to a plain value, and back.
 * Invariant: a handler sees an authenticated caller and runs whole inside one transaction (reads on one snapshot); a
 * refusal it throws undoes everything it did.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { Caller } from '../identity/caller.ts';
import type { Services } from '../services.ts';
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
  readonly status: 200 | 201 | 204;
  readonly document?: unknown;
}

export type Handler = (services: Services, request: ApiRequest) => ApiAnswer;
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export interface Endpoint {
  readonly method: Method;
  readonly path: string;
  readonly handler: Handler;
}

export function ok(document: unknown): ApiAnswer {
  return { status: 200, document };
}

export function created(document: unknown): ApiAnswer {
  return { status: 201, document };
}

export const NO_CONTENT: ApiAnswer = { status: 204 };

/** Serves an endpoint. `callerOf` gives the caller that authentication put aside for this request. */
export function serveEndpoint(
  app: FastifyInstance,
  services: Services,
  endpoint: Endpoint,
  callerOf: (request: FastifyRequest) => Caller,
): void {
  const { method, path, handler } = endpoint;
  app.route({
    method,
    url: path,
    handler: (request, reply) => {
      const work = (): ApiAnswer => handler(services, apiRequest(request, callerOf(request)));
      const { database } = services;
      return send(reply, method === 'GET' ? database.snapshot(work) : database.transaction(work));
    },
  });
}

function apiRequest(request: FastifyRequest, caller: Caller): ApiRequest {
  return {
    caller,
    params: request.params as Record<string, string>,
    query: request.query as Query,
    body: request.body,
    origin: `${request.protocol}://${request.host}`,
    path: request.originalUrl,
    requestId: request.id,
  };
}

function send(reply: FastifyReply, answer: ApiAnswer): FastifyReply {
  reply.code(answer.status);
  if (answer.document === undefined) return reply.send();
  return reply.type(MEDIA_TYPE).send(JSON.stringify(answer.document));
}
