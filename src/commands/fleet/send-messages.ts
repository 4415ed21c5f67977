/** Sends messages beside the checks of a worker: no check waits for a message. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Notifier } from './notify/notifier.ts';

/** Milliseconds between two looks at what is to be sent. */
const interval = 5000;

/** Milliseconds that `fleet run` has for its last messages. The next run sends what is left. */
const longestEnd = 60_000;

type NotifierOptions = ConstructorParameters<typeof Notifier>[0];

interface Sending {
  /** Sends what the checks found that have ended. */
  finish(): Promise<void>;
  /** Ends the message that is being sent. */
  stop(): Promise<void>;
}

export function startSending(options: NotifierOptions): Sending {
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const notifier = new Notifier({ ...options, signal });
  let last: Promise<void> = Promise.resolve();
  // One after the other. Without the database nothing is known; the worker says so elsewhere.
  const look = () => {
    if (options.fleet().channels.length > 0) last = last.then(() => notifier.pass()).catch(() => {});
    return last;
  };
  const loop = (async () => {
    while (!signal.aborted) {
      await look();
      await sleep(interval, undefined, { signal }).catch(() => {});
    }
  })();
  return {
    finish: async () => {
      const waited = new AbortController();
      const limit = sleep(longestEnd, undefined, { signal: waited.signal }).catch(() => {});
      await Promise.race([look(), limit]);
      waited.abort();
    },
    stop: async () => {
      ended.abort();
      await loop;
    },
  };
}
