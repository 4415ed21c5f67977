/**
 * Opens the connections to one target, through the proxy from the environment, and restricts each to its purpose: other requests
 * are refused at the lowest level.
 */
import { type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { quoted } from '../../model/quoted.ts';

/** Variables by name: `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`; names in lower case take precedence. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface DispatcherOptions {
  readonly url: URL;
  /** maximal number of connections */
  readonly connections: number;
  /** milliseconds to open a connection */
  readonly connectTimeout: number;
  /** PEM; trusted in place of the system's authorities */
  readonly caCert?: string;
  readonly env: Environment;
}

interface OpenDispatcher {
  readonly dispatcher: Dispatcher;
  /** the address of the proxy without credentials, for messages */
  readonly proxy?: string;
  /** the password of the proxy, as written and decoded */
  readonly secrets: readonly string[];
}

/** The address of the proxy in the environment is invalid. The message names the variable and never its value. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';

  constructor(variable: string) {
    super(
      `the environment variable ${quoted(variable)} is not the address of a proxy (it is not shown, because it may hold a password); write one such as http://proxy.internal:3128`,
    );
  }
}

/** @throws ProxyError */
export function openDispatcher({
  url,
  connections,
  connectTimeout,
  caCert,
  env,
}: DispatcherOptions): OpenDispatcher {
  const proxy = proxyFor(url, env)?.address;
  const trust = caCert === undefined ? {} : { ca: caCert };
  // Empty texts and not absent values, because for absent values undici reads the environment of the process.
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: proxy ?? '',
    httpsProxy: proxy ?? '',
    noProxy: variable(env, 'no_proxy') ?? '',
    connections,
    connectTimeout,
    allowH2: false,
    connect: trust,
    requestTls: trust,
  });
  if (proxy === undefined) return { dispatcher, secrets: [] };
  const { protocol, host, password } = new URL(proxy);
  return { dispatcher, proxy: `${protocol}//${host}`, secrets: [password, decodeURIComponent(password)] };
}

/** The proxy that the environment asks for. */
interface Proxy {
  /** with its credentials */
  readonly address: string;
  /** the name of the variable that holds it */
  readonly variable: string;
}

/**
 * No proxy is used for addresses of this machine, such as that of the embedded service: a proxy elsewhere cannot reach them.
 * @throws ProxyError
 */
export function proxyFor(url: URL, env: Environment): Proxy | undefined {
  if (/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)) return undefined;
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const value = variable(env, name);
  if (value === undefined || isExcluded(url, variable(env, 'no_proxy') ?? '')) return undefined;
  const address = value.includes('://') ? value : `http://${value}`;
  const known = env[name] === value ? name : name.toUpperCase();
  if (!isAddress(address)) throw new ProxyError(known);
  return { address, variable: known };
}

/** Whether NO_PROXY names the host, with or without its port; `example.com` and `.example.com` include all hosts below it. */
function isExcluded(url: URL, noProxy: string): boolean {
  const host = bareHost(url.hostname);
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return noProxy.split(/[,\s]+/).some((entry) => {
    const [, named = '', itsPort = port] = /^(\[.*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? [];
    const name = bareHost(named.toLowerCase()).replace(/\.$/, '');
    if (name === '' || itsPort !== port) return false;
    const suffix = name.replace(/^\*?\./, '');
    return name === '*' || (!name.startsWith('*') && host === suffix) || host.endsWith(`.${suffix}`);
  });
}

/** Without the brackets of an IPv6 address, and without a dot at the end. */
function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function variable(env: Environment, name: string): string | undefined {
  return [env[name], env[name.toUpperCase()]].find((value) => value !== undefined && value !== '');
}

/** Of scheme, user, host and port only: undici throws for a path, a query or a fragment. */
function isAddress(proxy: string): boolean {
  try {
    const { protocol, username, password, pathname, search, hash } = new URL(proxy);
    const isPlain = pathname === '/' && search === '' && hash === '';
    return (
      isPlain && /^https?:$/.test(protocol) && decodeURIComponent(`${username}${password}`) !== undefined
    );
  } catch {
    return false;
  }
}

// Restricted dispatchers: a plan can only read, a login only log in, a query of permissions only send that query, an audit trail
// only read the trail, and a code host only use paths below its API.

/** The dispatcher throws, before a connection is opened, for every request for which `admits` is false. */
function restrict(
  dispatcher: Dispatcher,
  purpose: string,
  admits: (request: { readonly method: string; readonly path: string }) => boolean,
): Dispatcher {
  return dispatcher.compose((dispatch) => (request, handler) => {
    if (!admits(request)) throw new Error(`${purpose} may not send ${request.method} ${request.path}`);
    return dispatch(request, handler);
  });
}

export function readsOnly(dispatcher: Dispatcher): Dispatcher {
  return restrict(dispatcher, 'a reader', ({ method }) => method === 'GET' || method === 'LIST');
}

export function writesOnly(dispatcher: Dispatcher): Dispatcher {
  return restrict(dispatcher, 'a writer', ({ method }) =>
    ['POST', 'PATCH', 'PUT', 'DELETE'].includes(method),
  );
}

/** For a login: only POST to these paths. They are complete, with the path of the target's URL. */
export function loginsOnly(dispatcher: Dispatcher, paths: readonly string[]): Dispatcher {
  return restrict(dispatcher, 'a login', ({ method, path }) => method === 'POST' && paths.includes(path));
}

/** For a query of a token's permissions: only POST to this path, which changes nothing. It is complete, as above. */
export function asksRightsOnly(dispatcher: Dispatcher, path: string): Dispatcher {
  return restrict(
    dispatcher,
    'a query of permissions',
    (request) => request.method === 'POST' && request.path === path,
  );
}

/** For an audit trail: only GET of this path, with any query. It is complete, as above. */
export function auditsOnly(dispatcher: Dispatcher, path: string): Dispatcher {
  return restrict(
    dispatcher,
    'a reader of audit trails',
    (request) => request.method === 'GET' && request.path.split('?', 1)[0] === path,
  );
}

/** For the API of a code host: paths below its address, and its GraphQL API. They are complete, as above. */
export function codeHostOnly(dispatcher: Dispatcher, prefix: string, graphql: string): Dispatcher {
  return restrict(dispatcher, 'a code host', ({ path }) => path.startsWith(prefix) || path === graphql);
}
