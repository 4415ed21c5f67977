/**
 * A small secrets service on loopback with one cluster-auth mount. It behaves like real ones where that matters to a client,
 * and records requests. Source: wire/cluster-auth. It is closed at the end of the test.
 */
import { type Loopback, listen, type Recorded, type Reply } from '../http/loopback.ts';
import { admitJwt, type JwtMount } from './jwt-mount.ts';
import type { OtherMethod } from './other-methods.ts';
import { type Fields, Refusal, RoleRecord, roleFieldsOf } from './role-record.ts';

/** How secrets services differ from each other. */
export interface Habits {
  /** what the service calls the host and the CA certificate of the cluster */
  readonly host: string;
  readonly ca: string;
  readonly tokenHeader: string;
  readonly namespaceHeader: string;
  readonly mount: string;
  /** what the service calls the type of a mount of this method */
  readonly type: string;
  /**
   * Who can read the type of the mount: only an administrator, at `sys/auth`; everyone with any right below the mount, at
   * `sys/internal/ui/mounts`; or nobody, as with a proxy that forwards only requests to the mount (2.9).
   */
  readonly showsTypeTo: 'administrators' | 'everyone' | 'nobody';
  /** the auth method that is mounted there instead of cluster auth */
  readonly other?: OtherMethod;
  /** the namespace that the mount is in; requests for another one find nothing */
  readonly namespace?: string;
  /** how the mount `ci/jwt` checks logins; by default it accepts one known JWT */
  readonly logins?: JwtMount;
  /** a proxy in front refuses the verb LIST */
  readonly refusesList?: boolean;
  /** without a CA certificate a config that may not use that of the pod is refused (2.2) */
  readonly wantsCa: boolean;
  /** a write of a role without an audience gets 200 with a warning (2.5) */
  readonly warnsOfAudience: boolean;
  /** a role can bind tokens to the IP address of the login (2.5) */
  readonly bindsStrictly: boolean;
  /** the config has a setting for which manifests have no field (2.2) */
  readonly annotations: boolean;
}

export const vault: Habits = {
  host: 'kubernetes_host',
  ca: 'kubernetes_ca_cert',
  tokenHeader: 'x-vault-token',
  namespaceHeader: 'x-vault-namespace',
  mount: 'kubernetes',
  type: 'kubernetes',
  showsTypeTo: 'everyone',
  wantsCa: false,
  warnsOfAudience: true,
  bindsStrictly: false,
  annotations: true,
};

export const openbao: Habits = {
  ...vault,
  wantsCa: true,
  warnsOfAudience: false,
  bindsStrictly: true,
  annotations: false,
};

export const neutral: Habits = {
  host: 'cluster_host',
  ca: 'cluster_ca_cert',
  tokenHeader: 'x-service-token',
  namespaceHeader: 'x-service-namespace',
  mount: 'cluster',
  type: 'cluster',
  showsTypeTo: 'nobody',
  wantsCa: false,
  warnsOfAudience: false,
  bindsStrictly: false,
  annotations: false,
};

/** Tokens that may write the mount, that may read it, and that a login returns. */
export const tokens = { writer: 'hvs.writer', reader: 'hvs.reader', login: 'hvs.login' };

/** The known login: its mount, role and JWT. */
export const login = { mount: 'ci/jwt', role: 'deployer', jwt: 'header.payload.signature' };

export interface SecretsService {
  readonly url: string;
  readonly requests: Loopback['requests'];
  /** method and path below `/v1/` of each request */
  asked(): string[];
  /** from now on, refuses requests whose line matches, such as `GET auth/kubernetes/config`, with this status */
  refuse(line: RegExp, status: number): void;
  /** of writes to the mount only: `POST config` */
  writes(): string[];
  /** the bodies of the writes to this path below the mount, in order */
  bodies(below: string): unknown[];
  /** members of request bodies that this service does not have, and would ignore without an error */
  readonly unknownMembers: string[];
  readonly roles: Map<string, RoleRecord>;
  /** the stored config, or undefined; the reviewer JWT included */
  config(): Record<string, unknown> | undefined;
  /** clears the recorded requests */
  clear(): void;
  /** tokens of logins that have not been revoked */
  readonly loggedIn: Set<string>;
}

