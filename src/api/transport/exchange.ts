/**
 * Sends one request through undici, once, and reads the answer. The body is read to its end or aborted at a limit, because an unread
 * body blocks its connection. The result shows whether the request may have reached the service: undici reports when it begins to write.
 */
import type { Dispatcher } from 'undici';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** An answer before it is parsed. */
export interface RawAnswer {
  readonly kind: 'answered';
  readonly status: number;
  /** by name in lower case */
  readonly headers: Headers;
  readonly text: string;
}

interface BrokenExchange {
  readonly kind: 'broken';
  /** the request, or a part of it, may have reached the service */
  readonly sent: boolean;
  readonly cause: Error;
}

export type Exchange = RawAnswer | BrokenExchange;

/** Limits of an exchange, so that no service can block a run forever or fill its memory. */
export interface Bounds {
  /** maximal size of the answer's body */
  readonly bytes: number;
  /** milliseconds of the whole exchange, from the wait for a connection to the last byte received */
  readonly milliseconds: number;
}

/** The answer exceeded a limit. It has a `code` like system errors. */
class BoundError extends Error {
  override readonly name = 'BoundError';
  readonly code: 'ANSWER_TOO_LARGE' | 'ANSWER_TOO_SLOW';

  constructor(code: BoundError['code']) {
    super(code);
    this.code = code;
  }
}

/** The first value of a header. */
export function headerOf({ headers }: RawAnswer, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** Receives every request, answer and wait. It redacts what it shows. */
export interface Observer {
  /** @param note what is special about this attempt. @returns a function for the end of the exchange */
  request(request: Dispatcher.DispatchOptions, note: string): (result: Exchange) => void;
  /** @param why the reason why all requests, or one request, wait for these milliseconds */
  wait(why: string, milliseconds: number): void;
}

interface ExchangeOptions {
  readonly observer?: Observer | undefined;
  /** for the observer */
  readonly note?: string;
  /** aborts the exchange at any time */
  readonly signal?: AbortSignal;
  /** aborts the exchange only while it waits for a connection; a request that was sent continues */
  readonly stop?: AbortSignal | undefined;
  readonly bounds: Bounds;
}

/** @throws the dispatcher's own errors: a request that the dispatcher refuses is a bug, and not a broken exchange */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, stop, bounds, observer, note = '' }: ExchangeOptions,
): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let started: Dispatcher.DispatchController | undefined;
  let head: Pick<RawAnswer, 'status' | 'headers'> = { status: 0, headers: {} };

  const observeEnd = observer?.request(request, note);
  const finish = (result: Exchange) => {
    observeEnd?.(result);
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    resolve(result);
  };
  const fail = (cause: Error) => finish({ kind: 'broken', sent: started !== undefined, cause });
  const breakOff = (cause: Error) => {
    if (started === undefined) fail(cause);
    else started.abort(cause);
  };
  const abort = () => breakOff(reasonOf(signal));
  const timer = setTimeout(() => breakOff(new BoundError('ANSWER_TOO_SLOW')), bounds.milliseconds);

  dispatcher.dispatch(request, {
    onRequestStart(controller) {
      const ended = [signal, stop].find((given) => given?.aborted);
      if (ended !== undefined) return controller.abort(reasonOf(ended));
      started = controller;
    },
    onResponseStart(_, status, headers) {
      head = { status, headers };
    },
    onResponseData(controller, chunk) {
      bytes += chunk.byteLength;
      if (bytes > bounds.bytes) return controller.abort(new BoundError('ANSWER_TOO_LARGE'));
      chunks.push(chunk);
    },
    onResponseEnd() {
      finish({ kind: 'answered', ...head, text: Buffer.concat(chunks).toString('utf8') });
    },
    onResponseError: (_, error) => fail(error),
  });
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return promise;
}

function reasonOf(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('stopped');
}
