/**
 * Answers outside the paths of the two APIs: the proof that this server serves a data file, service discovery, and refusals of
 * everything else. Where the cluster-auth dialect answers other paths, it gets all of them but `/api/`, `/.well-known/` and
 * `/admin/`.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { answerUnknownPath, answerUnknownVerb } from './cluster-auth-routes.ts';
import { PROOF_PATH, serveProof } from './kernel/served-data-file.ts';
import type { Endpoint } from './kernel/endpoint.ts';
import { routeError, sendError, serveDiscovery } from './kernel/json-api.ts';
import { verbOf } from './kernel/list-verb.ts';
import type { Services } from './kernel/services.ts';

/** What this scope serves itself. */
const OWN_ENDPOINTS: readonly OwnEndpoint[] = [{ method: 'GET', path: PROOF_PATH }];

type OwnEndpoint = Pick<Endpoint, 'method' | 'path'>;

/** `app` must be a separate scope without a prefix: it answers what no other scope serves. */
export function serveFallbackRoutes(app: FastifyInstance, services: Services, dataFile: string): void {
  app.removeAllContentTypeParsers();
  // Nothing here reads a body, so none can be wrong.
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.setErrorHandler((error: FastifyError, _request, reply) => sendError(reply, error));
  serveProof(app, services, dataFile);
  const discovery = serveDiscovery(app, services);
  const own: readonly OwnEndpoint[] =
    discovery === undefined ? OWN_ENDPOINTS : [...OWN_ENDPOINTS, { method: 'GET', path: discovery }];
  app.setNotFoundHandler((request, reply) => answerFallback({ services, own }, request, reply));
}

const RESERVED_PATHS = /^\/(?:api|\.well-known|admin)(?:\/|$)/;

/** Answers a request that no route took. */
function answerFallback(
  { services, own }: { readonly services: Services; readonly own: readonly OwnEndpoint[] },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const path = request.url.replace(/\?.*$/, '');
  // Each verb that the secrets service knows has a route for all of its paths.
  if (path.startsWith('/v1/')) return answerUnknownVerb(request, reply);
  if (services.dialects.clusterAuth.answersOtherPaths && !RESERVED_PATHS.test(path)) {
    return answerUnknownPath(request, reply);
  }
  return sendError(reply, routeError(own, verbOf(request.raw), path));
}
