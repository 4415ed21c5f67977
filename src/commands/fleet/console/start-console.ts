/**
 * The web console of a worker: pages that only read, rendered here, without a script. Whoever asks is known before a page is chosen, and
 * each statement is limited to what that viewer may see.
 */
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import { untilAborted } from '../../../model/http.ts';
import { hasToken, hostRefusal, type Refusal, type Viewer, viewerOf } from './access.ts';
import { accessPage } from './access-page.ts';
import { activityPage, exportActivity } from './activity-page.ts';
import { capacityPage } from './capacity-page.ts';
import { fleetPage, type Query } from './fleet-page.ts';
import { healthPage } from './health-page.ts';
import { type Content, html } from './html.ts';
import { document, stylePath, styleSheet } from './layout.ts';
import { metricsText } from './metrics.ts';
import { Reading } from './reading.ts';
import type { ConsoleSettings } from './settings.ts';
import { stackPage } from './stack-page.ts';

interface ConsoleOptions {
  readonly host: string;
  /** 0: any free one */
  readonly port: number;
  /** of the fleet, as its file is now */
  fleet(): {
    readonly name: string;
    readonly console: ConsoleSettings | undefined;
    /** of a repository */
    addressOf(repository: string): string | undefined;
  };
  /** on one snapshot, which is not written */
  read<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  readonly jobSchema: string;
  /** why the worker does not take what is due; undefined when it does */
  illness(): string | undefined;
  /** with which metrics of the whole fleet are read */
  readonly metricsToken: string | undefined;
  readonly onFailure: (error: unknown) => void;
}

/** Milliseconds in which a request must be complete, and in which the database must answer to be well. */
const requestTimeout = 30_000;
const healthTimeout = 5000;

export async function startConsole(
  options: ConsoleOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const app = fastify({
    ...{ logger: false, trustProxy: false, bodyLimit: 1024, forceCloseConnections: true },
    ...{ requestTimeout, connectionTimeout: 2 * requestTimeout },
  });
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(safeHeaders);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return reply.code(405).header('allow', 'GET, HEAD').type('text/plain').send('the console only reads\n');
    return undefined;
  });
  const pages = new Pages(options);
  pages.serve(app);
  await app.listen({ host: options.host, port: options.port });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return { url: `http://${host}:${port}`, close: async () => app.close() };
}

const safeHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
} as const;

interface Found {
  readonly title: string;
  readonly head?: Content;
  readonly body: Content;
}

type MakePage = (reading: Reading, query: Query) => Promise<Found | undefined>;

class Pages {
  readonly #options: ConsoleOptions;

  constructor(options: ConsoleOptions) {
    this.#options = options;
  }

