/**
 * Starts the embedded service: one loopback port that speaks the workspaces API under /api/v2 and the cluster-auth
 * methods under /v1/auth/<mount>.
 * Invariant: it listens on 127.0.0.1 only, and `close` leaves nothing open: no socket, no timer, no database handle.
 */
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';

import { type FastifyInstance, fastify } from 'fastify';

import { registerClusterAuth } from './cluster-auth/routes.ts';
import { Database } from './data-file/database.ts';
import { sendError, serveApi } from './json-api/api-scope.ts';
import { ApiError } from './json-api/errors.ts';
import { acceptListVerb } from './list-verb.ts';
import { applySeed } from './seed/apply-seed.ts';
import { readSeed } from './seed/read-seed.ts';
import type { Seed } from './seed/seed.ts';
import { createServices, type Services } from './services.ts';
import { serveProof } from './data-file/serving-proof.ts';
import { WORKSPACE_ENDPOINTS } from './workspaces/endpoints.ts';

/** One answered request, for those who count or log them. `route` is the pattern that matched, or the bare path. */
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
  /** What to put into the database before serving: the parsed YAML of a seed file. What the data has got of it before stays as it is. */
  readonly seed?: Seed;
  readonly dialect?: 'neutral';
  /** Writes are answered before they are on the disk: faster, and a power cut may lose the newest of them. */
  readonly relaxed?: boolean;
  /** The clock; tests replace it. */
  readonly now?: () => Date;
  /** Called with what should never happen: the client is answered 500 and learns no more. */
  readonly onFailure?: (error: Error) => void;
  /** Called when an answer is about to leave, so that a client that has its answer finds it counted. */
  readonly onRequest?: (request: ServedRequest) => void;
}

export interface RunningServer {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Opens the database, applies the seed and listens.
 * @throws SeedError when the seed is malformed, SeedConflictError when something new in it cannot be added; the system's error when the file or the port cannot be opened.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const seed = readSeed(options.seed ?? {});
  const database = Database.open(options.data, { relaxed: options.relaxed ?? false });
  const services = createServices(database, options.now ?? (() => new Date()));
  try {
    applySeed(database, seed, services.now());
    const app = await buildApp(services, options);
    app.addHook('onClose', async () => database.close());
    await app.listen({ host: '127.0.0.1', port: options.port ?? 0 });
    const { port } = app.server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, port, close: () => app.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Ten thousand consumers in one body, each with the padding that some clients send, stay below this. */
const BODY_LIMIT_BYTES = 16 * 1024 * 1024;

/** Long enough for any name; Fastify's own limit of 100 characters would answer 404 for longer ones. */
const PATH_PARAMETER_LIMIT = 1024;

async function buildApp(services: Services, options: ServerOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    // Connections that clients keep alive must not hold up close(); requests in flight still end.
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: PATH_PARAMETER_LIMIT },
    frameworkErrors: (error, _request, reply) => {
      void sendError(reply, error);
    },
    ...acceptListVerb(),
  });
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id);
    options.onRequest?.({
      method: request.method,
      route: request.routeOptions.url ?? request.url,
      url: request.originalUrl,
      status: reply.statusCode,
    });
  });
  app.addHook('onError', async (_request, _reply, error) => {
    const refused = error instanceof ApiError || (error.statusCode ?? 500) < 500;
    if (!refused) options.onFailure?.(error);
  });
  await app.register(async (scope) => serveApi(scope, services, WORKSPACE_ENDPOINTS), { prefix: '/api/v2' });
  await app.register(async (scope) => registerClusterAuth(scope, services));
  serveProof(app, services.database, options.data);
  return app;
}
