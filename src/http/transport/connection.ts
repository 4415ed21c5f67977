/**
 * The line to one target: connections, throttle and clock, shared by reads, writes and the login, so that together they
 * never ask faster than the target allows.
 */
import type { Dispatcher } from 'undici';
import { KnownSecrets } from '../../model/known-secrets.ts';
import type { Dialect, Target } from '../../model/stack/target.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Bounds } from './exchange.ts';
import type { FailureContext } from './explain-failure.ts';
import { type Environment, openDispatcher } from './open-dispatcher.ts';
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts';
import { services } from '../service-conventions.ts';
import { defaultRate, Throttle } from './throttle.ts';
import { Waits } from './waits.ts';

/** One try of one request, for `--verbose` and tests. Holds no header and no body, so no secret. */
export interface Trace {
  readonly method: string;
  readonly url: string;
  /** from 1 */
  readonly attempt: number;
  /** from the first byte sent, or the connection begun, to the last byte received */
  readonly milliseconds: number;
  readonly status?: number;
  readonly requestId?: string;
  /** why there was no answer */
  readonly failure?: string;
}

/** In milliseconds: until a connection stands, until the answer begins, between its parts, and for the whole of it. */
export interface Timeouts {
  readonly connect: number;
  readonly headers: number;
  readonly body: number;
  readonly answer: number;
}

const defaultTimeouts: Timeouts = { connect: 10_000, headers: 60_000, body: 60_000, answer: 300_000 };

/** Bytes of one answer at most: a page of a hundred workspaces has less than a hundredth of it. */
const largestAnswer = 64 * 1024 * 1024;

/** Milliseconds of a run that was given no end. */
const longestRun = 3_600_000;

/** Requests to one target in flight at most. */
const slots = 10;

export interface ConnectionOptions {
  readonly target: Target;
  /** where the target is: never `embedded`, without a trailing slash and without the API root */
  readonly url: string;
  readonly dialect: Dialect;
  /** sent as `User-Agent`: `trueup/0.1.0` */
  readonly userAgent: string;
  /** PEM text of the authority that signed the service's certificate; trusted in place of the system's */
  readonly caCert?: string;
  /** where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are looked up; without it no proxy is used */
  readonly env?: Environment;
  /** the end of the run: what waits is given up, what is in flight is broken off */
  readonly signal?: AbortSignal;
  /** when the run is over, in milliseconds since 1970; an hour from now when absent. Nobody is waited for longer. */
  readonly until?: number;
  readonly onTrace?: (trace: Trace) => void;
  /** hears in a few words what has been waited for longer than a few seconds */
  readonly onWait?: (says: string) => void;
  /** what nobody may read in what a service or a proxy says; what this line sends is added */
  readonly secrets?: KnownSecrets;
  readonly clock?: Clock;
  /** from 0 to 1, for jitter */
  readonly random?: () => number;
  readonly timeouts?: Partial<Timeouts>;
  readonly retryPolicy?: Partial<RetryPolicy>;
  /** bytes of one answer at most */
  readonly largest?: number;
}

export interface Connection {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly origin: string;
  /** before the path of every request: the URL's own path and the API root, `/api/v2` */
  readonly prefix: string;
  readonly userAgent: string;
  readonly dispatcher: Dispatcher;
  readonly throttle: Throttle;
  readonly clock: Clock;
  readonly random: () => number;
  readonly timeouts: Timeouts;
  readonly retryPolicy: RetryPolicy;
  readonly failureContext: FailureContext;
  readonly signal: AbortSignal;
  readonly until: number;
  readonly bounds: Bounds;
  readonly onTrace: (trace: Trace) => void;
  readonly waits: Waits;
  readonly secrets: KnownSecrets;
  /** the target has answered something */
  hasAnswered: boolean;
  /** how often it has answered 429 since it answered anything else */
  rebuffs: number;
  /** Breaks off whatever is still in flight or waiting; what has a signal of its own goes on. */
  stop(): void;
  /** Closes the connections. */
  close(): Promise<void>;
}

export function openConnection(options: ConnectionOptions): Connection {
  const { target, dialect, userAgent, caCert, clock = systemClock } = options;
  const url = new URL(options.url);
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const {
    dispatcher,
    proxy,
    secrets: ofProxy,
  } = openDispatcher({
    url,
    connections: slots,
    connectTimeout: timeouts.connect,
    env: options.env ?? {},
    ...(caCert === undefined ? {} : { caCert }),
  });
  const closing = new AbortController();
  const secrets = options.secrets ?? new KnownSecrets();
  for (const secret of ofProxy) secrets.keep(secret);
  return {
    target,
    dialect,
    origin: url.origin,
    prefix: `${url.pathname.replace(/\/+$/, '')}${services[target.service].root}`,
    userAgent,
    dispatcher,
    throttle: openThrottle(target, clock),
    clock,
    random: options.random ?? Math.random,
    timeouts,
    retryPolicy: { ...defaultRetryPolicy, ...options.retryPolicy },
    failureContext: surroundingsOf(url.host, proxy, timeouts),
    signal: options.signal === undefined ? closing.signal : AbortSignal.any([options.signal, closing.signal]),
    until: options.until ?? clock.now() + longestRun,
    bounds: { bytes: options.largest ?? largestAnswer, milliseconds: timeouts.answer },
    onTrace: options.onTrace ?? (() => {}),
    waits: new Waits(`target "${target.name}"`, { tell: options.onWait ?? (() => {}), clock }),
    secrets,
    hasAnswered: false,
    rebuffs: 0,
    stop: () => closing.abort(new Error('the target was closed')),
    close: () => dispatcher.destroy(),
  };
}

function openThrottle({ url, requestsPerSecond }: Target, clock: Clock): Throttle {
  // The embedded service is ours alone; there is no one to be polite to.
  const rate = url === 'embedded' ? Number.POSITIVE_INFINITY : defaultRate;
  return new Throttle(
    requestsPerSecond === undefined
      ? { rate, slots, clock }
      : { rate: requestsPerSecond, ceiling: requestsPerSecond, slots, clock },
  );
}

function surroundingsOf(host: string, proxy: string | undefined, timeouts: Timeouts): FailureContext {
  const seconds = {
    connect: timeouts.connect / 1000,
    headers: timeouts.headers / 1000,
    body: timeouts.body / 1000,
    answer: timeouts.answer / 1000,
  };
  return proxy === undefined ? { host, seconds } : { host, proxy, seconds };
}
