/**
 * Every request below `/v1/`, from its bytes to its answer. A request is read, authenticated and authorized by the token's
 * policies; only then does the answer say whether its mount and path exist (wire/cluster-auth 2.1).
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  answerOpenRequest,
  endpointAt,
  helpAt,
  type MountEndpoint,
  serviceEndpoints,
} from './cluster-auth-endpoints.ts';
import {
  answerError,
  answerWrappedError,
  envelope,
  ignoredWarnings,
  type SecretsAnswer,
} from './cluster-auth/answer.ts';
import { publicMounts } from './cluster-auth/auth-mounts.ts';
import { endpointIn, type MountCall, type Operation } from './cluster-auth/call.ts';
import { readFields } from './cluster-auth/field-coercion.ts';
import { jsonText } from './cluster-auth/json-values.ts';
import { CLUSTER_AUTH_METHOD, findMount } from './cluster-auth/mounts.ts';
import { type Place, placeOf } from './cluster-auth/namespaces.ts';
import type { PolicyCapability } from './cluster-auth/policy-rules.ts';
import { cleanedUrl, readRequest, type SecretsRequest } from './cluster-auth/read-request.ts';
import { authenticateServiceToken, type ServiceIdentity } from './cluster-auth/service-identity.ts';
import { findToken, revokeToken, useToken } from './cluster-auth/token-record.ts';
import type { Services } from './kernel/services.ts';

const BODY_LIMIT_BYTES = 32 * 1024 * 1024;

/** One route serves all paths below `/v1/`, because a mount can be created at any path and any time. */
export const CLUSTER_AUTH_ROUTE = {
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'],
  path: '/v1/*',
};

const CAPABILITIES: Record<Operation, PolicyCapability> = {
  read: 'read',
  list: 'list',
  write: 'update',
  delete: 'delete',
  patch: 'patch',
  scan: 'scan',
  head: 'read',
};

/**
 * Serves `/v1/auth/<mount>/config`, `/role` and `/role/:name` for every mount in the database
 * (wire/cluster-auth 5.1), and the other paths of the secrets service. `app` must be a separate scope: it gets its own body parser
 * and error handler. Tokens come in the dialect's header or as `Authorization: Bearer`.
 */
export function registerClusterAuth(app: FastifyInstance, services: Services): void {
  app.removeAllContentTypeParsers();
  const unparsed = { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES } as const;
  app.addContentTypeParser('*', unparsed, (_request, bytes, done) => done(null, bytes));
  app.addHook('onRequest', (request, _reply, done) => {
    delete request.raw.headers['content-type'];
    done();
  });
  app.setErrorHandler((error: FastifyError, request, reply) => send(request, reply, answerToError(error)));
  app.route({
    method: CLUSTER_AUTH_ROUTE.methods,
    url: CLUSTER_AUTH_ROUTE.path,
    handler: async (request, reply) => {
      const namespace = namespaceHeader(request, services);
      if (namespace !== '') reply.header(services.dialects.clusterAuth.namespaceHeader, namespace);
      return send(request, reply, await answer(services, request));
    },
  });
}

async function answer(services: Services, request: FastifyRequest): Promise<SecretsAnswer> {
  const location = cleanedUrl(request.url);
  if (location !== undefined) return { status: 307, location };
  const read = readRequest(request, services.dialects.clusterAuth);
  if ('status' in read) return read;
  if (read.wraps && TOKEN_PATHS.test(read.path)) return NOT_WRAPPED;
  const answered = await answerRead(services, request, read);
  // If a wrapped answer was requested, the answer is never sent unwrapped.
  return read.wraps && 'data' in answered && answered.data !== null ? NOT_WRAPPED : answered;
}

/** Paths whose wrapped answers are refused before the request is carried out: else a token would be created that no client receives. */
const TOKEN_PATHS = /(?:^|\/)(?:login|auth\/token\/(?:create|renew).*)$/;

const NOT_WRAPPED = answerError(400, 'answers cannot be wrapped here');

