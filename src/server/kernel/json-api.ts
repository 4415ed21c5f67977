/**
 * The part of the server that speaks JSON:API: authentication, rate limit, media types, errors, discovery. Every answer below
 * its prefix is a JSON:API document, and a caller without a valid token gets 401 and nothing else.
 */
import { finished } from 'node:stream/promises';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authenticateBearer } from './caller.ts';
import {
  ApiError,
  badRequest,
  errorDocument,
  type ErrorStatus,
  methodNotAllowed,
  notFound,
  unauthorized,
} from './documents.ts';
import { type Endpoint, MEDIA_TYPE, serveEndpoint } from './endpoint.ts';
import { verbOf } from './list-verb.ts';
import type { Services } from './services.ts';
import { parseJson, textOf } from './well-formed-text.ts';

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
    if (request.is404) throw routeError(endpoints, verbOf(request.raw), pathBelow(app.prefix, request.url));
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

// How many requests a second one client may send.
// Invariants: windows of one second, the same for everybody; all tokens of a user share one count. Clients wait for what
// `X-RateLimit-Reset` says, which is seconds from now and no time of day (wire/workspaces 1.2).

const WINDOW_MS = 1000;

/** The state of one client after a request: what the three headers say, and whether the request is one too many. */
interface Counted {
  readonly headers: Readonly<Record<string, string>>;
  readonly exceeded: boolean;
}

/** Counts a request of a client, who is known by any text of its own. */
type RequestCounter = (client: string, now: Date) => Counted;

/** A counter that allows so many requests a second to each client. */
function countRequests(perSecond: number): RequestCounter {
  let opened = Number.NEGATIVE_INFINITY;
  let counts = new Map<string, number>();
  return (client, now) => {
    const time = now.getTime();
    // The clock may have been set back.
    if (time < opened || time >= opened + WINDOW_MS) {
      opened = time;
      counts = new Map();
    }
    const count = (counts.get(client) ?? 0) + 1;
    counts.set(client, count);
    return {
      headers: {
        'x-ratelimit-limit': String(perSecond),
        'x-ratelimit-remaining': String(Math.max(0, perSecond - count)),
        'x-ratelimit-reset': ((opened + WINDOW_MS - time) / 1000).toFixed(3),
      },
      exceeded: count > perSecond,
    };
  };
}

function tooManyRequests(): ApiError {
  return new ApiError(429, [{ detail: 'You have sent more requests than this service allows in a second' }]);
}

// Why nothing is served at a path: it does not exist, or it takes other methods.
// Invariant: a 405 names every method that the path takes, and no path that exists is answered 404 for its method.

/** The refusal for a request that no endpoint took: 405 with the methods of its path, or 404. `path` is without query. */
export function routeError(
  endpoints: readonly Pick<Endpoint, 'method' | 'path'>[],
  method: string,
  path: string,
): ApiError {
  const methods = endpoints
    .filter((endpoint) => fits(endpoint.path, path))
    .map((endpoint) => endpoint.method);
  if (methods.length === 0) return notFound('Endpoint');
  return methodNotAllowed(
    method,
    methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])),
  );
}

/** Whether a path is one of a pattern's: `/workspaces/ws-1` fits `/workspaces/:workspace_id`. */
function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.replace(/\/$/, '').split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
  );
}

// What clients are told before they send anything: where the API of a host is, and which service and version they
// speak to (wire/workspaces 1.6).
// Invariant: only a dialect whose clients ask for it is told so; the others answer 404 and send no such header.

/** Serves the document of discovery, without asking for a token, where the dialect has one. @returns its path */
export function serveDiscovery(app: FastifyInstance, { dialects }: Services): string | undefined {
  const { discovery: greeting } = dialects.workspaces;
  if (greeting === undefined) return undefined;
  const document = JSON.stringify(greeting.services);
  app.get(greeting.path, (_request, reply) => reply.type('application/json').send(document));
  return greeting.path;
}

/** The headers of every answer of the API, refusals included: clients read them whatever the status is. */
function serviceHeaders({ dialects, edition }: Services): Readonly<Record<string, string>> {
  const { discovery: greeting } = dialects.workspaces;
  return { ...greeting?.headers, ...(edition.hosted ? greeting?.hostedHeaders : {}) };
}
