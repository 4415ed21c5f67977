/**
 * The web console of a worker: read-only pages that the server renders, without scripts. The viewer is known before a page is chosen, and
 * each statement is limited to what that viewer may see.
 */
import cookies from '@fastify/cookie';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import { untilAborted } from '../../../model/http.ts';
import { hasToken, hostRefusal, type Refusal, scopeOf, type Viewer, viewerOf } from './access.ts';
import { accessPage } from './access-page.ts';
import { activityPage, exportActivity } from './activity-page.ts';
import { capacityPage } from './capacity-page.ts';
import { fleetPage, type Query } from './fleet-page.ts';
import { healthPage } from './health-page.ts';
import { type Content, html } from './html.ts';
import { document, link, stylePath, styleSheet } from './layout.ts';
import { Login } from './login.ts';
import { metricsText } from './metrics.ts';
import { Reading } from './reading.ts';
import type { ConsoleSettings } from './settings.ts';
import { stackPage } from './stack-page.ts';

interface ConsoleOptions {
  readonly host: string;
  /** 0: any free one */
  readonly port: number;
  /** the fleet, by the newest version of its file */
  fleet(): {
    readonly name: string;
    readonly console: ConsoleSettings | undefined;
    /** address of a repository, by its name */
    addressOf(repository: string): string | undefined;
  };
  /** reads one snapshot, and writes nothing */
  read<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  readonly jobSchema: string;
  /** why the worker does not take what is due; undefined when it does */
  healthProblem(): string | undefined;
  /** the value of an environment variable of the worker; undefined when it has none */
  secret(variable: string): string | undefined;
  /** milliseconds since 1970 */
  now(): number;
  /** a UUID, new with each call */
  newId(): string;
  /** the bearer token that allows reading the metrics of the whole fleet */
  readonly metricsToken: string | undefined;
  readonly onFailure: (error: unknown) => void;
}

/** Milliseconds in which a request must be complete, and in which a healthy database answers. */
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
    const isSignOut = request.method === 'POST' && request.routeOptions.url === '/logout';
    if (request.method !== 'GET' && request.method !== 'HEAD' && !isSignOut)
      return reply.code(405).header('allow', 'GET, HEAD').type('text/plain').send('the console only reads\n');
    return undefined;
  });
  await app.register(cookies);
  // The form that signs out has no fields.
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, _body, done) => done(null),
  );
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

interface FoundPage {
  readonly title: string;
  readonly head?: Content;
  readonly body: Content;
}

type MakePage = (reading: Reading, query: Query) => Promise<FoundPage | undefined>;

class Pages {
  readonly #options: ConsoleOptions;
  readonly #login: Login;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    this.#login = new Login({ ...options, settings: () => options.fleet().console });
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
    this.#login.serve(app);
    app.setErrorHandler((error: { readonly statusCode?: number }, _, reply) => {
      const { statusCode = 500 } = error;
      if (statusCode < 500)
        return reply.code(statusCode).type('text/plain').send('the request is not valid\n');
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
    const viewer = await this.#viewer(request);
    if (viewer === undefined) return this.#sendToLogin(request, reply);
    if ('status' in viewer) return this.#refuse(reply, viewer);
    const found = await this.#read(viewer, (reading) => make(reading, queryOf(request)));
    if (found === undefined) {
      const body = 'There is no such page, or you may not see it.';
      return this.#show(reply.code(404), { title: 'Not found', body }, { viewer });
    }
    return this.#show(reply, found, { viewer, parent });
  }

  /** The viewer, or why the request is refused; undefined if the user must log in first. */
  async #viewer(request: FastifyRequest): Promise<Viewer | Refusal | undefined> {
    const settings = this.#options.fleet().console;
    if (settings?.oidc === undefined) return viewerOf(request.raw, settings);
    const session = await this.#login.sessionOf(request);
    if (session === undefined || 'status' in session) return session;
    return {
      ...{ name: session.user, canSignOut: true },
      scope: scopeOf(new Set(session.groups), settings.teams),
    };
  }

