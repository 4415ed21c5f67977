/**
 * The connection to one target: sockets, throttle and clock. Reads, writes and the login share it, so that all of them together
 * keep the target's rate limit.
 */
import type { Dispatcher } from 'undici';
import type { Json } from '../../model/json.ts';
import { KnownSecrets } from '../../redaction/known-secrets.ts';
import type { Dialect, Target } from '../../model/stack.ts';
import { quoted } from '../../model/quoted.ts';
import { type Clock, ClockDifference, systemClock, Waits } from './clock.ts';
import type { Bounds, Observer } from './exchange.ts';
import type { FailureContext } from './explain-failure.ts';
import { openDispatcher } from './dispatcher.ts';
import type { Environment } from './proxy.ts';
import { defaultRetryPolicy, type RetryPolicy } from './retry.ts';
import { services } from './service-conventions.ts';
import { highestRate, initialRate, RateController } from './rate-controller.ts';
import type { SharedRate } from './shared-rate.ts';
import { Throttle } from './throttle.ts';

/** In milliseconds. */
interface Timeouts {
  /** to open a connection */
  readonly connect: number;
  /** until the answer begins */
  readonly headers: number;
  /** between two parts of the answer */
  readonly body: number;
  /** for the whole exchange */
  readonly answer: number;
}

const defaultTimeouts: Timeouts = { connect: 10_000, headers: 60_000, body: 60_000, answer: 300_000 };

/** The maximal size of an answer in bytes: a hundred times that of a page with a hundred workspaces. */
const maxAnswerSize = 64 * 1024 * 1024;

/** The duration of a run without a deadline, in milliseconds. */
const defaultDuration = 3_600_000;

/** The maximal number of requests to one target in flight. */
const slots = 10;

export interface ConnectionOptions {
  readonly target: Target;
  /** the address of the target, never `embedded`; without a trailing slash and without the API root */
  readonly url: string;
  readonly dialect: Dialect;
  /** the source of its token, as a clause, for the message about a refused token */
  readonly tokenFrom?: string;
  /** sent as `User-Agent`: `trueup/0.1.0` */
  readonly userAgent: string;
  /** PEM text of the authority that signed the service's certificate; trusted in place of the system's */
  readonly caCert?: string;
  /** the environment with HTTP_PROXY, HTTPS_PROXY and NO_PROXY; without it no proxy is used */
  readonly env?: Environment;
  /** the end of the run: aborts all waits and all requests in flight */
  readonly signal?: AbortSignal;
  /** aborts what may continue after the end of the run: a login in flight, and the revocation of its token */
  readonly abandonWaits?: AbortSignal;
  /** the deadline of the run, in milliseconds since 1970; an hour from now when absent. No wait goes beyond it. */
  readonly until?: number;
  /** gets a message about each wait of more than a few seconds */
  readonly onWait?: (message: string) => void;
  /** gets each request, its answer, and each wait */
  readonly observer?: Observer | undefined;
  /** gets each answer as the service wrote it, before its names are translated */
  readonly inspect?: Inspection;
  /** gets a message about what the run could not clean up */
  readonly onWarning?: (message: string) => void;
  /** removed from all messages of services and proxies; secrets that this connection sends are added */
  readonly secrets?: KnownSecrets;
  readonly clock?: Clock;
  /** from 0 to 1, for jitter */
  readonly random?: () => number;
  readonly timeouts?: Partial<Timeouts>;
  readonly retryPolicy?: Partial<RetryPolicy>;
  /** a rate limit that is shared with other processes */
  readonly sharedRate?: SharedRate | undefined;
  /** the maximal size of an answer in bytes */
  readonly largest?: number;
}

type Inspection = (answer: {
  readonly body: Json;
  /** the value of a header, by its name in lower case */
  header(name: string): string | undefined;
}) => void;

export interface Connection {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly tokenFrom?: string;
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
  readonly abandonWaits: AbortSignal;
  readonly until: number;
  readonly bounds: Bounds;
  readonly waits: Waits;
  readonly observer: Observer | undefined;
  readonly inspect?: Inspection;
  readonly secrets: KnownSecrets;
  readonly warn: (message: string) => void;
  /** how far the target's clock is ahead of the local one */
  readonly difference: ClockDifference;
  /** whether the target has sent any answer */
  hasAnswered: boolean;
  /** Aborts all waits and requests in flight, except requests with their own signal. */
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
    secrets: proxySecrets,
  } = openDispatcher({
    url,
    connections: slots,
    connectTimeout: timeouts.connect,
    env: options.env ?? {},
    ...(caCert === undefined ? {} : { caCert }),
  });
  const closing = new AbortController();
  const secrets = options.secrets ?? new KnownSecrets();
  for (const secret of proxySecrets) secrets.keep(secret);
  return {
    target,
    dialect,
    ...(options.tokenFrom === undefined ? {} : { tokenFrom: options.tokenFrom }),
    origin: url.origin,
    prefix: `${url.pathname.replace(/\/+$/, '')}${services[target.service].root}`,
    userAgent,
    dispatcher,
    throttle: new Throttle({ rate: rateOf(options, clock), slots, clock, shared: options.sharedRate }),
    clock,
    random: options.random ?? Math.random,
    timeouts,
    retryPolicy: { ...defaultRetryPolicy, ...options.retryPolicy },
    failureContext: failureContextOf(url.host, proxy, timeouts),
    signal: options.signal === undefined ? closing.signal : AbortSignal.any([options.signal, closing.signal]),
    abandonWaits: options.abandonWaits ?? new AbortController().signal,
    until: options.until ?? clock.now() + defaultDuration,
    bounds: { bytes: options.largest ?? maxAnswerSize, milliseconds: timeouts.answer },
    waits: new Waits(`target ${quoted(target.name)}`, { report: options.onWait ?? (() => {}), clock }),
    observer: options.observer,
    ...(options.inspect === undefined ? {} : { inspect: options.inspect }),
    secrets,
    warn: (message) => options.onWarning?.(secrets.redact(message)),
    difference: new ClockDifference(),
    hasAnswered: false,
    stop: () => closing.abort(new Error('the target was closed')),
    close: () => dispatcher.destroy(),
  };
}

function rateOf({ target, sharedRate }: ConnectionOptions, clock: Clock): RateController {
  const { url, service, requestsPerSecond: given } = target;
  if (given !== undefined) return new RateController({ initial: given, highest: given, clock });
  // The embedded service has no other users, so it needs no rate limit.
  const none = Number.POSITIVE_INFINITY;
  if (url === 'embedded') return new RateController({ initial: none, highest: none, clock });
  // All processes keep the shared rate together, so this one starts at the highest rate and looks for none of its own.
  if (sharedRate !== undefined)
    return new RateController({ initial: highestRate, highest: highestRate, clock });
  const { freeReads } = services[service];
  return new RateController({ initial: initialRate, highest: highestRate, freeReads, clock });
}

function failureContextOf(host: string, proxy: string | undefined, timeouts: Timeouts): FailureContext {
  const seconds = {
    connect: timeouts.connect / 1000,
    headers: timeouts.headers / 1000,
    body: timeouts.body / 1000,
    answer: timeouts.answer / 1000,
  };
  return proxy === undefined ? { host, seconds } : { host, proxy, seconds };
}
