/**
 * The cluster authentication methods on the wire: every request below `/v1/`, from its bytes to its answer.
 * Invariant: a request is read, then authenticated, then authorised by the token's policies, and only then told whether
 * its mount and path exist at all (wire/cluster-auth 2.1).
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { ServiceIdentity } from '../identity/service-identity.ts';
import type { PolicyCapability } from '../identity/service-policies.ts';
import type { Services } from '../services.ts';
import { type SecretsAnswer, answerError, answerWrappedError, envelope } from './answer.ts';
import { endpointAt, findMount, type Operation } from './endpoints.ts';
import type { MountCall } from './mount-call.ts';
import { readRequest } from './read-request.ts';

const BODY_LIMIT_BYTES = 32 * 1024 * 1024;

const CAPABILITIES: Record<Operation, PolicyCapability> = {
  read: 'read',
  list: 'list',
  write: 'update',
  delete: 'delete',
  patch: 'update',
};

/**
 * Serves `/v1/auth/<mount>/config`, `/role` and `/role/:name` for every mount in the database
 * (wire/cluster-auth 5.1). `app` must be a scope of its own: the body parser and the error handler set
 * here are this service's. Tokens come in `X-Service-Token` or as `Authorization: Bearer`.
 */
export function registerClusterAuth(app: FastifyInstance, services: Services): void {
  app.removeAllContentTypeParsers();
  const asItCame = { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES } as const;
  app.addContentTypeParser('*', asItCame, (_request, text, done) => done(null, text));
  app.setErrorHandler((error: FastifyError, request, reply) => send(request, reply, answerToError(error)));
  app.route({
    method: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'],
    url: '/v1/*',
    handler: (request, reply) => send(request, reply, answer(services, request)),
  });
}

function answer(services: Services, request: FastifyRequest): SecretsAnswer {
  const read = readRequest(request);
  if ('status' in read) return read;
  const identity = services.authenticateServiceToken(tokenOf(request));
  if (identity === undefined) return answerError(403, 'permission denied');

  const { operation, path, body } = read;
  const found = findMount(services.database, path);
  const endpoint = found && endpointAt(found.rest);
  const call: MountCall = {
    services,
    identity,
    requestId: request.id,
    mount: found?.mount ?? '',
    roleName: endpoint?.roleName ?? '',
    body,
  };
  const creates = operation === 'write' && endpoint?.exists?.(call) === false;
  const isAllowed = mayDo(identity, creates ? 'create' : CAPABILITIES[operation], path);
  if (!isAllowed) return answerWrappedError(403, 'permission denied');

  if (found === undefined) return answerError(404, noHandler(path));
  if (endpoint === undefined) return answerWrappedError(404, 'unsupported path');
  const handler = endpoint.handlers[operation];
  return handler === undefined ? answerWrappedError(405, 'unsupported operation') : handler(call);
}

/** A policy may write the path of a list with or without its trailing slash. */
function mayDo(identity: ServiceIdentity, capability: PolicyCapability, path: string): boolean {
  if (identity.can(capability, path)) return true;
  return capability === 'list' && identity.can('list', path.replace(/\/$/, ''));
}

function noHandler(path: string): string {
  return `no handler for route ${JSON.stringify(path)}. route entry not found.`;
}

function tokenOf(request: FastifyRequest): string | string[] | undefined {
  return request.headers['x-service-token'] || /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
}

/** What went wrong before or outside an operation: a body too large, or a bug of ours, whose text stays inside. */
function answerToError({ statusCode = 500, message }: FastifyError): SecretsAnswer {
  if (statusCode === 413) return answerError(413, 'http: request body too large');
  return statusCode < 500 ? answerError(statusCode, message) : answerWrappedError(500, 'internal error');
}

function send(request: FastifyRequest, reply: FastifyReply, given: SecretsAnswer): FastifyReply {
  return reply
    .code(given.status)
    .header('content-type', 'application/json')
    .header('cache-control', 'no-store')
    .header('strict-transport-security', 'max-age=31536000; includeSubDomains')
    .send(envelope(given, request.id));
}
