/**
 * The connection to a code host: one request after the other, repeated by the rules that hold for targets. The token goes to the
 * address that was given and to no other: a redirect is not followed.
 */
import type { Dispatcher } from 'undici';
import type { CodeHost, CodeHostAnswer, CodeHostRequest } from './code-host.ts';
import type { KnownSecrets } from '../../model/redaction/known-secrets.ts';
import { WireError } from '../../model/wire.ts';
import { quoted } from '../../model/quoted.ts';
import { readAnswer } from '../read-answer.ts';
import { type Clock, systemClock } from '../transport/clock.ts';
import { type Exchange, exchange, type RawAnswer } from '../transport/exchange.ts';
import { explainFailure, type FailureContext } from '../transport/explain-failure.ts';
import { type Environment, openDispatcher } from '../transport/open-dispatcher.ts';
import { pathsBelow } from '../transport/restrict.ts';
import { withAttempt } from '../transport/attempt.ts';
import { decideRetry, defaultRetryPolicy, type RetryDecision, type RetryPolicy } from '../transport/retry.ts';
import { Waits } from '../transport/waits.ts';
import { nextPageOf } from './next-page.ts';
import { withRateLimit } from './rate-limit.ts';

interface CodeHostOptions {
  /** the address of its API, without a trailing slash */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string;
  readonly userAgent: string;
  /** with HTTP_PROXY, HTTPS_PROXY and NO_PROXY */
  readonly env: Environment;
  /** the end of the run */
  readonly signal: AbortSignal;
  /** the deadline of the run, in milliseconds since 1970 */
  readonly until: number;
  readonly onWait: (message: string) => void;
  readonly secrets: KnownSecrets;
  readonly clock?: Clock;
  /** from 0 to 1, for jitter */
  readonly random?: () => number;
  readonly retryPolicy?: Partial<RetryPolicy>;
}

/** In seconds. */
const limits = { connect: 10, headers: 60, body: 60, answer: 120 };

/** The maximal size of an answer in bytes: a page of a hundred comments, each as long as one may be. */
const maxAnswerSize = 128 * 1024 * 1024;

/** Who goes on after so many refusals for the rate may be barred, says the documentation. */
const maxThrottled = 5;

const address = 'the address of the API ("--url")';

/** Nothing is sent before the first request. @throws ProxyError */
export function openCodeHost(options: CodeHostOptions): CodeHost {
  const url = new URL(options.url);
  const prefix = url.pathname.replace(/\/+$/, '');
  const opened = openDispatcher({
    url,
    connections: 1,
    connectTimeout: limits.connect * 1000,
    env: options.env,
  });
  for (const secret of opened.secrets) options.secrets.keep(secret);
  const { proxy } = opened;
  const { clock = systemClock, random = Math.random } = options;
  const line: Line = {
    ...options,
    clock,
    random,
    origin: url.origin,
    prefix,
    dispatcher: pathsBelow(opened.dispatcher, `${prefix}/`),
    waits: new Waits(quoted(url.host), { report: options.onWait, clock }),
    failureContext: { host: url.host, seconds: limits, address, ...(proxy === undefined ? {} : { proxy }) },
    policy: { ...defaultRetryPolicy, throttled: maxThrottled, ...options.retryPolicy },
  };
  let hasAnswered = false;
  return {
    async send(request) {
      const answer = await sendRepeatedly(line, request, hasAnswered);
      hasAnswered = true;
      return answer;
    },
    close: () => opened.dispatcher.destroy(),
  };
}

interface Line extends CodeHostOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly origin: string;
  readonly prefix: string;
  readonly dispatcher: Dispatcher;
  readonly waits: Waits;
  readonly failureContext: FailureContext;
  readonly policy: RetryPolicy;
}

