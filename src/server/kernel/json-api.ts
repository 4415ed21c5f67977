/**
 * The part of the server that speaks JSON:API: authentication, rate limit, media types, errors, discovery. Every answer below
 * its prefix is a JSON:API document, and a caller without a valid token gets 401 and nothing else.
 */
import { isUtf8 } from 'node:buffer';
import { finished } from 'node:stream/promises';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { userBehindBearer } from './caller.ts';
import {
  ApiError,
  badRequest,
  errorDocument,
  type ErrorStatus,
  methodNotAllowed,
  notFound,
  tooLarge,
  unauthorized,
} from './documents.ts';
import { type Endpoint, MEDIA_TYPE, serveEndpoint } from './endpoint.ts';
import { verbOf } from './list-verb.ts';
import type { Services } from './services.ts';
import { parseLongJson } from './long-body.ts';
import { parseJson } from './well-formed-text.ts';

interface ServedApi {
  readonly endpoints: readonly Endpoint[];
  /** Requests a second that each user may send, and each address without a valid token; undefined: any number. */
  readonly rateLimit?: number | undefined;
}

/** Makes `app` (a scope with its own prefix) serve the endpoints. */
export function serveApi(app: FastifyInstance, services: Services, api: ServedApi): void {
  const count = api.rateLimit === undefined ? undefined : countRequests(api.rateLimit);
  const { endpoints } = api;
  const headers = serviceHeaders(services);

  // Before the body is read: a caller without a token learns nothing about what a valid body would be. The rights of the
  // caller are read after the body has arrived (endpoint.ts).
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    const now = services.now();
    const user = userBehindBearer(services.database, request.headers.authorization, now);
    const counted = count?.(user === undefined ? `address ${request.ip}` : `user ${user}`, now);
    if (counted !== undefined) reply.headers(counted.headers);
    if (counted?.exceeded) throw tooManyRequests();
    if (user === undefined) throw unauthorized();
    // Also before the body is read: where nothing is served, no body is valid.
    if (request.is404) throw routeError(endpoints, verbOf(request.raw), pathBelow(app.prefix, request.url));
  });

  acceptJsonBodies(app);
  app.setErrorHandler(answerRefusal);
  // The hook above has already answered. This handler only makes unknown paths below the prefix part of this scope.
  app.setNotFoundHandler(() => {});

  for (const endpoint of endpoints) serveEndpoint(app, services, endpoint);
}

function pathBelow(prefix: string, url: string): string {
  return url.slice(prefix.length).replace(/\?.*$/, '');
}

/** Accepts JSON in UTF-8 of both media types; an empty body counts as no body. Fastify answers 415 for other media types. */
export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    [MEDIA_TYPE, 'application/json'],
    { parseAs: 'buffer' },
    (_request, body: Buffer, done) => {
      if (!isUtf8(body)) {
        done(badRequest('The body is not UTF-8'));
        return;
      }
      try {
        done(null, bodyOf(body));
      } catch (error) {
        done(
          badRequest(`The body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`),
        );
      }
    },
  );
}

/** The limit of endpoints without long bodies. Ten thousand consumers in one body fit, even with the padding that some clients send. */
export const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

/** @throws SyntaxError */
function bodyOf(bytes: Buffer): unknown {
  if (bytes.length > BODY_LIMIT_BYTES) return parseLongJson(bytes);
  const text = bytes.toString();
  return text.trim() === '' ? undefined : parseJson(text);
}

const STATUS_OF_FRAMEWORK_ERROR: Readonly<Record<number, ErrorStatus>> = {
  400: 400,
  404: 404,
  413: 413,
  415: 415,
};

/** Answers an error. A client that is still sending when the connection ends gets no answer, so all of a body that is too large is read. */
export async function answerRefusal(
  error: FastifyError | ApiError,
  { raw }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if ('statusCode' in error && error.statusCode === 413) {
    raw.resume();
    // A client that disconnects gets no answer in any case.
    await finished(raw).catch(() => undefined);
  }
  return sendError(reply, error);
}

/** Sends an error. The text of a framework error is kept only for client errors (4xx). */
export function sendError(reply: FastifyReply, error: FastifyError | ApiError): FastifyReply {
  const known =
    error instanceof ApiError
      ? error
      : ofFramework(error, reply.request.routeOptions.bodyLimit ?? BODY_LIMIT_BYTES);
  return reply
    .code(known.status)
    .headers(known.headers)
    .type(MEDIA_TYPE)
    .send(JSON.stringify(errorDocument(known)));
}

function ofFramework(error: FastifyError, bodyLimit: number): ApiError {
  const status = STATUS_OF_FRAMEWORK_ERROR[error.statusCode ?? 500] ?? 500;
  if (status === 413) return tooLarge('body', bodyLimit);
  const detail = status === 500 ? 'The service failed to handle the request' : error.message;
  return new ApiError(status, [{ detail }]);
}

// How many requests a second one client may send.
// Invariants: windows of one second, the same for all clients; all tokens of a user share one count. Clients wait for
// `X-RateLimit-Reset`, which is seconds from now, not a time of day (wire/workspaces 1.2).

const WINDOW_MS = 1000;

/** The count of one client after a request: the three headers, and whether the limit is exceeded. */
interface Counted {
  readonly headers: Readonly<Record<string, string>>;
  readonly exceeded: boolean;
}

/** Counts a request of a client, identified by a unique text. */
type RequestCounter = (client: string, now: Date) => Counted;

/** Counts requests and limits each client to this many a second. */
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

// Why a request matches no endpoint: its path does not exist, or accepts only other methods.
// Invariant: a 405 names every method of the path, and an existing path never answers 404 because of the method.

/** The refusal for a request that fits no endpoint: 405 with the methods of its path, or 404. `path` is without query. */
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

/** Whether a path matches a pattern: `/workspaces/ws-1` fits `/workspaces/:workspace_id`. */
function fits(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.replace(/\/$/, '').split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
  );
}

// Service discovery: the address of the API, and the name and version of the service (wire/workspaces 1.6).
// Invariant: only a dialect whose clients request it has discovery; the others answer 404 and send no such header.

/** Serves the discovery document, without a token, if the dialect has one. @returns its path */
export function serveDiscovery(app: FastifyInstance, { dialects }: Services): string | undefined {
  const { discovery } = dialects.workspaces;
  if (discovery === undefined) return undefined;
  const document = JSON.stringify(discovery.services);
  app.get(discovery.path, (_request, reply) => reply.type('application/json').send(document));
  return discovery.path;
}

/** The headers of every answer of the API, refusals included: clients read them whatever the status is. */
function serviceHeaders({ dialects, edition }: Services): Readonly<Record<string, string>> {
  const { discovery } = dialects.workspaces;
  return { ...discovery?.headers, ...(edition.hosted ? discovery?.hostedHeaders : {}) };
}