  #sendToLogin({ url }: FastifyRequest, reply: FastifyReply): FastifyReply {
    return reply.redirect(link('/login', { to: url === '/' ? undefined : url }), 303);
  }

  #read<T>(viewer: Viewer, work: (reading: Reading) => Promise<T>): Promise<T> {
    const { read, jobSchema } = this.#options;
    return read((client) => work(new Reading(client, viewer, jobSchema)));
  }

  #show(
    reply: FastifyReply,
    found: FoundPage,
    about: { readonly viewer?: Viewer; readonly parent?: string } = {},
  ): FastifyReply {
    const { name: user, canSignOut = false } = about.viewer ?? {};
    const shell = { fleet: this.#options.fleet().name, user, canSignOut };
    const body = typeof found.body === 'string' ? html`<section><p>${found.body}</p></section>` : found.body;
    return reply
      .type('text/html; charset=utf-8')
      .send(document(shell, { ...found, body, path: about.parent ?? '' }));
  }

  /** Answers with plain text, which shows nothing about the fleet. */
  #refuse(reply: FastifyReply, { status, why }: Refusal): FastifyReply {
    return reply.code(status).type('text/plain; charset=utf-8').send(`${why}\n`);
  }

  async #export(request: FastifyRequest, reply: FastifyReply, kind: 'csv' | 'json'): Promise<FastifyReply> {
    const viewer = await this.#viewer(request);
    if (viewer === undefined)
      return request.headers.accept?.includes('text/html') === true
        ? this.#sendToLogin(request, reply)
        : this.#refuse(reply, withoutLogin);
    if ('status' in viewer) return this.#refuse(reply, viewer);
    const text = await this.#read(viewer, (reading) => exportActivity(reading, queryOf(request), kind));
    return reply
      .type(kind === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8')
      .header('content-disposition', `attachment; filename="activity.${kind}"`)
      .send(text);
  }

  async #metrics(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { metricsToken } = this.#options;
    const refusal = metricsToken === undefined ? undefined : tokenRefusal(request.raw, metricsToken);
    if (refusal !== undefined) return this.#refuse(reply, refusal);
    const viewer = metricsToken === undefined ? await this.#viewer(request) : everything;
    if (viewer === undefined) return this.#refuse(reply, withoutLogin);
    if ('status' in viewer) return this.#refuse(reply, viewer);
    const { type, text } = await this.#read(viewer, metricsText);
    return reply.type(type).send(text);
  }

  /** Open to everybody who can reach it, because an orchestrator has no login. */
  async #healthz(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { read, healthProblem } = this.#options;
    const { hosts = [], oidc } = this.#options.fleet().console ?? {};
    const ownHosts = oidc === undefined ? [] : [new URL(oidc.url).hostname];
    const refusal = hostRefusal(request.raw, [...hosts, ...ownHosts]);
    if (refusal !== undefined) return this.#refuse(reply, refusal);
    const timeout = AbortSignal.timeout(healthTimeout);
    const isAnswered = await untilAborted(
      read((client) => client.query('select 1')),
      timeout,
    ).then(
      () => true,
      () => false,
    );
    const why = isAnswered ? healthProblem() : 'the database does not answer';
    return reply
      .code(why === undefined ? 200 : 503)
      .type('text/plain; charset=utf-8')
      .send(`${why ?? 'ok'}\n`);
  }
}

const withoutLogin: Refusal = {
  status: 401,
  why: 'you are not logged in: open the console in a browser, or read metrics with their token',
};

const everything: Viewer = { name: undefined, scope: undefined };

function tokenRefusal(request: FastifyRequest['raw'], token: string): Refusal | undefined {
  return hasToken(request, token) ? undefined : { status: 401, why: 'metrics need the bearer token' };
}

/** The first value of each name. A NUL is replaced: PostgreSQL refuses texts with one, and with the replacement nothing is found. */
function queryOf({ query }: FastifyRequest): Query {
  const given = Object.entries(query as Record<string, string | readonly string[]>);
  return Object.fromEntries(
    given.map(([name, value]) => [
      name,
      (typeof value === 'string' ? value : value[0])?.replaceAll('\0', '\uFFFD'),
    ]),
  );
}