async function sendRepeatedly(
  line: Line,
  request: CodeHostRequest,
  answeredBefore: boolean,
): Promise<CodeHostAnswer> {
  const { clock, policy, random, until } = line;
  let history = { faults: 0, throttled: 0, spent: 0 };
  let sent = false;
  let hasAnswered = answeredBefore;
  for (;;) {
    const began = clock.now();
    const raw = await exchangeOnce(line, request);
    const result = withRateLimit(raw, history.throttled);
    history = withAttempt(history, result, clock.now() - began);
    sent ||= raw.kind === 'broken' ? raw.sent : raw.status >= 500;
    hasAnswered ||= raw.kind === 'answered';
    const isPermanent =
      line.signal.aborted ||
      (raw.kind === 'broken' && explainFailure(raw.cause, line.failureContext).isPermanent);
    const decision = decideRetry(
      {
        exchange: result,
        repeatable: request.repeatable,
        hasAnswered,
        isPermanent,
        history,
      },
      policy,
      { now: clock.now(), until, random },
    );
    if (!decision.repeat) return conclude(line, { request, raw, sent, decision });
    await pause(line, request, Math.max(decision.pause, decision.wait));
    history = { ...history, spent: history.spent + decision.spends };
  }
}

function exchangeOnce(line: Line, request: CodeHostRequest): Promise<Exchange> {
  const { dispatcher, origin, headers, token, userAgent, signal, waits } = line;
  const { method, body } = request;
  const over = waits.begin(`the answer to ${method} ${urlOf(line, request)}`);
  return exchange(
    dispatcher,
    {
      origin,
      method,
      path: pathOf(line, request),
      headers: {
        ...headers,
        'user-agent': userAgent,
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: limits.headers * 1000,
      bodyTimeout: limits.body * 1000,
    },
    { signal, bounds: { bytes: maxAnswerSize, milliseconds: limits.answer * 1000 } },
  ).finally(over);
}

async function pause(line: Line, request: CodeHostRequest, milliseconds: number): Promise<void> {
  const { clock, signal, waits } = line;
  const what = `${request.method} ${urlOf(line, request)}`;
  const over = waits.begin(`${what} is tried again`);
  const seconds = Math.ceil(milliseconds / 1000);
  waits.reportPause(`${what} is sent again in ${seconds} s`, milliseconds);
  await clock
    .wait(milliseconds, signal)
    .catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : 'the run was stopped';
      const about = { method: request.method, url: urlOf(line, request), sent: false, cause };
      throw new WireError(`${what} was given up: ${why}`, about);
    })
    .finally(over);
}

interface Ended {
  readonly request: CodeHostRequest;
  readonly raw: Exchange;
  /** whether the service may have carried it out although there is no answer */
  readonly sent: boolean;
  readonly decision: Extract<RetryDecision, { readonly repeat: false }>;
}

function conclude(line: Line, { request, raw, sent, decision }: Ended): CodeHostAnswer {
  const { secrets, clock, until } = line;
  const about = { method: request.method, url: urlOf(line, request) };
  if (decision.past !== undefined) {
    const left = Math.max(0, Math.ceil((until - clock.now()) / 1000));
    throw new WireError(
      `${about.method} ${about.url} was given up: ${quoted(line.failureContext.host)} asks to wait for ${Math.ceil(decision.past / 1000)} s, and this run has ${left} s left; try again later, or give it more time with --timeout`,
      { ...about, sent },
    );
  }
  if (raw.kind === 'broken') {
    const { message } = explainFailure(raw.cause, line.failureContext);
    const why = secrets.redact(`${about.method} ${about.url} failed: ${message}`);
    throw new WireError(why, { ...about, sent, cause: raw.cause });
  }
  return answerOf(raw, line, about);
}

function answerOf(raw: RawAnswer, { secrets }: Line, about: { method: string; url: string }): CodeHostAnswer {
  const { status, body, words } = readAnswer(raw, { ...about, dialect: { rename: {} }, secrets, address });
  const nextPage = nextPageOf(raw);
  return { ...about, status, body, words, ...(nextPage === undefined ? {} : { nextPage }) };
}

function pathOf({ prefix }: Line, { path }: CodeHostRequest): string {
  return `${prefix}${path}`;
}

function urlOf(line: Line, request: CodeHostRequest): string {
  return `${line.origin}${pathOf(line, request)}`;
}