export async function serveSecrets(habits: Habits): Promise<SecretsService> {
  const service = new Service(habits);
  const refusals: { line: RegExp; status: number }[] = [];
  const server = await listen((request) => {
    const refusal = refusals.find(({ line }) => line.test(lineOf(request)));
    return refusal === undefined
      ? service.answer(request)
      : { status: refusal.status, headers: json, body: { errors: ['refused by the test'] } };
  });
  const prefix = `/v1/auth/${habits.mount}/`;
  const writes = () =>
    server.requests.filter(
      ({ method, path }) => path.startsWith(prefix) && method !== 'GET' && method !== 'LIST',
    );
  const below = ({ path }: Recorded) => path.slice(prefix.length);
  return {
    url: server.url,
    requests: server.requests,
    asked: () => server.requests.map(lineOf),
    refuse: (line, status) => {
      refusals.push({ line, status });
    },
    writes: () => writes().map((request) => `${request.method} ${below(request)}`),
    bodies: (path) => writes().flatMap((request) => (below(request) === path ? [request.body] : [])),
    unknownMembers: service.unknownMembers,
    roles: service.roles,
    config: () => service.config,
    clear: () => {
      server.requests.length = 0;
      server.lines.length = 0;
    },
    loggedIn: service.loggedIn,
  };
}

function lineOf({ method, path }: Recorded): string {
  return `${method} ${path.replace('/v1/', '')}`;
}

class Service {
  readonly unknownMembers: string[] = [];
  readonly roles = new Map<string, RoleRecord>();
  readonly loggedIn = new Set<string>();
  config: Record<string, unknown> | undefined;
  readonly #habits: Habits;
  #logins = 0;

  constructor(habits: Habits) {
    this.#habits = habits;
  }

  async answer(request: Recorded): Promise<Reply> {
    try {
      return await this.#route(request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: error.status, headers: json, body: { errors: error.errors } };
    }
  }

  #route(request: Recorded): Reply | Promise<Reply> {
    const { method, headers, body = {} } = request;
    const { pathname, searchParams } = new URL(request.path, 'http://localhost');
    const path = decodeURIComponent(pathname).replace('/v1/', '');
    const { mount, namespace } = this.#habits;
    if (headers[this.#habits.namespaceHeader] !== namespace) throw new Refusal(404, 'namespace not found');
    if (path === `auth/${login.mount}/login`) return this.#logIn(body as Fields);
    const token = headers[this.#habits.tokenHeader] ?? '';
    if (![tokens.writer, tokens.reader, ...this.loggedIn].includes(token))
      throw new Refusal(403, 'permission denied');
    if (path === 'auth/token/revoke-self') {
      this.loggedIn.delete(token);
      return { status: 204, headers: json };
    }
    if (path === `sys/auth/${mount}`) return this.#showType(this.#habits.showsTypeTo === 'administrators');
    if (path === `sys/internal/ui/mounts/auth/${mount}`)
      return this.#showType(this.#habits.showsTypeTo !== 'nobody', { path: `${mount}/` });
    if (!path.startsWith(`auth/${mount}/`))
      throw new Refusal(404, `no handler for route "${path}". route entry not found.`);
    const reads = method === 'GET' || method === 'LIST';
    if (!reads && token === tokens.reader)
      throw new Refusal(403, '1 error occurred:\n\t* permission denied\n\n');
    const lists = method === 'LIST' || searchParams.get('list') === 'true';
    return this.#below(path.slice(`auth/${mount}/`.length), lists ? 'LIST' : method, request);
  }

  /** @param isAllowed whether the token may read the type */
  #showType(isAllowed: boolean, more: object = {}): Reply {
    if (!isAllowed) throw new Refusal(403, '1 error occurred:\n\t* permission denied\n\n');
    const { type, other } = this.#habits;
    const entry = {
      type: other?.type ?? type,
      description: '',
      accessor: 'auth_1',
      local: false,
      options: {},
    };
    return envelope({ data: { ...entry, ...more } });
  }

  #below(path: string, verb: string, { method, body = {} }: Recorded): Reply {
    if (this.#habits.other !== undefined) return answerOfOtherMethod(this.#habits.other, path, verb);
    if (method === 'LIST' && this.#habits.refusesList) throw new Refusal(405);
    const name = /^role\/(\w(?:[\w.-]*\w)?)$/.exec(path)?.[1]?.toLowerCase();
    const operations: Readonly<Record<string, () => Reply>> =
      path === 'config'
        ? { GET: () => this.#readConfig(), POST: () => this.#writeConfig(body as Record<string, unknown>) }
        : path === 'role'
          ? { LIST: () => this.#list() }
          : name === undefined
            ? {}
            : {
                GET: () => this.#readRole(name),
                POST: () => this.#writeRole(name, body as Fields),
                DELETE: () => {
                  this.roles.delete(name);
                  return { status: 204, headers: json };
                },
              };
    const found = operations[verb];
    if (found !== undefined) return found();
    if (Object.keys(operations).length > 0)
      throw new Refusal(405, '1 error occurred:\n\t* unsupported operation\n\n');
    throw new Refusal(404, '1 error occurred:\n\t* unsupported path\n\n');
  }

  async #logIn({ role, jwt }: Fields): Promise<Reply> {
    const { logins } = this.#habits;
    if (logins === undefined) this.#checkKnown(role, jwt);
    else await admitJwt(logins, role, jwt);
    this.#logins += 1;
    const token = `${tokens.login}-${this.#logins}`;
    this.loggedIn.add(token);
    const auth = { client_token: token, lease_duration: 1200, renewable: true, num_uses: 0, orphan: true };
    return envelope({ auth });
  }

  #checkKnown(role: unknown, jwt: unknown): void {
    if (role !== login.role) throw new Refusal(400, `invalid role name "${String(role)}"`);
    if (jwt !== login.jwt) throw new Refusal(403, 'permission denied');
  }

  #readConfig(): Reply {
    if (this.config === undefined) throw new Refusal(404);
    const { token_reviewer_jwt: jwt, ...rest } = this.config;
    return envelope({ data: { ...rest, token_reviewer_jwt_set: jwt !== '' } });
  }

  /** Replaces the config: a field that is not sent gets its default (2.2). */
  #writeConfig(sent: Record<string, unknown>): Reply {
    const { host, ca, annotations } = this.#habits;
    const defaults: Record<string, unknown> = {
      [host]: '',
      [ca]: '',
      token_reviewer_jwt: '',
      pem_keys: [],
      issuer: '',
      disable_iss_validation: true,
      disable_local_ca_jwt: false,
      ...(annotations ? { use_annotations_as_alias_metadata: false } : {}),
    };
    this.unknownMembers.push(...Object.keys(sent).filter((name) => !(name in defaults)));
    const next = { ...defaults, ...sent };
    const keys = Array.isArray(next['pem_keys']) ? next['pem_keys'] : [next['pem_keys']];
    next['pem_keys'] = keys.map((key) => String(key).trim());
    if (next[host] === '') throw new Refusal(400, 'no host provided');
    if (this.#habits.wantsCa && next[ca] === '' && next['disable_local_ca_jwt'] === true)
      throw new Refusal(400, `${ca} must be given when disable_local_ca_jwt is true`);
    const path = '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt';
    if (next[ca] === '' && next['disable_local_ca_jwt'] !== true)
      throw new Refusal(400, `open ${path}: no such file or directory`);
    this.config = next;
    return { status: 204, headers: json };
  }

  #list(): Reply {
    const keys = [...this.roles.keys()].sort();
    // An empty list is 404 (2.1).
    if (keys.length === 0) throw new Refusal(404);
    return envelope({ data: { keys } });
  }

