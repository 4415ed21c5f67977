/**
 * TLS in front of a server with plain HTTP, with a certificate of a private authority. It passes raw bytes on, because
 * Node's HTTP server does not support LIST.
 */
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { fixtures } from '../server/cluster-auth/replay/vectors.ts';
import { listenForTest } from './listen.ts';

export interface TlsFront {
  /** `https://127.0.0.1:40123` */
  readonly url: string;
  /** The authority of its certificate in PEM, which no client trusts by default. */
  readonly authority: string;
}

/** Listens until the test has ended. @param url of the server behind it */
export async function openTlsFront(url: string): Promise<TlsFront> {
  const { ca, server: own } = fixtures().certs;
  const { hostname, port: behind } = new URL(url);
  const server = createServer({ cert: own.certificate, key: own.private }, (socket) => {
    const onward = connect(Number(behind), hostname);
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  server.on('tlsClientError', () => undefined);
  const { port } = await listenForTest(server);
  return { url: `https://127.0.0.1:${port}`, authority: ca.certificate };
}
