/** A server that takes every connection and never says a word. Closed with the test. */
import { createServer, type Socket } from 'node:net';
import { listenForTest } from '../rig/listen.ts';

export interface SilentServer {
  readonly port: number;
  /** resolves with the first connection */
  readonly reached: Promise<void>;
  /** resolves once whoever has connected so far has gone */
  left(): Promise<void>;
}

export async function openSilentServer(): Promise<SilentServer> {
  const reached = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    // What comes in has to be read, or its end would never be noticed.
    socket.resume().on('error', () => {});
    reached.resolve();
  });
  const { port } = await listenForTest(server);
  const gone = (socket: Socket) =>
    new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));
  return {
    port,
    reached: reached.promise,
    left: async () => {
      await Promise.all(sockets.map(gone));
    },
  };
}
