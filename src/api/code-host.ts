/**
 * The connection to a code host, for pull requests, comments and issues. It sends one request at a time, and retries it like requests
 * to targets. The token is sent only to the given address: neither a redirect nor a link to the next page is followed.
 * Source: wire/code-hosts 3, 4
 */
import type { Dispatcher } from 'undici';
import { WireError } from '../model/http.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import type { KnownSecrets } from '../redaction/known-secrets.ts';
import { type Clock, systemClock, Waits } from './transport/clock.ts';
import { codeHostOnly, openDispatcher } from './transport/dispatcher.ts';
import type { Environment } from './transport/proxy.ts';
import { type Exchange, exchange, headerOf, type RawAnswer, type Observer } from './transport/exchange.ts';
import { explainFailure, type FailureContext } from './transport/explain-failure.ts';
import { readAnswer } from './transport/read-response.ts';
import {
  decideRetry,
  defaultRetryPolicy,
  type RetryDecision,
  type RetryPolicy,
  withAttempt,
} from './transport/retry.ts';

export interface CodeHostRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** below the API's address, encoded, with query; `graphql` for the GraphQL API of the same service */
  readonly path: string;
  readonly body?: JsonObject;
  /** whether the request is sent again even if it may already have been carried out */
  readonly repeatable: boolean;
}

export interface CodeHostAnswer {
  readonly method: string;
  /** for messages */
  readonly url: string;
  readonly status: number;
  /** null when it is empty or not JSON */
  readonly body: Json;
  /** the service's own words about a failure; empty on success */
  readonly words: string;
  /** the number of the next page of a list, if there is one and pages have numbers */
  readonly nextPage?: number;
  /** the parameter `after` of the next page of a list, if there is one and pages have no numbers */
  readonly nextCursor?: string;
}

export interface CodeHost {
  /** @throws WireError when there is no answer, or when the wait that the service asks for does not fit into the run */
  send(request: CodeHostRequest): Promise<CodeHostAnswer>;
  close(): Promise<void>;
}

interface CodeHostOptions {
  /** the address of its API, without a trailing slash */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: string;
  /** the setting that holds the address, for messages */
  readonly address?: string;
  readonly userAgent: string;
  /** with HTTP_PROXY, HTTPS_PROXY and NO_PROXY */
  readonly env: Environment;
  /** the end of the run */
  readonly signal: AbortSignal;
  /** the deadline of the run, in milliseconds since 1970 */
  readonly until: number;
  readonly onWait: (message: string) => void;
  readonly observer?: Observer | undefined;
  readonly secrets: KnownSecrets;
  readonly clock?: Clock;
  /** from 0 to 1, for jitter */
  readonly random?: () => number;
  readonly retryPolicy?: Partial<RetryPolicy>;
}

/** Time limits in seconds. */
const limits = { connect: 10, headers: 60, body: 60, answer: 120 };

/** The maximal size of an answer in bytes: a page of a hundred comments of the maximal length. */
const maxAnswerSize = 128 * 1024 * 1024;

/** The maximal number of rate limit errors of a request. According to the documentation, clients that continue may be blocked. */
const maxThrottled = 5;

const apiAddress = 'the address of the API ("--url")';

/** Opens the connection, which sends nothing yet. @throws ProxyError */
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
  const { clock = systemClock, random = Math.random, address = apiAddress } = options;
  const connection: CodeHostConnection = {
    ...options,
    address,
    clock,
    random,
    origin: url.origin,
    prefix,
    dispatcher: codeHostOnly(opened.dispatcher, `${prefix}/`, graphqlPath(prefix)),
    waits: new Waits(quoted(url.host), { report: options.onWait, clock }),
    failureContext: { host: url.host, seconds: limits, address, ...(proxy === undefined ? {} : { proxy }) },
    policy: { ...defaultRetryPolicy, throttled: maxThrottled, ...options.retryPolicy },
  };
  let hasAnswered = false;
  return {
    async send(request) {
      const answer = await sendRepeatedly(connection, request, hasAnswered);
      hasAnswered = true;
      return answer;
    },
    close: () => opened.dispatcher.destroy(),
  };
}

interface CodeHostConnection extends CodeHostOptions {
  readonly address: string;
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
  connection: CodeHostConnection,
  request: CodeHostRequest,
  answeredBefore: boolean,
): Promise<CodeHostAnswer> {
  const { clock, policy, random, until } = connection;
  let history = { faults: 0, throttled: 0, spent: 0 };
  let sent = false;
  let hasAnswered = answeredBefore;
  for (;;) {
    const began = clock.now();
    const raw = await exchangeOnce(connection, request);
    const result = withRateLimit(raw, history.throttled);
    history = withAttempt(history, result, clock.now() - began);
    sent ||= raw.kind === 'broken' ? raw.sent : raw.status >= 500;
    hasAnswered ||= raw.kind === 'answered';
    const isPermanent =
      connection.signal.aborted ||
      (raw.kind === 'broken' && explainFailure(raw.cause, connection.failureContext).isPermanent);
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
    if (!decision.repeat) return conclude(connection, { request, raw, sent, decision });
    await pause(connection, request, Math.max(decision.pause, decision.wait));
    history = { ...history, spent: history.spent + decision.spends };
  }
}

