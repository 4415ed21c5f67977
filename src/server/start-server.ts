/**
 * Starts the embedded service: one loopback port that speaks the workspaces API under /api/v2 and the cluster-auth
 * methods under /v1/auth/<mount>.
 * Invariant: it listens on 127.0.0.1 only, and `close` leaves no socket, timer or database handle open. No client can delay
 * it for longer than `CLOSING_TIMEOUT_MS`.
 */
import { randomUUID } from 'node:crypto';
import { maxHeaderSize } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  fastify,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { type MovableClock, movableClock, serveAdmin } from './admin-api.ts';
import {
  answerBadPath,
  answerUnknownPath,
  answerUnknownVerb,
  CLUSTER_AUTH_ROUTE,
  isSecretsPath,
  registerClusterAuth,
} from './cluster-auth-routes.ts';
import { FaultTable, injectFaults, type ServedRoute } from './faults.ts';
import { Database } from './kernel/database.ts';
import { chooseDialects } from './kernel/dialects.ts';
import { ApiError } from './kernel/documents.ts';
import { chooseEdition } from './kernel/workspaces-dialects.ts';
import type { Endpoint } from './kernel/endpoint.ts';
import { BODY_LIMIT_BYTES, routeError, sendError, serveApi, serveDiscovery } from './kernel/json-api.ts';
import { acceptListVerb, verbOf } from './kernel/list-verb.ts';
import { PROOF_PATH, serveProof } from './kernel/served-data-file.ts';
import { createServices, type Services } from './kernel/services.ts';
import { serveStorage, STORAGE_PREFIX } from './kernel/signed-links.ts';
import { applySeed } from './seed/apply-seed.ts';
import { readSeed } from './seed/read-seed.ts';
import type { Seed } from './seed/seed-schema.ts';
import { endpointsOf, STORED_FILES } from './workspaces-endpoints.ts';
import { deleteExpiredEvents } from './workspaces/audit-trail.ts';
import { processDueRuns } from './workspaces/run-life-cycle.ts';
import { removeUnfinishedFiles } from './workspaces/state-file.ts';
import { serveWebhooks, WEBHOOK_PREFIX } from './workspaces/vcs-webhooks.ts';

/** One answered request, for counting and logging. `route` is the pattern that matched, or the bare path. */
export interface ServedRequest {
  readonly method: string;
  readonly route: string;
  readonly url: string;
  readonly status: number;
}

export interface ServerOptions {
  /** The database file, or `:memory:`. */
  readonly data: string;
  /** 0 (the default) lets the system choose a free port. */
  readonly port?: number;
  /** The parsed YAML of a seed file, applied before serving. Items that were seeded before stay as they are. */
  readonly seed?: Seed;
  /** At most one for each of the two APIs (`dialectNames`); default neutral. */
  readonly dialects?: readonly string[];
  /** The folder of a pod's service account (`ca.crt`, `token`); without it, the service runs outside of a pod. */
  readonly inPod?: string;
  /** `all`, `hosted` or `self-hosted`; default: that of the dialect. */
  readonly edition?: string;
  /** The limit of requests a second of each user to the workspaces API; default: none. */
  readonly rateLimit?: number;
  /** Serves `/admin/` to callers with this bearer token: faults, and a clock that can be moved. */
  readonly admin?: { readonly token: string };
  /** Speaks only TLS, with this certificate and its key, both in PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Answers writes before they are on the disk: faster, but a power failure may lose the newest ones. */
  readonly relaxed?: boolean;
  /** How long a call to a cluster's API may take, in milliseconds; default 5000. */
  readonly clusterTimeoutMs?: number;
  /** The clock; tests replace it. */
  readonly now?: () => Date;
  /** Called with an unexpected error; the client gets a 500 without details. */
  readonly onFailure?: (error: Error) => void;
  /** Called just before an answer is sent: when the client gets the answer, the request is already counted. */
  readonly onRequest?: (request: ServedRequest) => void;
}

export interface RunningServer {
  /** `http://127.0.0.1:<port>`, or `https://localhost:<port>`: certificates name no addresses. Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Opens the database, applies the seed and listens.
 * @throws DialectError for unknown dialects, EditionError for an unknown edition, SeedError for a malformed seed,
 * SeedConflictError when a new item of the seed cannot be added, and the system's error when the file, the folder of the pod or
 * the port cannot be opened.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const seed = readSeed(options.seed ?? {});
  const dialects = chooseDialects(options.dialects ?? []);
  const edition = chooseEdition(options.edition, dialects.workspaces);
  const database = Database.open(options.data, { relaxed: options.relaxed ?? false });
  const clock = movableClock(options.now ?? (() => new Date()));
  try {
    const services = createServices(database, {
      now: clock.now,
      dialects,
      edition,
      inPod: options.inPod,
      clusterTimeoutMs: options.clusterTimeoutMs,
    });
    deleteExpiredEvents(database, services.now());
    removeUnfinishedFiles(database);
    applySeed(database, seed, services.now());
    const app = await buildApp(services, clock, options);
    app.addHook('onClose', async () => database.close());
    const close = closerOf(app);
    await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });
    const { port } = app.server.address() as AddressInfo;
    const url = options.tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
    return { url, port, close };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** How long requests in flight may take after the start of `close`, in milliseconds. */
const CLOSING_TIMEOUT_MS = 2000;

/**
 * Closes the service: unused connections at once, all others when their request is answered, or after the timeout. Node itself
 * waits without limit for a connection over which nothing was sent.
 */
function closerOf(app: FastifyInstance): () => Promise<void> {
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return async () => {
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    const late = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, CLOSING_TIMEOUT_MS);
    await app.close().finally(() => clearTimeout(late));
  };
}