async function answerRead(
  services: Services,
  request: FastifyRequest,
  read: SecretsRequest,
): Promise<SecretsAnswer> {
  const rawToken = tokenOf(request, services) ?? '';
  const named = placeOf(services.database, namespaceHeader(request, services), read.path);
  if (named === undefined) return answerError(404, 'namespace not found');
  const place = inOwnNamespace(named, rawToken, services);
  const { operation, body } = read;
  const asksHelp = operation === 'read' && services.dialects.clusterAuth.hasHelp && Boolean(body['help']);
  const routed = { services, operation, body, asksHelp, ...place };
  const open = asksHelp ? undefined : await answerOpenRequest({ ...routed, address: request.ip });
  if (open !== undefined) return open;

  const known = authenticateServiceToken(services, rawToken, { ...place, address: request.ip });
  const token =
    known && (UNCOUNTED.test(place.path) ? known.token : useToken(services.database, known.token));
  if (known === undefined || token === undefined) return answerUnauthenticated(routed, rawToken);
  const identity = { ...known, token };
  try {
    return answerAuthenticated({ ...routed, identity, rawToken, requestId: request.id });
  } finally {
    if (identity.token.usesLeft < 0) revokeToken(services.database, identity.accessor);
  }
}

/** Reading the list of visible mounts does not count as a use of a token. */
const UNCOUNTED = /^sys\/internal\/ui\/mounts(?:\/|$)/;

const SELF_PATHS = /^auth\/token\/(?:lookup|renew|revoke)-self$/;

/** At `…-self` paths without a namespace in the request, the token's own namespace is used. */
function inOwnNamespace(place: Place, rawToken: string, { database, now }: Services): Place {
  if (place.namespace !== '' || !SELF_PATHS.test(place.path)) return place;
  return { ...place, namespace: findToken(database, rawToken, now())?.namespace ?? '' };
}

/** The answer to a request without a token, with an unknown one, or with one that is not valid for its address or namespace. */
function answerUnauthenticated(
  { services, namespace, operation, path }: RoutedRequest,
  rawToken: string,
): SecretsAnswer {
  const isList = operation === 'read' && path === 'sys/internal/ui/mounts';
  if (isList) return publicMounts(services, namespace);
  const { database, dialects, now } = services;
  const isUnknown = rawToken !== '' && findToken(database, rawToken, now()) === undefined;
  return answerError(403, isUnknown ? dialects.clusterAuth.unknownToken : 'permission denied');
}

interface RoutedRequest extends Place {
  readonly services: Services;
  readonly operation: Operation;
  readonly body: Readonly<Record<string, unknown>>;
  readonly asksHelp: boolean;
}

interface AuthenticatedRequest extends RoutedRequest {
  readonly identity: ServiceIdentity;
  readonly rawToken: string;
  readonly requestId: string;
}

function answerAuthenticated(routed: AuthenticatedRequest): SecretsAnswer {
  return /^(?:sys|auth\/token)\//.test(routed.path) ? answerService(routed) : answerMount(routed);
}

function answerService(routed: AuthenticatedRequest): SecretsAnswer {
  const { services, identity, operation, path } = routed;
  const found = endpointIn(serviceEndpoints(services.dialects.clusterAuth), path);
  const isAllowed =
    found?.endpoint.authorizesItself === true ||
    (identity.can(CAPABILITIES[operation], path, routed.body) &&
      (found?.endpoint.needsSudo !== true || identity.can('sudo', path)));
  if (!isAllowed) return answerWrappedError(403, 'permission denied');
  if (found === undefined) return answerWrappedError(404, 'unsupported path');
  const handler = found.endpoint.handlers[operation];
  return handler === undefined
    ? answerWrappedError(405, 'unsupported operation')
    : handler({ ...routed, name: found.name });
}

function answerMount(routed: AuthenticatedRequest): SecretsAnswer {
  const { services, identity, operation, path } = routed;
  const found = findMount(services.database, routed.namespace, path);
  const isOurs = found?.mount.type === CLUSTER_AUTH_METHOD;
  // Every valid token may read the help.
  if (routed.asksHelp && isOurs)
    return helpAt(found.rest, services.dialects.clusterAuth) ?? answerWrappedError(404, 'unsupported path');
  const { endpoint, roleName = '' } = (isOurs ? endpointAt(found.rest) : undefined) ?? {};
  const call: MountCall = { ...routed, mount: found?.mount.id ?? '', roleName };
  const creates = operation === 'write' && endpoint?.exists?.(call) === false;
  const isAllowed = identity.can(creates ? 'create' : CAPABILITIES[operation], path, routed.body);
  if (!isAllowed) return answerWrappedError(403, 'permission denied');

  if (found === undefined) return answerError(404, noHandler(path));
  if (endpoint === undefined) return answerWrappedError(404, 'unsupported path');
  return serveEndpoint(endpoint, operation, call);
}

function noHandler(path: string): string {
  return `no handler for route ${JSON.stringify(path)}. route entry not found.`;
}

/** The namespace in the header; empty in dialects without namespaces, which ignore the header. */
function namespaceHeader({ headers }: FastifyRequest, { dialects }: Services): string {
  const { hasNamespaces, namespaceHeader: name } = dialects.clusterAuth;
  const header = headers[name];
  return hasNamespaces && typeof header === 'string' ? header : '';
}

