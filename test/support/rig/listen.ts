/** Servers of tests, on a free port of this machine; closing one also closes its connections. */
import type { AddressInfo, Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Listening {
  readonly port: number;
  /** `http://127.0.0.1:40123` */
  readonly url: string;
  /** closes all connections, and frees the port */
  close(): Promise<void>;
}

/** Listens until it is closed. @param port any free one by default */
export async function startListening(server: Server, port = 0): Promise<Listening> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
  const { port: taken } = server.address() as AddressInfo;
  const close = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((closed) => server.close(closed));
  };
  return { port: taken, url: `http://127.0.0.1:${taken}`, close };
}

/** Listens until the test has ended. */
export async function listenForTest(server: Server, port = 0): Promise<Listening> {
  const listening = await startListening(server, port);
  onTestFinished(listening.close);
  return listening;
}
