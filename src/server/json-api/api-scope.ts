/**
 * The part of the server that speaks JSON:API: who may come in, which bodies are read, how refusals are written.
 * Invariant: every answer under its prefix, also for routes that do not exist and bodies that cannot be read, is a
 * JSON:API document, and nothing is answered to a caller without a valid token but 401.
 */
import { finished } from 'node:stream/promises';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { serviceHeaders } from '../greeting.ts';
import { authenticateBearer } from '../identity/caller.ts';
import { verbOf } from '../list-verb.ts';
import type { Services } from '../services.ts';
import { parseJson, textOf } from '../well-formed-text.ts';
import { type Endpoint, MEDIA_TYPE, serveEndpoint } from './endpoint.ts';
import { ApiError, badRequest, type ErrorStatus, errorDocument, unauthorized } from './errors.ts';
import { countRequests, tooManyRequests } from './rate-limit.ts';
import { unserved } from './unserved.ts';

interface ServedApi {
  readonly endpoints: readonly Endpoint[];
  /** Requests a second that each user may send, and each address without a valid token; undefined: any number. */
  readonly rateLimit?: number | undefined;
}

/** Makes `app` (a scope with its own prefix) serve the endpoints. */
export function serveApi(app: FastifyInstance, services: Services, api: ServedApi): void {
  const count = api.rateLimit === undefined ? undefined : countRequests(api.rateLimit);
  const { endpoints } = api;
  const greeting = serviceHeaders(services);

  // Before the body is read: a caller without a token learns nothing about what a good body would be. What a caller may
  // do is read again when the body is there (endpoint.ts).
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(greeting);
    const now = services.now();
    const caller = authenticateBearer(services.database, request.headers.authorization, now);
    const counted = count?.(caller === undefined ? `address ${request.ip}` : `user ${caller.userId}`, now);
    if (counted !== undefined) reply.headers(counted.headers);
    if (counted?.exceeded) throw tooManyRequests();
    if (caller === undefined) throw unauthorized();
    // Before the body is read, too: where nothing is served, no body is a good one.
    if (request.is404) throw unserved(endpoints, verbOf(request.raw), pathBelow(app.prefix, request.url));
  });

  acceptJsonBodies(app);
  app.setErrorHandler(answerRefusal);
  // The hook above has answered; this makes the paths below the prefix that nothing serves part of this scope.
  app.setNotFoundHandler(() => {});

  for (const endpoint of endpoints) serveEndpoint(app, services, endpoint);
}

function pathBelow(prefix: string, url: string): string {
  return url.slice(prefix.length).replace(/\?.*$/, '');
}

/** JSON in UTF-8 under either media type, and an empty body as none; anything else with a body is answered 415 by Fastify. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    [MEDIA_TYPE, 'application/json'],
    { parseAs: 'buffer' },
    (_request, body: Buffer, done) => {
      const text = textOf(body);
      if (text === undefined) {
        done(badRequest('The body is not UTF-8'));
        return;
      }
      if (text.trim() === '') {
        done(null, undefined);
        return;
      }
      try {
        done(null, parseJson(text));
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

/** Whoever is still sending when the connection ends does not hear the answer, so a body that is too large is read, and not kept. */
export async function answerRefusal(
  error: FastifyError | ApiError,
  { raw }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if ('statusCode' in error && error.statusCode === 413) {
    raw.resume();
    // A client that goes away hears nothing in any case.
    await finished(raw).catch(() => undefined);
  }
  return sendError(reply, error);
}

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
    .headers(known.headers)
    .type(MEDIA_TYPE)
    .send(JSON.stringify(errorDocument(known)));
}
