/** A service with a mount and a cluster that reviews JWTs, and a client that logs in and uses the tokens, over real HTTP. */
import { onTestFinished } from 'vitest';
import type { ServerOptions } from '../../../../src/server/start-server.ts';
import { startServer } from '../../../../src/server/start-server.ts';
import type { Seed } from '../../../../src/server/seed/seed-schema.ts';
import { type IssuingCluster, issuingCluster } from './issuing-cluster.ts';

export interface Reply {
  readonly status: number;
  readonly errors: readonly string[] | undefined;
  readonly warnings: readonly string[] | null | undefined;
  readonly data: Record<string, unknown>;
  readonly auth: Auth;
  readonly body: Record<string, unknown>;
}

export interface Auth {
  readonly client_token: string;
  readonly accessor: string;
  readonly policies: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly lease_duration: number;
  readonly renewable: boolean;
  readonly token_type: string;
  readonly entity_id: string;
  readonly num_uses: number;
}

export const ROOT = 'root-token';

/** The names that a dialect has for the fields of these tests. */
const WORDS = {
  neutral: { mount: 'cluster', host: 'cluster_host', ca: 'cluster_ca_cert', token: 'x-service-token' },
  vault: { mount: 'kubernetes', host: 'kubernetes_host', ca: 'kubernetes_ca_cert', token: 'x-vault-token' },
  openbao: { mount: 'kubernetes', host: 'kubernetes_host', ca: 'kubernetes_ca_cert', token: 'x-vault-token' },
} as const;

export type DialectName = keyof typeof WORDS;
export const DIALECTS = Object.keys(WORDS) as DialectName[];

export interface LoginsOptions {
  readonly dialect?: DialectName;
  readonly seed?: Seed;
  readonly now?: () => Date;
  readonly clusterTimeoutMs?: number;
  /** the folder with the files of the service's own pod */
  readonly inPod?: string;
}

/** A role for the account `api` in the namespace `payments`. */
const ROLE = { bound_service_account_names: ['api'], bound_service_account_namespaces: ['payments'] };

export class Logins {
  readonly url: string;
  readonly cluster: IssuingCluster;
  readonly mount: string;
  readonly #words: (typeof WORDS)[DialectName];

  constructor(url: string, cluster: IssuingCluster, dialect: DialectName) {
    this.url = url;
    this.cluster = cluster;
    this.#words = WORDS[dialect];
    this.mount = this.#words.mount;
  }

  /** Sends to `/v1/<path>`. @param token null for none */
  async send(method: string, path: string, body?: unknown, token: string | null = ROOT): Promise<Reply> {
    const response = await fetch(`${this.url}/v1/${path}`, {
      method,
      headers: token === null ? {} : { [this.#words.token]: token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    return { ...(parsed as unknown as Reply), status: response.status, body: parsed };
  }

  /** Writes the config of the mount; by default with the cluster over HTTP. */
  async configure(config: Record<string, unknown> = {}): Promise<Reply> {
    const { host, ca } = this.#words;
    const { tls, ...more } = config;
    const base = {
      [host]: tls === true ? this.cluster.tlsUrl : this.cluster.url,
      [ca]: this.cluster.authority,
    };
    return this.send('POST', `auth/${this.mount}/config`, { ...base, ...more });
  }

  role(fields: Record<string, unknown> = {}, name = 'app'): Promise<Reply> {
    return this.send('POST', `auth/${this.mount}/role/${name}`, { ...ROLE, ...fields });
  }

  login(jwt: unknown, role: unknown = 'app'): Promise<Reply> {
    return this.send('POST', `auth/${this.mount}/login`, { role, jwt }, null);
  }

  /** Logs in with a new JWT of the account `api`. @returns the token */
  async token(): Promise<string> {
    const reply = await this.login(await this.cluster.issue());
    if (reply.status !== 200)
      throw new Error(`the login was answered ${reply.status}: ${reply.errors?.join()}`);
    return reply.auth.client_token;
  }

  async lookUp(token: string): Promise<Record<string, unknown>> {
    return (await this.send('GET', 'auth/token/lookup-self', undefined, token)).data;
  }
}

/** Starts the service and the cluster, and writes the config and the role `app`. */
export async function serveLogins(options: LoginsOptions = {}): Promise<Logins> {
  const { dialect = 'neutral', seed = {}, ...more } = options;
  const { mount } = WORDS[dialect];
  const cluster = await issuingCluster();
  const server = await startServer({
    data: ':memory:',
    relaxed: true,
    dialects: [dialect],
    seed: {
      ...seed,
      mounts: [mount],
      'service-tokens': [
        { token: ROOT, name: 'root', policies: ['root'] },
        ...(seed['service-tokens'] ?? []),
      ],
    },
    ...(more satisfies Partial<ServerOptions>),
  });
  onTestFinished(() => server.close());
  const logins = new Logins(server.url, cluster, dialect);
  await logins.configure();
  await logins.role();
  return logins;
}
