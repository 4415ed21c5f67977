// A mount for tests: of the embedded service, or of a service with responses of the test, both over real HTTP.
// Invariant: the test calls `close`, which closes everything.
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import type { Call } from '../../../../src/model/call.ts';
import type { Session } from '../../../../src/model/kind.ts';
import type { Target } from '../../../../src/model/stack.ts';
import type { Answer } from '../../../../src/model/http.ts';
import { acceptListVerb } from '../../../../src/server/kernel/list-verb.ts';
import { startService } from '../../rig/embedded-service.ts';
import { connect } from '../open-connection.ts';

export interface Mount {
  readonly session: Session;
  /** requests as `GET /v1/auth/cluster/role/x`, in order; a LIST is a GET, at a canned service with `list=true` */
  readonly seen: string[];
  /** sends a call of a plan as apply does; `secrets` has the values of references to secrets */
  send(call: Call, secrets?: Readonly<Record<string, string>>): Promise<Answer>;
  /** writes without trueup */
  write(path: string, body: object): Promise<Answer>;
  close(): Promise<void>;
}

/** The embedded service with one empty mount `cluster`. */
export async function openEmbeddedMount(target: Partial<Target> = {}): Promise<Mount> {
  const seen: string[] = [];
  const server = await startService({
    seed: { mounts: ['cluster'], 'service-tokens': [{ token: 'root-token', policies: ['root'] }] },
    onRequest: ({ method, url }) => seen.push(line(method, url)),
  });
  return mountAt(server.url, target, seen, () => server.close());
}

export interface Canned {
  readonly status: number;
  readonly body?: unknown;
}

/**
 * A service with the responses of `answer`; without `list`, it does not support the verb LIST. By default it responds to reads of
 * the mount's type itself, and does not record them; without `showsType`, `answer` responds to them as well.
 */
export async function openCannedMount(
  answer: (line: string) => Canned,
  {
    target = {},
    list = true,
    showsType = true,
  }: { target?: Partial<Target>; list?: boolean; showsType?: boolean } = {},
): Promise<Mount> {
  const seen: string[] = [];
  const app = fastify({ logger: false, forceCloseConnections: true, ...(list ? acceptListVerb() : {}) });
  app.all('*', async (request, reply) => {
    const asked = line(request.method, request.url);
    const isTypeRead = showsType && asked.startsWith('GET /v1/sys/auth/');
    if (!isTypeRead) seen.push(asked);
    const { status, body }: Canned = isTypeRead
      ? { status: 200, body: { data: { type: 'cluster' } } }
      : answer(asked);
    reply.status(status).header('content-type', 'application/json');
    return reply.send(body === undefined ? '' : JSON.stringify(body));
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return mountAt(`http://127.0.0.1:${port}`, target, seen, () => app.close());
}

function line(method: string, url: string): string {
  return `${method} ${url}`;
}

function mountAt(url: string, about: Partial<Target>, seen: string[], stop: () => Promise<void>): Mount {
  const target: Target = {
    name: 'prod',
    service: 'cluster-auth',
    url: 'embedded',
    dialect: 'neutral',
    mount: 'cluster',
    ...about,
  };
  const { openSession, writer, close } = connect(url, target, 'root-token');
  return {
    session: openSession(),
    seen,
    send: (call, secrets = {}) =>
      writer.send({
        method: call.method,
        path: `/${call.path.map((segment) => encodeURIComponent(String(segment))).join('/')}`,
        repeatable: call.repeatable,
        ...(call.body === undefined ? {} : { body: withSecrets(call.body, secrets) }),
      }),
    write: (path, body) =>
      writer.send({ method: 'POST', path, body: JSON.parse(JSON.stringify(body)), repeatable: false }),
    async close() {
      await close();
      await stop();
    },
  };
}

function withSecrets(body: NonNullable<Call['body']>, secrets: Readonly<Record<string, string>>) {
  return JSON.parse(JSON.stringify(body), (_, value) => {
    const source = typeof value === 'object' && value !== null ? value.$secret : undefined;
    return source === undefined ? value : (secrets[source.env ?? source.file] ?? '');
  });
}
