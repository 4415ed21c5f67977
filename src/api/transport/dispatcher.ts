/**
 * Opens the connections to one target, through the proxy from the environment, and restricts each to its purpose: other requests
 * are refused at the lowest level.
 */
import { type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { type Environment, proxyFor, variable } from './proxy.ts';

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
  // Builds leave HTTP/2 out: loading it takes a tenth of the time of a small plan.
  const allowH2 = false;
  // Empty texts and not absent values, because for absent values undici reads the environment of the process.
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: proxy ?? '',
    httpsProxy: proxy ?? '',
    noProxy: variable(env, 'no_proxy') ?? '',
    connections,
    connectTimeout,
    allowH2,
    connect: trust,
    requestTls: { ...trust, allowH2 },
    ...(proxy?.startsWith('https:') ? { proxyTls: { allowH2 } } : {}),
  });
  if (proxy === undefined) return { dispatcher, secrets: [] };
  const { protocol, host, password } = new URL(proxy);
  return { dispatcher, proxy: `${protocol}//${host}`, secrets: [password, decodeURIComponent(password)] };
}

// Restricted dispatchers: a plan can only read, a login only log in, a query of permissions only send that query, an audit trail
// only read the trail, and a code host only use paths below its API.

/** The dispatcher throws, before a connection is opened, for every request for which `allows` is false. */
function restrict(
  dispatcher: Dispatcher,
  purpose: string,
  allows: (request: { readonly method: string; readonly path: string }) => boolean,
): Dispatcher {
  return dispatcher.compose((dispatch) => (request, handler) => {
    if (!allows(request)) throw new Error(`${purpose} may not send ${request.method} ${request.path}`);
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

/** For a login: only POST to these paths, which include the path of the target's URL. */
export function loginsOnly(dispatcher: Dispatcher, paths: readonly string[]): Dispatcher {
  return restrict(dispatcher, 'a login', ({ method, path }) => method === 'POST' && paths.includes(path));
}

/** For a query of a token's permissions: only POST to this full path, which changes nothing. */
export function asksRightsOnly(dispatcher: Dispatcher, path: string): Dispatcher {
  return restrict(
    dispatcher,
    'a query of permissions',
    (request) => request.method === 'POST' && request.path === path,
  );
}

/** For an audit trail: only GET of this full path, with any query. */
export function auditsOnly(dispatcher: Dispatcher, path: string): Dispatcher {
  return restrict(
    dispatcher,
    'a reader of audit trails',
    (request) => request.method === 'GET' && request.path.split('?', 1)[0] === path,
  );
}

/** For the API of a code host: paths that begin with `prefix`, and the full path of its GraphQL API. */
export function codeHostOnly(dispatcher: Dispatcher, prefix: string, graphql: string): Dispatcher {
  return restrict(dispatcher, 'a code host', ({ path }) => path.startsWith(prefix) || path === graphql);
}
