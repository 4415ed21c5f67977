/**
 * The connections to one target: a bounded number, HTTP/1.1 (as LIST and the bound need it), through the proxy that the
 * environment names. The environment comes as a value: undici must never look into the process for it.
 */
import { type Dispatcher, EnvHttpProxyAgent } from 'undici';

/** Variables by name: `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, or the same in lower case, which win. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface DispatcherOptions {
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
  /** what the address of the proxy says to the proxy alone */
  readonly secrets: readonly string[];
}

/** The environment asks for a proxy and gives no address of one. The message names the variable and never its value. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';

  constructor(variable: string) {
    super(
      `the environment variable "${variable}" holds no address of a proxy (it is not shown here, as it may hold a password); it looks like http://proxy.internal:3128`,
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
  if (proxy === undefined) return { dispatcher, secrets: [] };
  const { protocol, host, password } = new URL(proxy);
  return { dispatcher, proxy: `${protocol}//${host}`, secrets: [password, decodeURIComponent(password)] };
}

/** None for this machine's own addresses: a proxy elsewhere cannot reach them, and the embedded service is there. */
function findProxy(url: URL, env: Environment): string | undefined {
  if (/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)) return undefined;
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const value = variable(env, name);
  if (value === undefined) return undefined;
  const proxy = value.includes('://') ? value : `http://${value}`;
  if (!isAddress(proxy)) throw new ProxyError(env[name] === value ? name : name.toUpperCase());
  return proxy;
}

function variable(env: Environment, name: string): string | undefined {
  return [env[name], env[name.toUpperCase()]].find((value) => value !== undefined && value !== '');
}

function isAddress(proxy: string): boolean {
  try {
    const { protocol, username, password } = new URL(proxy);
    return /^https?:$/.test(protocol) && decodeURIComponent(`${username}${password}`) !== undefined;
  } catch {
    return false;
  }
}
