/**
 * The part of the server that speaks JSON:API: who may come in, which bodies are read, how refusals are written.
 * Invariant: every answer under its prefix, also for routes that do not exist and bodies that cannot be read, is a
 * JSON:API document, and nothing is answered to a caller without a valid token but 401.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { authenticateBearer, type Caller } from '../identity/caller.ts';
import type { Services } from '../services.ts';
import { type Endpoint, MEDIA_TYPE, serveEndpoint } from './endpoint.ts';
import { ApiError, badRequest, type ErrorStatus, errorDocument, notFound, unauthorized } from './errors.ts';

/** Makes `app` (a scope with its own prefix) serve these endpoints. */
export function serveApi(app: FastifyInstance, services: Services, endpoints: readonly Endpoint[]): void {
  const callers = new WeakMap<FastifyRequest, Caller>();

  // Before the body is read: a caller without a token learns nothing about what a good body would be.
  app.addHook('onRequest', async (request) => {
    const { authorization } = request.headers;
    const caller = authenticateBearer(services.database, authorization, services.now());
    if (caller === undefined) throw unauthorized();
    callers.set(request, caller);
  });

  acceptJsonBodies(app);
  app.setErrorHandler((error: FastifyError | ApiError, _request, reply) => sendError(reply, error));
  app.setNotFoundHandler((_request, reply) => sendError(reply, notFound('Endpoint')));

  const callerOf = (request: FastifyRequest): Caller => {
    const caller = callers.get(request);
    if (caller === undefined) throw unauthorized();
    return caller;
  };
  for (const endpoint of endpoints) serveEndpoint(app, services, endpoint, callerOf);
}

/** JSON under either media type; anything else with a body is answered 415 by Fastify. */
function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    [MEDIA_TYPE, 'application/json'],
    { parseAs: 'string' },
    (_request, body, done) => {
      const text = String(body);
      if (text.trim() === '') {
        done(null, undefined);
        return;
      }
      try {
        done(null, JSON.parse(text));
      } catch (error) {
        done(
          badRequest(`The body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`),
        );
      }
    },
  );
}

const STATUS_OF_FRAMEWORK_ERROR: Readonly<Record<number, ErrorStatus>> = {
  400: 400,
  404: 404,
  413: 413,
  415: 415,
};

/** Writes a refusal. What is not one of ours keeps its words only when it is the client's fault. */
export function sendError(reply: FastifyReply, error: FastifyError | ApiError): FastifyReply {
  const status = STATUS_OF_FRAMEWORK_ERROR['statusCode' in error ? (error.statusCode ?? 500) : 500] ?? 500;
  const known =
    error instanceof ApiError
      ? error
      : new ApiError(status, [
          { detail: status === 500 ? 'The service failed to handle the request' : error.message },
        ]);
  return reply
    .code(known.status)
    .type(MEDIA_TYPE)
    .send(JSON.stringify(errorDocument(known)));
}
