/**
 * What is answered outside the paths of the two APIs: what trueup itself asks a server about (`/served-data-file`), what
 * clients ask a host about (discovery), and everything that nothing serves.
 * Invariant: where the cluster-auth dialect answers outside its own paths, nothing but `/api/`, `/.well-known/` and
 * `/admin/` is kept from it; otherwise what does not exist is refused in the form of JSON:API.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { answerUnknownPath, answerUnknownVerb } from './cluster-auth/routes.ts';
import { PROOF_PATH, serveProof } from './data-file/serving-proof.ts';
import type { Endpoint } from './json-api/endpoint.ts';
import { sendError } from './json-api/api-scope.ts';
import { unserved } from './json-api/unserved.ts';
import { verbOf } from './list-verb.ts';
import { serveDiscovery } from './greeting.ts';
import type { Services } from './services.ts';

/** What this scope serves itself. */
const OWN_ENDPOINTS: readonly OwnEndpoint[] = [{ method: 'GET', path: PROOF_PATH }];

type OwnEndpoint = Pick<Endpoint, 'method' | 'path'>;

/** `app` must be a scope of its own, without a prefix: it takes what no other scope has taken. */
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

const KEPT = /^\/(?:api|\.well-known|admin)(?:\/|$)/;

/** Answers a request that no route took. */
function answerFallback(
  { services, own }: { readonly services: Services; readonly own: readonly OwnEndpoint[] },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const path = request.url.replace(/\?.*$/, '');
  // Each verb that the secrets service knows has a route for all of its paths.
  if (path.startsWith('/v1/')) return answerUnknownVerb(request, reply);
  if (services.dialects.clusterAuth.answersOtherPaths && !KEPT.test(path)) {
    return answerUnknownPath(request, reply);
  }
  return sendError(reply, unserved(own, verbOf(request.raw), path));
}
