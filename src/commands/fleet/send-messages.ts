/** Sends messages beside the checks of a worker: no check waits for a message. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Notifier } from './notify/notifier.ts';

/** Milliseconds between two passes of the notifier. */
const interval = 5000;

/** Milliseconds that `fleet run` has for its last messages. The next run sends what is left. */
const longestEnd = 60_000;

type NotifierOptions = ConstructorParameters<typeof Notifier>[0];

interface Sending {
  /** Sends what the finished checks found. */
  finish(): Promise<void>;
  /** Stops, also in the middle of a message. */
  stop(): Promise<void>;
}

export function startSending(options: NotifierOptions): Sending {
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, ended.signal]);
  const notifier = new Notifier({ ...options, signal });
  let last: Promise<void> = Promise.resolve();
  // One pass after the other. Errors of the database are reported elsewhere.
  const sendPending = () => {
    if (options.fleet().channels.length > 0) last = last.then(() => notifier.pass()).catch(() => {});
    return last;
  };
  const loop = (async () => {
    while (!signal.aborted) {
      await sendPending();
      await sleep(interval, undefined, { signal }).catch(() => {});
    }
  })();
  return {
    finish: async () => {
      const waited = new AbortController();
      const limit = sleep(longestEnd, undefined, { signal: waited.signal }).catch(() => {});
      await Promise.race([sendPending(), limit]);
      waited.abort();
    },
    stop: async () => {
      ended.abort();
      await loop;
    },
  };
}