  serve(app: FastifyInstance): void {
    const page = (path: string, parent: string, make: MakePage) =>
      app.get(path, (request, reply) => this.#answer(request, reply, parent, make));
    page('/', '/', async (...asked) => ({ title: 'Stacks', ...(await fleetPage(...asked)) }));
    page('/stack', '/', (reading, query) =>
      stackPage(reading, query, (repository) => this.#options.fleet().addressOf(repository)),
    );
    page('/access', '/access', async (...asked) => ({ title: 'Access', ...(await accessPage(...asked)) }));
    page('/activity', '/activity', async (...asked) => ({
      title: 'Activity',
      ...(await activityPage(...asked)),
    }));
    page('/capacity', '/capacity', async (reading) => ({
      title: 'Capacity',
      ...(await capacityPage(reading)),
    }));
    page('/health', '/health', async (reading) => ({ title: 'Health', ...(await healthPage(reading)) }));
    app.get(stylePath, (_, reply) =>
      reply
        .type('text/css; charset=utf-8')
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(styleSheet),
    );
    for (const kind of ['csv', 'json'] as const)
      app.get(`/activity.${kind}`, (request, reply) => this.#export(request, reply, kind));
    app.get('/metrics', (request, reply) => this.#metrics(request, reply));
    app.get('/healthz', (request, reply) => this.#healthz(request, reply));
    app.setNotFoundHandler((request, reply) => this.#answer(request, reply, '', async () => undefined));
    app.setErrorHandler((error, _, reply) => {
      this.#options.onFailure(error);
      const why = 'The console could not read the database. Try again, and see the log of the worker.';
      return this.#show(reply.code(503), { title: 'Not available', body: why });
    });
  }

  async #answer(
    request: FastifyRequest,
    reply: FastifyReply,
    parent: string,
    make: MakePage,
  ): Promise<FastifyReply> {
    const viewer = viewerOf(request.raw, this.#options.fleet().console);
    if ('status' in viewer) return this.#refuse(reply, viewer);
    const found = await this.#read(viewer, (reading) => make(reading, queryOf(request)));
    if (found === undefined) {
      const body = 'There is no such page, or you may not see it.';
      return this.#show(reply.code(404), { title: 'Not found', body }, { viewer });
    }
    return this.#show(reply, found, { viewer, parent });
  }

  #read<T>(viewer: Viewer, work: (reading: Reading) => Promise<T>): Promise<T> {
    const { read, jobSchema } = this.#options;
    return read((client) => work(new Reading(client, viewer, jobSchema)));
  }

  #show(
    reply: FastifyReply,
    found: Found,
    about: { readonly viewer?: Viewer; readonly parent?: string } = {},
  ): FastifyReply {
    const shell = { fleet: this.#options.fleet().name, user: about.viewer?.name };
    const body = typeof found.body === 'string' ? html`<section><p>${found.body}</p></section>` : found.body;
    return reply
      .type('text/html; charset=utf-8')
      .send(document(shell, { ...found, body, path: about.parent ?? '' }));
  }

  /** Without the name of the fleet, or whatever else a stranger might want to know. */
  #refuse(reply: FastifyReply, { status, why }: Refusal): FastifyReply {
    return reply.code(status).type('text/plain; charset=utf-8').send(`${why}\n`);
  }

  async #export(request: FastifyRequest, reply: FastifyReply, kind: 'csv' | 'json'): Promise<FastifyReply> {
    const viewer = viewerOf(request.raw, this.#options.fleet().console);
    if ('status' in viewer) return this.#refuse(reply, viewer);
    const text = await this.#read(viewer, (reading) => exportActivity(reading, queryOf(request), kind));
    return reply
      .type(kind === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="activity.${kind}"`)
      .send(text);
  }

  async #metrics(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { metricsToken, fleet } = this.#options;
    const settings = fleet().console;
    const refusal = metricsToken === undefined ? undefined : tokenRefusal(request.raw, metricsToken);
    const viewer = metricsToken === undefined ? viewerOf(request.raw, settings) : everything;
    if (refusal !== undefined) return this.#refuse(reply, refusal);
    if ('status' in viewer) return this.#refuse(reply, viewer);
    const { type, text } = await this.#read(viewer, metricsText);
    return reply.type(type).send(text);
  }

  /** For whoever can reach it: an orchestrator has no login. */
  async #healthz(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { read, illness } = this.#options;
    const refusal = hostRefusal(request.raw, this.#options.fleet().console?.hosts);
    if (refusal !== undefined) return this.#refuse(reply, refusal);
    const late = AbortSignal.timeout(healthTimeout);
    const isAnswered = await untilAborted(
      read((client) => client.query('select 1')),
      late,
    ).then(
      () => true,
      () => false,
    );
    const why = isAnswered ? illness() : 'the database does not answer';
    return reply
      .code(why === undefined ? 200 : 503)
      .type('text/plain; charset=utf-8')
      .send(`${why ?? 'ok'}\n`);
  }
}

const everything: Viewer = { name: undefined, scope: undefined };

function tokenRefusal(request: FastifyRequest['raw'], token: string): Refusal | undefined {
  return hasToken(request, token) ? undefined : { status: 401, why: 'metrics need the bearer token' };
}

/** The first of each name. PostgreSQL takes no text with a NUL, and no text that it holds has one: it finds nothing. */
function queryOf({ query }: FastifyRequest): Query {
  const given = Object.entries(query as Record<string, string | readonly string[]>);
  return Object.fromEntries(
    given.map(([name, value]) => [
      name,
      (typeof value === 'string' ? value : value[0])?.replaceAll('\0', '\uFFFD'),
    ]),
  );
}
