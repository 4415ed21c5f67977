/**
 * TLS in front of a server that speaks plain HTTP, as a service behind a private authority has it. It passes bytes on, for
 * Node's own HTTP server knows no LIST.
 */
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { fixtures } from '../server/cluster-auth/replay/vectors.ts';
import { listenForTest } from './listen.ts';

export interface TlsFront {
  /** `https://127.0.0.1:40123` */
  readonly url: string;
  /** In PEM: who signed its certificate, and is known to nobody. */
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