function exchangeOnce(connection: CodeHostConnection, request: CodeHostRequest): Promise<Exchange> {
  const { dispatcher, origin, headers, token, userAgent, signal, waits, observer } = connection;
  const { method, body } = request;
  const endWait = waits.begin(`the answer to ${method} ${urlOf(connection, request)}`);
  return exchange(
    dispatcher,
    {
      origin,
      method,
      path: pathOf(connection, request),
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
    { signal, observer, bounds: { bytes: maxAnswerSize, milliseconds: limits.answer * 1000 } },
  ).finally(endWait);
}

async function pause(
  connection: CodeHostConnection,
  request: CodeHostRequest,
  milliseconds: number,
): Promise<void> {
  const { clock, signal, waits, observer } = connection;
  const what = `${request.method} ${urlOf(connection, request)}`;
  const endWait = waits.begin(`${what} is tried again`);
  const seconds = Math.ceil(milliseconds / 1000);
  observer?.wait(`${what} is sent again`, milliseconds);
  waits.reportPause(`${what} is sent again in ${seconds} s`, milliseconds);
  await clock
    .wait(milliseconds, signal)
    .catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : 'the run was stopped';
      const about = { method: request.method, url: urlOf(connection, request), sent: false, cause };
      throw new WireError(`${what} was given up: ${why}`, about);
    })
    .finally(endWait);
}

interface FinalExchange {
  readonly request: CodeHostRequest;
  readonly raw: Exchange;
  /** whether the service may have carried out the request although no attempt succeeded */
  readonly sent: boolean;
  readonly decision: Extract<RetryDecision, { readonly repeat: false }>;
}

function conclude(
  connection: CodeHostConnection,
  { request, raw, sent, decision }: FinalExchange,
): CodeHostAnswer {
  const { secrets, clock, until } = connection;
  const about = { method: request.method, url: urlOf(connection, request) };
  if (decision.past !== undefined) {
    const left = Math.max(0, Math.ceil((until - clock.now()) / 1000));
    throw new WireError(
      `${about.method} ${about.url} was given up: ${quoted(connection.failureContext.host)} asks to wait for ${Math.ceil(decision.past / 1000)} s, and this run has ${left} s left; try again later, or give it more time with --timeout`,
      { ...about, sent },
    );
  }
  if (raw.kind === 'broken') {
    const { message } = explainFailure(raw.cause, connection.failureContext);
    const why = secrets.redact(`${about.method} ${about.url} failed: ${message}`);
    throw new WireError(why, { ...about, sent, cause: raw.cause });
  }
  return answerOf(raw, connection, about);
}

function answerOf(
  raw: RawAnswer,
  { secrets, address }: CodeHostConnection,
  about: { method: string; url: string },
): CodeHostAnswer {
  const { status, body, words } = readAnswer(raw, { ...about, dialect: { rename: {} }, secrets, address });
  return { ...about, status, body, words, ...nextOf(raw) };
}

function pathOf({ prefix }: CodeHostConnection, { path }: CodeHostRequest): string {
  return path === 'graphql' ? graphqlPath(prefix) : `${prefix}${path}`;
}

/** The GraphQL API is next to the REST API, whose path ends with its version except at api.github.com. Source: wire/code-hosts 6 */
function graphqlPath(prefix: string): string {
  return `${prefix.replace(/\/v\d+$/, '')}/graphql`;
}

function urlOf(connection: CodeHostConnection, request: CodeHostRequest): string {
  return `${connection.origin}${pathOf(connection, request)}`;
}

// Rate limit errors. Code hosts answer 429, or 403, which otherwise means a missing permission; headers and message distinguish
// them.
// Source: wire/code-hosts 4

/** The wait in seconds if no header says it; doubled each time. */
const defaultWait = 60;

/**
 * The exchange as the retry rules expect it: a rate limit error has the status 429, and a header with the time to wait.
 * @param earlier number of earlier rate limit errors of this request
 */
export function withRateLimit(exchange: Exchange, earlier: number): Exchange {
  if (exchange.kind !== 'answered' || !isRateLimit(exchange)) return exchange;
  const { 'x-ratelimit-reset': reset, ...headers } = exchange.headers;
  const isSpent = headerOf(exchange, 'x-ratelimit-remaining') === '0';
  const hasWait = headers['retry-after'] !== undefined || (isSpent && reset !== undefined);
  return {
    ...exchange,
    status: 429,
    headers: {
      ...headers,
      // While requests are left, this header is about another limit than the one that was exceeded.
      ...(isSpent && reset !== undefined ? { 'x-ratelimit-reset': reset } : {}),
      ...(hasWait ? {} : { 'retry-after': String(defaultWait * 2 ** earlier) }),
    },
  };
}

function isRateLimit(answer: RawAnswer): boolean {
  if (answer.status === 429) return true;
  if (answer.status !== 403) return false;
  const isSpent = headerOf(answer, 'x-ratelimit-remaining') === '0';
  return isSpent || headerOf(answer, 'retry-after') !== undefined || /rate limit/i.test(answer.text);
}

// The next page of a list. Only its number or cursor is taken from an answer, never its link, so that no answer can send the token to
// another address.
// Source: wire/code-hosts 3

/** The number or cursor of the next page; empty for the last page, and for an answer that is not a list. */
function nextOf(answer: RawAnswer): Pick<CodeHostAnswer, 'nextPage' | 'nextCursor'> {
  const linked = linkedParameters(headerOf(answer, 'link') ?? '');
  const page = pageNumber(headerOf(answer, 'x-next-page')) ?? pageNumber(linked?.get('page'));
  const cursor = linked?.get('after');
  return {
    ...(page === undefined ? {} : { nextPage: page }),
    ...(cursor ? { nextCursor: cursor } : {}),
  };
}

function linkedParameters(link: string): URLSearchParams | undefined {
  const address = /<([^>]*)>\s*;[^,<]*\brel="?next"?/i.exec(link)?.[1];
  if (address === undefined || !URL.canParse(address, 'http://localhost')) return undefined;
  return new URL(address, 'http://localhost').searchParams;
}

function pageNumber(text: string | null | undefined): number | undefined {
  return text && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
