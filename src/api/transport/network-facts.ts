/**
 * What a connection to a service shows before any request: the addresses of its name, whether something listens there, and its
 * certificate. Sends no HTTP. Through a proxy, only the proxy is reached: its connection to the service needs a request.
 */
import { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Environment, proxyFor } from './proxy.ts';
import { errorCodes } from './explain-failure.ts';

interface NetworkInput {
  readonly url: URL;
  readonly env: Environment;
  /** PEM; trusted in place of the system's authorities */
  readonly caCert?: string;
  /** milliseconds for each step */
  readonly timeout: number;
}

export interface NetworkFacts {
  /** the proxy on the way, without credentials, and the variable that names it */
  readonly proxy?: { readonly address: string; readonly variable: string };
  /** the addresses of the service, or of the proxy if there is one */
  readonly addresses: readonly string[];
  /** the first step that failed, with the code of its error */
  readonly failure?: { readonly at: 'name' | 'connection' | 'tls'; readonly code: string };
  readonly certificate?: Certificate;
}

/** The certificate that the service sent, also when it is not trusted. */
export interface Certificate {
  readonly names: readonly string[];
  readonly issuer: string;
  /** milliseconds since 1970 */
  readonly validTo: number;
}

/** @throws ProxyError */
export async function inspectNetwork({ url, env, caCert, timeout }: NetworkInput): Promise<NetworkFacts> {
  const proxy = proxyFor(url, env);
  const peer = proxy === undefined ? url : new URL(proxy.address);
  const hostname = peer.hostname.replace(/^\[(.*)\]$/, '$1');
  const proxyFact =
    proxy === undefined
      ? {}
      : { proxy: { address: `${peer.protocol}//${peer.host}`, variable: proxy.variable } };
  const addresses = await addressesOf(hostname, timeout);
  if (typeof addresses === 'string')
    return { ...proxyFact, addresses: [], failure: { at: 'name', code: addresses } };
  const found = { ...proxyFact, addresses };
  const port = Number(peer.port || (peer.protocol === 'https:' ? 443 : 80));
  const socket = await openSocket(connect({ host: hostname, port }), { event: 'connect', timeout });
  if (typeof socket === 'string') return { ...found, failure: { at: 'connection', code: socket } };
  try {
    if (proxy !== undefined || url.protocol !== 'https:') return found;
    return { ...found, ...(await inspectTls(socket, hostname, { caCert, timeout })) };
  } finally {
    socket.destroy();
  }
}

/** @returns the code of the error when the name cannot be resolved */
async function addressesOf(hostname: string, timeout: number): Promise<readonly string[] | string> {
  const timedOut = Promise.withResolvers<string>();
  const timer = setTimeout(() => timedOut.resolve('EAI_AGAIN'), timeout);
  const found = lookup(hostname, { all: true }).then(
    (all) => [...new Set(all.map(({ address }) => address))],
    codeOf,
  );
  return Promise.race([found, timedOut.promise]).finally(() => clearTimeout(timer));
}

function codeOf(error: unknown): string {
  return errorCodes(error)[0] ?? 'UNKNOWN';
}

/** Waits until the socket is open. @returns the code of the error when it does not open */
function openSocket<S extends Socket>(
  socket: S,
  { event, timeout }: { readonly event: 'connect' | 'secureConnect'; readonly timeout: number },
): Promise<S | string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end('ETIMEDOUT'), timeout);
    const end = (result: S | string) => {
      clearTimeout(timer);
      if (typeof result === 'string') socket.destroy();
      resolve(result);
    };
    socket.once(event, () => end(socket));
    // Not once: an error after the result must not end the process.
    socket.on('error', (error) => end(codeOf(error)));
    socket.once('close', () => end('ECONNRESET'));
  });
}

/** Accepts any certificate, to show it. The result says whether a request would accept it. */
async function inspectTls(
  socket: Socket,
  hostname: string,
  { caCert, timeout }: { readonly caCert: string | undefined; readonly timeout: number },
): Promise<Pick<NetworkFacts, 'failure' | 'certificate'>> {
  // TLS would ignore an invalid text without an error.
  if (caCert !== undefined && !isCertificate(caCert))
    return { failure: { at: 'tls', code: 'ERR_OSSL_PEM_NO_START_LINE' } };
  // Loaded only here: a plan over plain HTTP does not need it.
  const { connect } = await import('node:tls');
  let secure: TLSSocket;
  try {
    secure = connect({
      socket,
      host: hostname,
      ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      ...(caCert === undefined ? {} : { ca: caCert }),
      rejectUnauthorized: false,
    });
  } catch (error) {
    return { failure: { at: 'tls', code: codeOf(error) } };
  }
  const opened = await openSocket(secure, { event: 'secureConnect', timeout });
  if (typeof opened === 'string') return { failure: { at: 'tls', code: opened } };
  const certificate = certificateOf(secure);
  secure.destroy();
  // The type of this property is Error, but its value is an error code.
  const refused: unknown = secure.authorizationError;
  const code = typeof refused === 'string' ? refused : codeOf(refused);
  return secure.authorized ? { certificate } : { certificate, failure: { at: 'tls', code } };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

function certificateOf(socket: TLSSocket): Certificate {
  const { subject, issuer, subjectaltname = '', valid_to } = socket.getPeerCertificate();
  const names = subjectaltname.split(', ').map((name) => name.replace(/^(DNS|IP Address):/, ''));
  return {
    names: subjectaltname === '' ? [textOf(subject?.CN)] : names,
    issuer: textOf(issuer?.CN ?? issuer?.O),
    validTo: Date.parse(valid_to),
  };
}

function textOf(value: string | string[] | undefined): string {
  return [value ?? ''].flat().join(', ');
}