function tokenOf({ headers }: FastifyRequest, { dialects }: Services): string | undefined {
  const header = headers[dialects.clusterAuth.tokenHeader];
  return String(header ?? '') || bearerOf(headers);
}

function bearerOf({ authorization = '' }: FastifyRequest['headers']): string | undefined {
  return /^Bearer (.+)$/.exec(authorization)?.[1];
}

/** The answer to an error outside of an operation: a body that is too large, or a bug, whose text the client does not get. */
function answerToError({ statusCode = 500, message }: FastifyError): SecretsAnswer {
  if (statusCode === 413) return answerError(413, 'http: request body too large');
  return statusCode < 500 ? answerError(statusCode, message) : answerWrappedError(500, 'internal error');
}

/** Sends an answer. It sets the content type itself, even without a body: Fastify would add a charset to it, or remove it. */
function send(request: FastifyRequest, reply: FastifyReply, given: SecretsAnswer): FastifyReply {
  if ('location' in given) return sendRedirect(request, reply, given.location);
  const body = envelope(given, request.id);
  reply.raw.setHeader('content-type', 'application/json');
  return withSafeHeaders(reply)
    .code(given.status)
    .type('application/json')
    .send(body === undefined ? undefined : Buffer.from(`${jsonText(body)}\n`));
}

/** Redirects a request: a GET or HEAD also gets a page for browsers, all others only the header. */
function sendRedirect({ method }: FastifyRequest, reply: FastifyReply, location: string): FastifyReply {
  withSafeHeaders(reply).code(307).header('location', location);
  if (method !== 'GET' && method !== 'HEAD') return reply.send();
  const address = location.replaceAll('&', '&amp;');
  return reply.type('text/html; charset=utf-8').send(`<a href="${address}">Temporary Redirect</a>.\n\n`);
}

function withSafeHeaders(reply: FastifyReply): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('strict-transport-security', 'max-age=31536000; includeSubDomains');
}

/** Whether a path belongs to the secrets service, even if it cannot be decoded. */
export function isSecretsPath(url: string): boolean {
  return url.startsWith('/v1/');
}

/** Answers a path that cannot be decoded. */
export function answerBadPath(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return send(request, reply, answerError(400));
}

/** Answers a verb that the secrets service does not know, at any path (wire/cluster-auth 2.1). */
export function answerUnknownVerb(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return send(request, reply, answerError(405));
}

/** Answers a path that nothing serves as the secrets service answers it. */
export function answerUnknownPath(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return send(request, reply, answerError(404));
}

// Steps of the real service's framework around every operation on a mount: parameters are checked against the fields of the
// path, and an answer with content also warns about ignored parameters (wire/cluster-auth 2.1).

/** Carries out an operation that the caller may do. */
function serveEndpoint(endpoint: MountEndpoint, operation: Operation, call: MountCall): SecretsAnswer {
  const handler = endpoint.handlers[operation];
  if (handler === undefined) return answerWrappedError(405, 'unsupported operation');
  // A write checks its own fields: text and order of the errors differ by path.
  const checked = operation === 'write' ? undefined : readFields(fieldsOf(endpoint, call), call.body);
  if (checked?.ok === false) return answerError(400, `Field validation failed: ${checked.problem}`);
  return withWarnings(handler(call), parameterWarnings(endpoint, call));
}

function fieldsOf(endpoint: MountEndpoint, { services }: MountCall): ReturnType<MountEndpoint['fields']> {
  return endpoint.fields(services.dialects.clusterAuth);
}

function parameterWarnings(endpoint: MountEndpoint, call: MountCall): string[] {
  const fields = fieldsOf(endpoint, call);
  const captured = call.roleName === '' ? [] : ['name'];
  const replaced = captured.filter((name) => (call.body[name] ?? null) !== null);
  return [
    ...ignoredWarnings(call.body, [...captured, ...Object.keys(fields)]),
    ...(replaced.length > 0
      ? [
          'Endpoint replaced the value of these parameters with the values captured from the ' +
            `endpoint's path: [${replaced.join(' ')}]`,
        ]
      : []),
  ];
}

/** Only an answer with content gets warnings; a 204 and an error stay as they are. */
function withWarnings(answer: SecretsAnswer, more: readonly string[]): SecretsAnswer {
  if (!('data' in answer) || more.length === 0) return answer;
  return { ...answer, warnings: [...(answer.warnings ?? []), ...more] };
}