  #readRole(name: string): Reply {
    const role = this.roles.get(name);
    if (role === undefined) throw new Refusal(404);
    return envelope({ data: role.answer() });
  }

  #writeRole(name: string, sent: Fields): Reply {
    const fields = roleFieldsOf(this.#habits);
    this.unknownMembers.push(...Object.keys(sent).filter((field) => !fields.includes(field)));
    const role = this.roles.get(name) ?? new RoleRecord(fields);
    role.write(sent);
    this.roles.set(name, role);
    if (!this.#habits.warnsOfAudience || role.answer()['audience'] !== undefined)
      return { status: 204, headers: json };
    return envelope({ warnings: [`Role ${name} does not have an audience configured. Set one.`] });
  }
}

/** Another method accepts all writes of roles and config as its own, which is why a wrong mount is dangerous. */
function answerOfOtherMethod({ roles, config }: OtherMethod, path: string, verb: string): Reply {
  const found = path === 'config' ? config : roles.get(path.replace(/^role\//, ''));
  if (path === 'config' && config === undefined)
    throw new Refusal(404, '1 error occurred:\n\t* unsupported path\n\n');
  if (verb === 'LIST') {
    if (roles.size === 0) throw new Refusal(404);
    return envelope({ data: { keys: [...roles.keys()].sort() } });
  }
  if (verb !== 'GET') return { status: 204, headers: json };
  if (found === undefined) throw new Refusal(404);
  return envelope({ data: found });
}

const json = { 'content-type': 'application/json', 'cache-control': 'no-store' };

function envelope(parts: { data?: unknown; auth?: unknown; warnings?: readonly string[] }): Reply {
  const empty = { lease_id: '', renewable: false, lease_duration: 0, data: null, wrap_info: null };
  const body = { request_id: 'b3a1', ...empty, warnings: null, auth: null, ...parts };
  return { headers: json, body };
}
