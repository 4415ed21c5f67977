/**
 * The connections to one target: a bounded number, HTTP/1.1 (as LIST and the bound need it), through the proxy that the
 * environment names. The environment comes as a value: undici must never look into the process for it.
 */
import { type Dispatcher, EnvHttpProxyAgent } from 'undici';

/** Variables by name: `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, or the same in lower case, which win. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConnectionOptions {
  readonly url: URL;
  /** connections at most */
  readonly connections: number;
  /** milliseconds until a connection must stand */
  readonly connectTimeout: number;
  /** PEM; trusted in place of the system's authorities */
  readonly caCert?: string;
  readonly env: Environment;
}

/** The dispatcher, and the proxy it may go through, without credentials, for messages. */
export interface OpenDispatcher {
  readonly dispatcher: Dispatcher;
  readonly proxy?: string;
}

export function openDispatcher({
  url,
  connections,
  connectTimeout,
  caCert,
  env,
}: ConnectionOptions): OpenDispatcher {
  const proxy = findProxy(url, env);
  const trust = caCert === undefined ? {} : { ca: caCert };
  // Empty texts, not absent ones: for an absent value undici reads the process's own environment.
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
  return proxy === undefined ? { dispatcher } : { dispatcher, proxy: withoutCredentials(proxy) };
}

/** None for this machine's own addresses: a proxy elsewhere cannot reach them, and the embedded service is there. */
function findProxy(url: URL, env: Environment): string | undefined {
  if (/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)) return undefined;
  const value = variable(env, url.protocol === 'https:' ? 'https_proxy' : 'http_proxy');
  if (value === undefined) return undefined;
  return value.includes('://') ? value : `http://${value}`;
}

function variable(env: Environment, name: string): string | undefined {
  return [env[name], env[name.toUpperCase()]].find((value) => value !== undefined && value !== '');
}

function withoutCredentials(proxy: string): string {
  return proxy.replace(/\/\/[^/@]*@/, '//');
}
