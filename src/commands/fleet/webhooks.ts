/**
 * A webhook of a code host only makes a worker read a repository sooner: what is checked comes from git. A thousand webhooks for one push
 * lead to one read. The listener accepts the signature of GitHub, or the secret token of GitLab.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { normalizeRemote } from '../../ledger/git/checkout.ts';
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import { megabyte } from '../../files/read-file.ts';
import type { FleetRepository } from './fleet-file.ts';

/** Seconds between two reads of a repository because of webhooks, at least. A webhook that comes earlier is remembered. */
const shortestPause = 5;

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

interface WebhookOptions extends ListenAddress {
  readonly secret: string;
  /** read at each use: the fleet file may change */
  repositories(): readonly FleetRepository[];
  /** records that these repositories have something new */
  ask(names: readonly string[]): Promise<void>;
}

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** @throws when the address cannot be used */
export async function listenForWebhooks(options: WebhookOptions): Promise<Listening> {
  const { host, port, secret, repositories, ask } = options;
  // Loaded here, because other commands need no server.
  const { fastify } = await import('fastify');
  const server = fastify({ bodyLimit: megabyte, requestTimeout: 10_000, logger: false });
  // The signature is about the bytes, not the parsed JSON.
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.post('/webhook', async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    if (!isGenuine(request.headers, body, secret))
      return reply.code(401).send({ error: 'the signature or the token is wrong' });
    const push = pushIn(body);
    if (push === undefined) return reply.code(200).send({ repositories: 0 });
    const named = repositories().filter((repository) => isOf(push, repository));
    try {
      await ask(named.map(({ name }) => name));
    } catch {
      // The code host sends it again.
      return reply.code(503).send({ error: 'the database of the fleet does not answer' });
    }
    return reply.code(202).send({ repositories: named.length });
  });
  const url = await server.listen({ host, port });
  return { url, close: () => server.close() };
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

function isGenuine(headers: Headers, body: Buffer, secret: string): boolean {
  const signature = headers['x-hub-signature-256'];
  if (signature !== undefined)
    return isSame(signature, `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  return isSame(headers['x-gitlab-token'], secret);
}

/** Compares in constant time. The hashes have the same length. */
function isSame(given: string | readonly string[] | undefined, wanted: string): boolean {
  if (typeof given !== 'string') return false;
  const hash = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(hash(given), hash(wanted));
}

interface Push {
  /** in the form of `normalizeRemote` */
  readonly addresses: ReadonlySet<string>;
  /** `refs/heads/main` */
  readonly ref: Json | undefined;
}

/** The push that a webhook reports; undefined for other events, such as a ping. */
function pushIn(body: Buffer): Push | undefined {
  let payload: Json;
  const text = body.toString();
  try {
    // GitHub sends JSON alone, or as a field of a form, depending on the settings of the webhook.
    payload = JSON.parse(
      (text.startsWith('payload=') && new URLSearchParams(text).get('payload')) || text,
    ) as Json;
  } catch {
    return undefined;
  }
  const ref = memberOf(payload, 'ref');
  // GitHub sends a "repository", and GitLab a "project".
  const places = ['repository', 'project'].map((name) => memberOf(payload, name)).filter(isJsonObject);
  const addresses = places.flatMap((place) =>
    ['clone_url', 'ssh_url', 'git_url', 'html_url', 'git_http_url', 'git_ssh_url', 'web_url'].flatMap(
      (name) => {
        const address = memberOf(place, name);
        return typeof address === 'string' ? [normalizeRemote(address)] : [];
      },
    ),
  );
  return typeof ref === 'string' && addresses.length > 0 ? { addresses: new Set(addresses), ref } : undefined;
}

function isOf({ addresses, ref }: Push, repository: FleetRepository): boolean {
  return addresses.has(normalizeRemote(repository.url)) && ref === `refs/heads/${repository.ref}`;
}

/** Asks for a read of these repositories soon, by any worker. */
export async function askForRead(client: PostgresClient, names: readonly string[]): Promise<void> {
  await client.query(
    `insert into trueup_fleet.pushes (repository, told)
     select distinct name, trueup_fleet.now() from unnest($1::text[]) as given (name)
     on conflict (repository) do update set told = excluded.told`,
    [names],
  );
}

/** Takes the repositories that a webhook reported and that no worker has read since. This worker reads them now. */
export async function takePushes(client: PostgresClient, names: readonly string[]): Promise<string[]> {
  const { rows } = await client.query(
    `update trueup_fleet.pushes set read = trueup_fleet.now()
     where repository = any($1) and (read is null
       or told > read and read < trueup_fleet.now() - make_interval(secs => ${shortestPause}))
     returning repository`,
    [names],
  );
  return rows.map(({ repository }) => String(repository));
}
