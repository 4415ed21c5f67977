/**
 * Checks a target without its token: the network on the way to it, and single reads that anyone may send. So a token is sent only
 * to an address that answers like the service. Nothing is repeated.
 */
import type { Answer } from '../model/http.ts';
import { type ConnectionOptions, openConnection } from './transport/connection.ts';
import { readsOnly } from './transport/dispatcher.ts';
import { inspectNetwork, type NetworkFacts } from './transport/network-facts.ts';
import { Sender } from './transport/sender.ts';

export interface ProbeConnection {
  /** @throws ProxyError */
  inspectNetwork(): Promise<NetworkFacts>;
  /** Reads a path below the API root, without a token. @throws WireError when there is no answer, or one without JSON */
  get(path: string): Promise<Answer>;
  /** by how many milliseconds the target's clock is ahead, negative if behind; undefined before an answer with a `Date` */
  clockAhead(): number | undefined;
  close(): Promise<void>;
}

/** In milliseconds. A service that is slower than this is reported. */
const timeouts = { connect: 5_000, headers: 10_000, body: 10_000, answer: 15_000 };

const once = { attempts: 1, attemptsUnanswered: 1, throttled: 1 };

/** @throws ProxyError */
export function openProbe(options: ConnectionOptions): ProbeConnection {
  const { dialect, caCert, env = {} } = options;
  const connection = openConnection({
    ...options,
    // Names stay as the service writes them.
    dialect: { ...dialect, rename: {} },
    timeouts,
    retryPolicy: { ...options.retryPolicy, ...once },
  });
  const sender = new Sender({ connection, dispatcher: readsOnly(connection.dispatcher) });
  return {
    inspectNetwork: () =>
      inspectNetwork({
        url: new URL(options.url),
        env,
        timeout: timeouts.connect,
        ...(caCert === undefined ? {} : { caCert }),
      }),
    get: (path) => sender.send({ method: 'GET', path, repeatable: false }),
    clockAhead: () => connection.difference.ahead,
    async close() {
      connection.stop();
      await connection.close();
    },
  };
}
