/**
 * Sends requests over a connection: waits for the throttle, and parses the answer. A read is repeated if that is allowed. A write
 * is sent once: its result shows whether it may be sent again, after the applier has read the resource.
 */
import type { Dispatcher } from 'undici';
import type { Answer, NextAttempt } from '../../model/http.ts';
import { isSealed, joinSignals, untilAborted, WireError } from '../../model/http.ts';
import { quoted } from '../../model/quoted.ts';
import { type Exchange, exchange, headerOf } from './exchange.ts';
import { explainFailure } from './explain-failure.ts';
import type { Connection } from './connection.ts';
import { readAnswer } from './read-response.ts';
import { requestHeaders } from './service-conventions.ts';
import { ratedAnswer } from './rate-controller.ts';
import {
  type Attempt,
  type AttemptResult,
  attemptNote,
  decideRetry,
  failureText,
  mayHaveActed,
  noAttempts,
  type Outgoing,
  refusesToken,
  type SentAttempt,
  withAttempt,
} from './retry.ts';

/**
 * Provides the token for one attempt of a request to a path. `refused` is a token that the service has just refused: the result is
 * another one, with which the request is sent again, or the same one if the provider has no other.
 */
export type TokenProvider = (path: string, refused?: string) => Promise<string>;

interface SenderOptions {
  readonly connection: Connection;
  /** the connection's dispatcher, restricted to this sender's purpose */
  readonly dispatcher: Dispatcher;
  /** absent for requests without a token */
  readonly token?: TokenProvider;
}

export class Sender {
  readonly #connection: Connection;
  readonly #dispatcher: Dispatcher;
  readonly #provider: TokenProvider | undefined;
  #requestCount = 0;

  constructor({ connection, dispatcher, token }: SenderOptions) {
    this.#connection = connection;
    this.#dispatcher = dispatcher;
    this.#provider = token;
  }

  /** The number of requests sent so far, repeated ones included. */
  get sent(): number {
    return this.#requestCount;
  }

  /**
   * @returns the answer, with any status; the last one when there were several attempts
   * @throws WireError when there is no answer; `sent` shows whether the service may still have acted
   */
  async send(request: Outgoing): Promise<Answer> {
    const attempts: SentAttempt[] = [];
    try {
      return await this.#sendRepeatedly(this.#first(request), attempts);
    } catch (error) {
      const last = attempts.at(-1);
      if (last === undefined || !this.#countsAsResult(last)) throw error;
      return this.#conclude(last.attempt, last.outcome);
    }
  }

  /**
   * Sends a request once.
   * @returns the answer, with any status; with `again` if another attempt is allowed
   * @throws WireError when there is no answer, also with `again`; `sent` shows whether the service may still have acted
   */
  async sendOnce(request: Outgoing): Promise<Answer> {
    const first = this.#first(request);
    const attempt = { ...first, token: await this.#token(first) };
    const outcome = await this.#try(attempt);
    const again = await this.#again(attempt, outcome);
    try {
      const answer = this.#conclude(attempt, outcome);
      return again === undefined ? answer : { ...answer, again };
    } catch (error) {
      if (again === undefined || !(error instanceof WireError)) throw error;
      const { message, method, url, sent, cause } = error;
      throw new WireError(message, { method, url, sent, cause, again });
    }
  }

  #first(request: Outgoing): Attempt {
    for (const secret of request.secrets ?? []) this.#connection.secrets.keep(secret);
    const { history = noAttempts } = request;
    const number = history.faults + history.throttled + 1;
    return { request, token: undefined, number, history, mayHaveActed: false };
  }

  /** Whether and when the caller may send a request again. A refused token is replaced first. */
  async #again(attempt: Attempt, outcome: AttemptResult): Promise<NextAttempt | undefined> {
    const { decision, result, history } = outcome;
    const next = { ...attempt, mayHaveActed: mayHaveActed(result) };
    if (refusesToken(result) && !history.hasNewToken) {
      const token = await this.#token(next, attempt.token).catch(() => attempt.token);
      if (token !== attempt.token)
        return { history: { ...history, hasNewToken: true }, wait: async () => {} };
    }
    return decision.repeat ? { history, wait: () => this.#wait(next, outcome) } : undefined;
  }

  /** @param attempts receives each attempt */
  async #sendRepeatedly(first: Attempt, attempts: SentAttempt[]): Promise<Answer> {
    let attempt = { ...first, token: await this.#token(first) };
    let hasNewToken = false;
    for (;;) {
      const outcome = await this.#try(attempt);
      attempts.push({ attempt, outcome });
      const next = {
        ...attempt,
        number: attempt.number + 1,
        history: outcome.history,
        mayHaveActed: attempt.mayHaveActed || mayHaveActed(outcome.result),
      };
      if (refusesToken(outcome.result) && !hasNewToken) {
        hasNewToken = true;
        if ((await this.#token(next, attempt.token)) !== attempt.token) {
          attempt = { ...next, token: await this.#token(next) };
          continue;
        }
      }
      if (!outcome.decision.repeat) return this.#conclude(attempt, outcome);
      await this.#wait(next, outcome);
      attempt = { ...next, token: await this.#token(next) };
    }
  }

  /**
   * Whether the result of the last attempt is that of the request, because the run was stopped before another one. Not a 429: the
   * request then counts as not sent.
   */
  #countsAsResult({ attempt, outcome: { result } }: SentAttempt): boolean {
    if (this.#signalOf(attempt).aborted || !attempt.request.stop?.aborted) return false;
    return result.kind === 'broken' || result.status !== 429;
  }

  async #token(attempt: Attempt, refused?: string): Promise<string | undefined> {
    const end = this.#endOfWaits(attempt);
    if (end.aborted) throw this.#givenUp(attempt, end.reason);
    try {
      const provided = this.#provider?.(attempt.request.path, refused);
      const token = provided && (await untilAborted(provided, end)).trim();
      return token && this.#connection.secrets.keep(token);
    } catch (cause) {
      if (end.aborted) throw this.#givenUp(attempt, end.reason);
      // The error of a login is not about this request, so the new WireError has the `sent` of this request.
      if (!(cause instanceof WireError)) throw cause;
      const { message, method, url } = cause;
      throw new WireError(message, { method, url, sent: attempt.mayHaveActed, cause });
    }
  }

  /** Makes one attempt when the throttle allows it. A pause begins before the slot is released, so that no other request starts. */
  async #try(attempt: Attempt): Promise<AttemptResult> {
    const { throttle, clock, waits, observer } = this.#connection;
    const { isUrgent, method } = attempt.request;
    const isRead = method === 'GET' || method === 'LIST';
    const queuedAt = clock.now();
    const turn = throttle.enter(this.#endOfWaits(attempt), { isUrgent, isRead });
    const leave = await turn.catch((cause: unknown) => {
      throw this.#givenUp(attempt, cause);
    });
    try {
      await this.#mayBegin(attempt).catch((cause: unknown) => {
        throw this.#givenUp(attempt, cause);
      });
      const began = clock.now();
      this.#requestCount += 1;
      const endWait = waits.begin(`the answer to ${attempt.request.method} ${this.#urlOf(attempt)}`);
      const result = await exchange(this.#dispatcher, this.#dispatchOptions(attempt), {
        signal: this.#signalOf(attempt),
        stop: attempt.request.stop,
        bounds: this.#connection.bounds,
        observer,
        note: attemptNote(attempt, began - queuedAt),
      }).finally(endWait);
      const answered = clock.now();
      const milliseconds = answered - began;
      this.#recordAnswer(result, { sent: began, answered });
      const decided = this.#decide(attempt, result, milliseconds);
      this.#observe(result, milliseconds);
      return { result, ...decided };
    } finally {
      leave();
    }
  }