/** The longest parameter of a path: as long as all headers together may be, so that unknown ids of any length reach the handlers. */
const PATH_PARAMETER_LIMIT = maxHeaderSize;

const API_PREFIX = '/api/v2';

/** The path of a request target, which may be a whole URL, as sent to a proxy. */
function originForm(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

async function buildApp(
  services: Services,
  clock: MovableClock,
  options: ServerOptions,
): Promise<FastifyInstance> {
  const listVerb = acceptListVerb({ scans: services.dialects.clusterAuth.scans, below: '/v1/' });
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    // Keep-alive connections must not delay close(); requests in flight still end.
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: PATH_PARAMETER_LIMIT },
    frameworkErrors: (error, request, reply) => {
      void (isSecretsPath(request.url) ? answerBadPath(request, reply) : sendError(reply, error));
    },
    ...listVerb,
    rewriteUrl: (request) => originForm(listVerb.rewriteUrl(request)),
    ...(options.tls === undefined ? {} : { https: options.tls }),
  });
  app.addHook('onRequest', async (_request, reply) => {
    // Clients compare clocks with this header: it shows the clock of the stored times.
    reply.header('date', services.now().toUTCString());
  });
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
    options.onRequest?.({
      method: verbOf(request.raw),
      route: request.routeOptions.url ?? request.url,
      url: request.originalUrl,
      status: reply.statusCode,
    });
  });
  app.addHook('onError', async (_request, _reply, error) => {
    const refused = error instanceof ApiError || (error.statusCode ?? 500) < 500;
    if (!refused) options.onFailure?.(error);
  });
  const endpoints = endpointsOf(services);
  if (options.admin !== undefined) {
    const routes = servedRoutes(endpoints);
    const context = {
      token: options.admin.token,
      faults: new FaultTable(),
      routes,
      clock,
      database: services.database,
    };
    injectFaults(app, context.faults);
    await app.register(async (scope) => serveAdmin(scope, context), { prefix: '/admin' });
  }
  const api = { endpoints, rateLimit: options.rateLimit };
  await app.register(
    async (scope) => {
      serveApi(scope, services, api);
      scope.addHook('preHandler', async () => processDueRuns(services));
    },
    { prefix: API_PREFIX },
  );
  await app.register(async (scope) => serveWebhooks(scope, services), { prefix: WEBHOOK_PREFIX });
  await app.register(async (scope) => serveStorage(scope, services, STORED_FILES), {
    prefix: STORAGE_PREFIX,
  });
  await app.register(async (scope) => registerClusterAuth(scope, services));
  await app.register(async (scope) => serveFallbackRoutes(scope, services, options.data));
  return app;
}

/** All routes whose requests can get faults. A GET route also serves HEAD. */
function servedRoutes(endpoints: readonly Endpoint[]): ServedRoute[] {
  const route = (prefix: string, { method, path }: { readonly method: string; readonly path: string }) => ({
    methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
    path: prefix + path,
  });
  return [
    ...endpoints.map((endpoint) => route(API_PREFIX, endpoint)),
    ...STORED_FILES.map((file) => route(STORAGE_PREFIX, file)),
    CLUSTER_AUTH_ROUTE,
  ];
}

// Answers outside of the paths of the two APIs: the proof that this server serves a data file, service discovery, and refusals of
// all other paths. If the cluster-auth dialect answers other paths, it answers all except `/api/`, `/.well-known/` and `/admin/`.

/** The endpoints of this scope, without discovery. */
const OWN_ENDPOINTS: readonly OwnEndpoint[] = [{ method: 'GET', path: PROOF_PATH }];

type OwnEndpoint = Pick<Endpoint, 'method' | 'path'>;

/** `app` must be a separate scope without a prefix: it answers all paths that no other scope serves. */
function serveFallbackRoutes(app: FastifyInstance, services: Services, dataFile: string): void {
  app.removeAllContentTypeParsers();
  // No handler here reads a body, so no body can be invalid.
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
  app.setErrorHandler((error: FastifyError, _request, reply) => sendError(reply, error));
  serveProof(app, services, dataFile);
  const discovery = serveDiscovery(app, services);
  const own: readonly OwnEndpoint[] =
    discovery === undefined ? OWN_ENDPOINTS : [...OWN_ENDPOINTS, { method: 'GET', path: discovery }];
  app.setNotFoundHandler((request, reply) => answerFallback({ services, own }, request, reply));
}

const RESERVED_PATHS = /^\/(?:api|\.well-known|admin)(?:\/|$)/;

/** Answers a request that matches no route. */
function answerFallback(
  { services, own }: { readonly services: Services; readonly own: readonly OwnEndpoint[] },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const path = request.url.replace(/\?.*$/, '');
  // All verbs that the secrets service knows have a route for `/v1/`, so this verb is unknown.
  if (path.startsWith('/v1/')) return answerUnknownVerb(request, reply);
  if (services.dialects.clusterAuth.answersOtherPaths && !RESERVED_PATHS.test(path)) {
    return answerUnknownPath(request, reply);
  }
  return sendError(reply, routeError(own, verbOf(request.raw), path));
}
