/**
 * One request and its answer, through undici and without a second try. The body is always read to its end, for an
 * unread one blocks its connection, or broken off when it has no end; whether the request may have reached the service
 * is known exactly, for undici tells when it begins to write.
 */
import type { Dispatcher } from 'undici';

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What came back, before anyone has tried to understand it. */
export interface RawAnswer {
  readonly kind: 'answered';
  readonly status: number;
  /** by lower-case name */
  readonly headers: Headers;
  readonly text: string;
}

export interface BrokenExchange {
  readonly kind: 'broken';
  /** the request, or a part of it, may have reached the service */
  readonly sent: boolean;
  readonly cause: Error;
}

export type Exchange = RawAnswer | BrokenExchange;

/** What an exchange may take, so that no service can hold a run up for ever or fill its memory (rule 46). */
export interface Bounds {
  /** bytes of an answer's body */
  readonly bytes: number;
  /** milliseconds from the first byte sent, or the connection begun, to the last byte received */
  readonly milliseconds: number;
}

/** The answer grew past the bound; `code` as errors of the system have one. */
export class BoundError extends Error {
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

export interface Limits {
  /** breaks it off */
  readonly signal?: AbortSignal;
  /** keeps it from being sent while it waits for a connection; what is sent goes on */
  readonly stop?: AbortSignal | undefined;
  readonly bounds: Bounds;
}

/** @throws what the dispatcher itself throws: a request that it refuses to carry is a bug, not a broken exchange */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, stop, bounds }: Limits,
): Promise<Exchange> {
  const { promise, resolve } = Promise.withResolvers<Exchange>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let started: Dispatcher.DispatchController | undefined;
  let given: Pick<RawAnswer, 'status' | 'headers'> = { status: 0, headers: {} };

  const settle = (result: Exchange) => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    resolve(result);
  };
  const fail = (cause: Error) => settle({ kind: 'broken', sent: started !== undefined, cause });
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
      given = { status, headers };
    },
    onResponseData(controller, chunk) {
      bytes += chunk.byteLength;
      if (bytes > bounds.bytes) return controller.abort(new BoundError('ANSWER_TOO_LARGE'));
      chunks.push(chunk);
    },
    onResponseEnd() {
      settle({ kind: 'answered', ...given, text: Buffer.concat(chunks).toString('utf8') });
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