  /** The last check before sending. `permit` may take some time, so `stop` is checked after it. */
  async #mayBegin({ request: { permit, stop } }: Attempt): Promise<void> {
    if (permit !== undefined) await untilAborted(permit(), stop);
    stop?.throwIfAborted();
  }

  /** Records the clock of the target, and that it has answered. */
  #recordAnswer(result: Exchange, times: { readonly sent: number; readonly answered: number }): void {
    if (result.kind !== 'answered') return;
    this.#connection.difference.learn(headerOf(result, 'date'), times);
    this.#connection.hasAnswered = true;
  }

  /** Passes the rate information of the answer to the throttle. */
  #observe(result: Exchange, milliseconds: number): void {
    const { throttle, clock, until, observer, target } = this.#connection;
    const before = throttle.pausedFor;
    throttle.observe(result.kind === 'answered' ? ratedAnswer(result, milliseconds, clock.now()) : undefined);
    const pause = throttle.pausedFor;
    if (pause > before && clock.now() + pause > until) throttle.shut(new Error(this.#tooLong(pause)));
    else if (pause > before + 1000) {
      observer?.wait(`the rate limit of ${quoted(target.name)} is used up`, pause);
      this.#reportPause('its rate limit is used up for now', pause);
    }
  }

  #decide(attempt: Attempt, result: Exchange, milliseconds: number): Omit<AttemptResult, 'result'> {
    const { clock, random, retryPolicy, throttle, hasAnswered, failureContext, until } = this.#connection;
    const history = withAttempt(attempt.history, result, milliseconds);
    if (this.#signalOf(attempt).aborted) return { decision: { repeat: false }, history };
    const isPermanent =
      result.kind === 'broken'
        ? explainFailure(result.cause, failureContext).isPermanent
        : isSealed({ status: result.status, words: result.text });
    const input = {
      exchange: result,
      repeatable: attempt.request.repeatable,
      hasAnswered,
      isPermanent,
      history,
    };
    const decision = decideRetry(input, retryPolicy, { now: clock.now(), until, random });
    if (!decision.repeat) {
      if (decision.past !== undefined)
        throttle.shut(new Error(this.#tooLong(decision.past, decision.isOurs)));
      return { decision, history };
    }
    if (decision.pause > 0) this.#pause(attempt, result, decision.pause);
    return { decision, history: { ...history, spent: history.spent + decision.spends } };
  }

  /** Pauses all requests to the target, and reports the pause once. */
  #pause(attempt: Attempt, result: Exchange, milliseconds: number): void {
    const { throttle, observer } = this.#connection;
    const isNews = milliseconds > throttle.pausedFor + 1000;
    throttle.pause(milliseconds);
    if (result.kind !== 'answered') return;
    observer?.wait(failureText(result, this.#connection), milliseconds);
    const what = `${attempt.request.method} ${this.#urlOf(attempt)}`;
    if (isNews) this.#reportPause(`it answered ${result.status} to ${what}`, milliseconds);
  }

  #reportPause(why: string, milliseconds: number): void {
    const seconds = Math.ceil(milliseconds / 1000);
    this.#connection.waits.reportPause(`${why}, and the next request is sent in ${seconds} s`, milliseconds);
  }

  /** @param isOurs whether trueup chose the pause, and not the target */
  #tooLong(milliseconds: number, isOurs = false): string {
    const { target, clock, until } = this.#connection;
    const [asked, left] = [milliseconds, until - clock.now()].map((span) =>
      Math.max(0, Math.ceil(span / 1000)),
    );
    return `target ${quoted(target.name)} ${isOurs ? `gets the next request in ${asked} s` : `asks to wait for ${asked} s`}, and this run has ${left} s left; try again later, or give it more time with --timeout`;
  }

  async #wait(attempt: Attempt, { decision, result }: AttemptResult): Promise<void> {
    const milliseconds = decision.repeat ? decision.wait : 0;
    if (milliseconds === 0) return;
    const what = `${attempt.request.method} ${this.#urlOf(attempt)} is tried again`;
    this.#connection.observer?.wait(`${failureText(result, this.#connection)}, ${what}`, milliseconds);
    const endWait = this.#connection.waits.begin(what);
    await this.#connection.clock
      .wait(milliseconds, this.#endOfWaits(attempt))
      .catch((cause: unknown) => {
        throw this.#givenUp(attempt, cause);
      })
      .finally(endWait);
  }

  #conclude(attempt: Attempt, { result, decision }: AttemptResult): Answer {
    const about = { method: attempt.request.method, url: this.#urlOf(attempt) };
    const { secrets } = this.#connection;
    if (!decision.repeat && decision.past !== undefined)
      throw this.#givenUp(
        { ...attempt, mayHaveActed: attempt.mayHaveActed || mayHaveActed(result) },
        new Error(this.#tooLong(decision.past, decision.isOurs)),
      );
    if (result.kind === 'answered') {
      const { dialect, tokenFrom, inspect } = this.#connection;
      const source = attempt.token === undefined ? undefined : tokenFrom;
      return readAnswer(result, { ...about, dialect, secrets, tokenFrom: source, inspect });
    }
    const sent = attempt.mayHaveActed || result.sent;
    const { cause } = result;
    if (this.#signalOf(attempt).aborted) throw this.#givenUp({ ...attempt, mayHaveActed: sent }, cause);
    const { message: reason } = explainFailure(cause, this.#connection.failureContext);
    const tries = attempt.number > 1 ? ` (tried ${attempt.number} times)` : '';
    const message = secrets.redact(`${about.method} ${about.url} failed: ${reason}${tries}`);
    throw new WireError(message, { ...about, sent, cause });
  }

  #givenUp(attempt: Attempt, cause: unknown): WireError {
    const { request, mayHaveActed: sent } = attempt;
    const about = { method: request.method, url: this.#urlOf(attempt), sent, cause };
    const hasReason = cause instanceof Error && cause.name !== 'AbortError';
    const why = hasReason ? cause.message : 'the run was stopped';
    return new WireError(`${about.method} ${about.url} was given up: ${why}`, about);
  }

  #signalOf({ request }: Attempt): AbortSignal {
    return request.signal ?? this.#connection.signal;
  }

  /** The signal that ends all waits before an attempt: the signal of the request, or `stop`, which lets a sent request finish. */
  #endOfWaits(attempt: Attempt): AbortSignal {
    const [own, { stop }] = [this.#signalOf(attempt), attempt.request];
    return stop === undefined ? own : joinSignals(own, stop);
  }

  #urlOf({ request }: Attempt): string {
    return `${this.#connection.origin}${this.#connection.prefix}${request.path}`;
  }

  #dispatchOptions({ request, token }: Attempt): Dispatcher.DispatchOptions {
    const { origin, prefix, timeouts } = this.#connection;
    const { method, path, body } = request;
    return {
      origin,
      method,
      path: `${prefix}${path}`,
      headers: requestHeaders(this.#connection, { method, hasBody: body !== undefined, token }),
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: timeouts.headers,
      bodyTimeout: timeouts.body,
    };
  }
}
