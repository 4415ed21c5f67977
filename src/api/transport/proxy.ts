/** The proxy that the environment names for an address. Not in dispatcher.ts, because commands without requests do not load undici. */
import { quoted } from '../../model/quoted.ts';

/** Variables by name: `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`; names in lower case take precedence. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The address of the proxy in the environment is invalid. The message names the variable and never its value. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';

  constructor(variable: string) {
    super(
      `the environment variable ${quoted(variable)} is not the address of a proxy (it is not shown, because it may hold a password); write one such as http://proxy.internal:3128`,
    );
  }
}

/** The proxy that the environment sets. */
interface Proxy {
  /** with its credentials */
  readonly address: string;
  /** the name of the variable that holds it */
  readonly variable: string;
}

/**
 * The proxy for an address; undefined for none. Addresses of this machine, such as that of the embedded service, get none: a proxy
 * elsewhere cannot reach them.
 * @throws ProxyError
 */
export function proxyFor(url: URL, env: Environment): Proxy | undefined {
  if (/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)) return undefined;
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const value = variable(env, name);
  if (value === undefined || isExcluded(url, variable(env, 'no_proxy') ?? '')) return undefined;
  const address = value.includes('://') ? value : `http://${value}`;
  const variableName = env[name] === value ? name : name.toUpperCase();
  if (!isAddress(address)) throw new ProxyError(variableName);
  return { address, variable: variableName };
}

/** Whether NO_PROXY names the host, with or without its port; `example.com` and `.example.com` include all hosts below it. */
function isExcluded(url: URL, noProxy: string): boolean {
  const host = bareHost(url.hostname);
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return noProxy.split(/[,\s]+/).some((entry) => {
    // An IPv6 address in brackets, a name, or a bare IPv6 address; then perhaps a port.
    const [, named = '', itsPort = port] = /^(\[.*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? [];
    const name = bareHost(named.toLowerCase()).replace(/\.$/, '');
    if (name === '' || itsPort !== port) return false;
    const suffix = name.replace(/^\*?\./, '');
    return name === '*' || (!name.startsWith('*') && host === suffix) || host.endsWith(`.${suffix}`);
  });
}

/** The host without the brackets of an IPv6 address, and without a dot at the end. */
function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

export function variable(env: Environment, name: string): string | undefined {
  return [env[name], env[name.toUpperCase()]].find((value) => value !== undefined && value !== '');
}

/** Whether it has only scheme, user, host and port: undici throws for a path, a query or a fragment. */
function isAddress(proxy: string): boolean {
  try {
    const { protocol, username, password, pathname, search, hash } = new URL(proxy);
    const isPlain = pathname === '/' && search === '' && hash === '';
    // The decoding throws for an invalid escape, as undici would.
    return (
      isPlain && /^https?:$/.test(protocol) && decodeURIComponent(`${username}${password}`) !== undefined
    );
  } catch {
    return false;
  }
}
