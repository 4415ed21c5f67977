/**
 * Calls to the API of the cluster whose accounts log in: the address and credentials from the config or from the pod's files
 * (wire/cluster-auth 2.2, 3), and the call itself. The config takes precedence over the pod's files, and can disable them.
 */
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import type { KeyRules } from '../kernel/dialects.ts';
import type { Services } from '../kernel/services.ts';
import { type Config, findConfig } from './config.ts';
import type { ValueOrProblem } from './field-coercion.ts';

/** The parts of a config that a login needs. */
export interface ClusterAccess {
  readonly api: ClusterApi;
  /** The token of calls to the cluster; empty: the JWT of the login itself is used. */
  readonly reviewer: string;
  readonly pemKeys: readonly string[];
  readonly keyRules: KeyRules;
  /** The issuer that a JWT must have; empty: it is not checked. */
  readonly issuer: string;
  /** Annotations with this prefix become metadata; undefined: annotations are not read. */
  readonly annotationPrefix: string | undefined;
}

/** Reads the config of a mount. The problem is the text of a 500: no config, or a file of the pod that cannot be read. */
export function loadClusterAccess(services: Services, mount: string): ValueOrProblem<ClusterAccess> {
  const config = findConfig({ services, mount });
  if (config === undefined) return { ok: false, problem: 'could not load backend configuration' };
  const authorities = authoritiesOf(config, services);
  if (!authorities.ok) return authorities;
  return {
    ok: true,
    value: {
      api: {
        base: withScheme(config.cluster_host, services).replace(/\/$/, ''),
        authorities: authorities.value,
        timeoutMs: services.clusterTimeoutMs,
      },
      reviewer: config.token_reviewer_jwt || podToken(config, services),
      pemKeys: config.pem_keys,
      keyRules: services.dialects.clusterAuth.keys,
      issuer: config.disable_iss_validation
        ? ''
        : config.issuer || services.dialects.clusterAuth.defaultIssuer,
      annotationPrefix: config.use_annotations_as_alias_metadata
        ? services.dialects.clusterAuth.aliasAnnotations
        : undefined,
    },
  };
}

/** A host without a scheme, with or without a port, gets `https://` in dialects that accept such hosts. */
function withScheme(host: string, { dialects }: Services): string {
  const isBare = dialects.clusterAuth.takesBareHosts && !host.includes('/');
  return isBare ? `https://${host}` : host;
}

/** The trusted authorities in PEM; undefined: those of this machine; empty: none. */
function authoritiesOf(config: Config, { dialects, pod }: Services): ValueOrProblem<string | undefined> {
  if (config.cluster_ca_cert !== '') return { ok: true, value: config.cluster_ca_cert };
  const { caFallback } = dialects.clusterAuth;
  if (config.disable_local_ca_jwt) return { ok: true, value: caFallback === 'pod' ? '' : undefined };
  const file = pod.caCert();
  if ('text' in file) return { ok: true, value: file.text };
  return caFallback === 'pod-or-keys' ? { ok: true, value: undefined } : { ok: false, problem: file.problem };
}

/** The token of the pod; empty if there is no pod, or the config disables its files. */
function podToken(config: Config, { pod }: Services): string {
  const file = config.disable_local_ca_jwt ? undefined : pod.token();
  return file !== undefined && 'text' in file ? file.text.trim() : '';
}

// One call to the API of the cluster whose accounts log in.
// Invariants: time and size are limited; over TLS only the given authorities are trusted; redirects are not followed; an error
// names no address and no reason, because anyone who tries to log in may see its text.

export interface ClusterApi {
  /** The base of each path: a URL without a trailing slash. */
  readonly base: string;
  /** Authorities in PEM; undefined: those of this machine; empty: none. */
  readonly authorities: string | undefined;
  /** How long a call may take as a whole, in milliseconds. */
  readonly timeoutMs: number;
}

interface ClusterRequest {
  readonly method: 'GET' | 'POST';
  /** Appended to the base; begins with a slash. */
  readonly path: string;
  readonly bearer: string;
  readonly body?: string;
}

interface ClusterAnswer {
  readonly status: number;
  readonly text: string;
}

