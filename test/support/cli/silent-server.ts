/** A server that accepts every connection and never responds. It is closed at the end of the test. */
import { createServer, type Socket } from 'node:net';
import { listenForTest } from '../rig/listen.ts';

export interface SilentServer {
  readonly port: number;
  /** resolves with the first connection */
  readonly reached: Promise<void>;
  /** resolves once all connections so far are closed */
  allClosed(): Promise<void>;
}

export async function openSilentServer(): Promise<SilentServer> {
  const reached = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    // The bytes must be read, or the end of the connection is never noticed.
    socket.resume().on('error', () => {});
    reached.resolve();
  });
  const { port } = await listenForTest(server);
  const closed = (socket: Socket) =>
    new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));
  return {
    port,
    reached: reached.promise,
    allClosed: async () => {
      await Promise.all(sockets.map(closed));
    },
  };
}