/** The expected answers have some hundred bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Sends the request; undefined without a complete answer in time. */
export async function callCluster(
  api: ClusterApi,
  clusterRequest: ClusterRequest,
): Promise<ClusterAnswer | undefined> {
  try {
    return await exchange(api, clusterRequest);
  } catch {
    return undefined;
  }
}

function exchange(api: ClusterApi, clusterRequest: ClusterRequest): Promise<ClusterAnswer> {
  const url = readClusterUrl(api.base + clusterRequest.path);
  if (url === undefined) throw new TypeError('the cluster has no URL');
  const request = { 'http:': requestPlain, 'https:': requestTls }[url.protocol];
  return new Promise((resolve, reject) => {
    const call = request({
      ...url,
      method: clusterRequest.method,
      agent: false,
      // Explicit, because otherwise an environment variable could change it.
      rejectUnauthorized: true,
      signal: AbortSignal.timeout(api.timeoutMs),
      ...(api.authorities === undefined ? {} : { ca: api.authorities === '' ? [] : api.authorities }),
      headers: {
        authorization: `Bearer ${clusterRequest.bearer}`.trimEnd(),
        'content-type': 'application/json',
        accept: 'application/json',
        ...(clusterRequest.body === undefined
          ? {}
          : { 'content-length': Buffer.byteLength(clusterRequest.body) }),
      },
    });
    call.on('error', reject);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > MAX_ANSWER_BYTES) response.destroy(new RangeError('the answer is too long'));
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    call.end(clusterRequest.body);
  });
}

// The URL of a call to the cluster, parsed as strictly as the real services do (wire/cluster-auth 3).
// Invariant: nothing is corrected: a text that a browser would trim, complete or resolve is invalid here, or is sent as written.

/** The target of a call, in the options of Node's requests. */
interface ClusterUrl {
  readonly protocol: 'http:' | 'https:';
  readonly hostname: string;
  /** Empty: the default port of the protocol. */
  readonly port: string;
  /** Path and query of the request line; dots and repeated slashes are kept. */
  readonly path: string;
}

/** Scheme, user (ignored, because a bearer token is sent), host with its port, and the rest without a fragment. */
const URL_PARTS = /^(https?):\/\/(?:[\w.~!$&'()*+,;=:@%-]*@)?([^/?#@]+)([^#]*)/i;

const IN_BRACKETS = /^\[([^[\]]+)\](?::(\d*))?$/;
const BY_NAME = /^([\w.~!$&'()*+,;=\u0080-\uffff-]+)(?::(\d*))?$/;

const CONTROL = /\p{Cc}/u;

/** Characters that must be escaped in a request line. */
const NOT_PLAIN = /[^\w.~!$&'()*+,;=:@[\]%/?-]+/gu;

/** The parsed URL; undefined for an invalid one, or one without a host. */
function readClusterUrl(text: string): ClusterUrl | undefined {
  const [, scheme = '', hostPort = '', rest = ''] = CONTROL.test(text) ? [] : (URL_PARTS.exec(text) ?? []);
  const [path = ''] = rest.split('?');
  const host = readHost(hostPort);
  if (host === undefined || /%(?![0-9a-f]{2})/i.test(path)) return undefined;
  return {
    protocol: scheme.toLowerCase() === 'https' ? 'https:' : 'http:',
    ...host,
    path: (rest.startsWith('/') ? rest : `/${rest}`).replace(NOT_PLAIN, encodeURIComponent),
  };
}

function readHost(hostPort: string): Pick<ClusterUrl, 'hostname' | 'port'> | undefined {
  const [, address, addressPort = ''] = IN_BRACKETS.exec(hostPort) ?? [];
  if (address !== undefined) return isIPv6(address) ? { hostname: address, port: addressPort } : undefined;
  const [, name = '', port = ''] = BY_NAME.exec(hostPort) ?? [];
  const hostname = domainToASCII(name);
  // Only the full form of an address is valid. Other resolvers read 127.1 and 2130706433 as 127.0.0.1.
  const isShortAddress = isIPv4(hostname) && hostname !== name;
  return hostname === '' || isShortAddress ? undefined : { hostname, port };
}

// The errors of failed logins.

export interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** Whether this is a refusal, not the requested result. */
export function isRefusal(result: object): result is Refusal {
  return 'status' in result;
}
