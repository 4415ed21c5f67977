/**
 * Sends requests over a line: waits for its turn, tries again where that is allowed, and turns what comes back into an
 * answer. A request that is not repeatable is never sent again after it may have reached the service (rule 34).
 */
import type { Dispatcher } from 'undici';
import type { Json } from '../../model/json/json.ts';
import { untilAborted } from '../../model/until-aborted.ts';
import { type Answer, WireError } from '../../model/wire.ts';
import { type Exchange, exchange, headerOf } from './exchange.ts';
import { explainFailure } from './explain-failure.ts';
import type { Connection, Trace } from './connection.ts';
import { readAnswer } from '../read-answer.ts';
import { requestHeaders } from '../request-headers.ts';
import { type RetryDecision, decideRetry, type RetryHistory } from './retry.ts';

/**
 * Gives the token to send. Called for each try; `refused` is a token that the service has just turned down: who can get
 * another one gives it, and the request is sent once more; who cannot gives the same again.
 */
export type TokenProvider = (refused?: string) => Promise<string>;

export interface Outgoing {
  readonly method: string;
  /** below the API root, encoded, with query */
  readonly path: string;
  /** in the dialect's own names */
  readonly body?: Json;
  readonly repeatable: boolean;
  /** values inside the body that no message may show */
  readonly secrets?: readonly string[];
  /** in place of the line's signal */
  readonly signal?: AbortSignal;
  /** asked before each try, after all that there is to wait for */
  readonly permit?: () => Promise<void>;
  /** once aborted no try is begun any more, and nothing is waited for but the answer to the one in flight */
  readonly stop?: AbortSignal;
}

export interface SenderOptions {
  readonly line: Connection;
  /** the line's dispatcher, restricted to this sender's purpose */
  readonly dispatcher: Dispatcher;
  /** absent for requests that need none */
  readonly token?: TokenProvider;
}

/** One try that is about to be made. */
interface Turn {
  readonly request: Outgoing;
  readonly token: string | undefined;
  /** from 1 */
  readonly attempt: number;
  /** of the tries before */
  readonly history: RetryHistory;
  /** one of them may have been carried out although it failed */
  readonly arrived: boolean;
  /** one of them was answered, or may have been carried out: what comes now may be the echo of it */
  readonly heard: boolean;
}

/** One try that was made, and what is to follow. */
interface Tried {
  readonly result: Exchange;
  readonly history: RetryHistory;
  readonly decision: RetryDecision;
}

/** The newest try. */
interface Made {
  readonly turn: Turn;
  readonly tried: Tried;
}

export class Sender {
  readonly #connection: Connection;
  readonly #dispatcher: Dispatcher;
  readonly #provider: TokenProvider | undefined;
  #sent = 0;

  constructor({ line, dispatcher, token }: SenderOptions) {
    this.#connection = line;
    this.#dispatcher = dispatcher;
    this.#provider = token;
  }

  /** Requests sent so far, each try counted. */
  get sent(): number {
    return this.#sent;
  }

  /**
   * @returns the answer, whatever its status: the last one when several tries were made
   * @throws WireError when there is none; `sent` says whether the service may have acted all the same
   */
  async send(request: Outgoing): Promise<Answer> {
    for (const secret of request.secrets ?? []) this.#connection.secrets.keep(secret);
    const history = { faults: 0, throttled: 0, spent: 0 };
    const turn: Turn = { request, token: undefined, attempt: 1, history, arrived: false, heard: false };
    const made: Made[] = [];
    try {
      return await this.#sendInTurn(turn, made);
    } catch (error) {
      const last = made.at(-1);
      if (last === undefined || !this.#isLast(last)) throw error;
      return this.#conclude(last.turn, last.tried);
    }
  }

  /** @param made is given each try */
  async #sendInTurn(first: Turn, made: Made[]): Promise<Answer> {
    let turn = { ...first, token: await this.#token(first) };
    let doubted = false;
    for (;;) {
      const tried = await this.#try(turn);
      made.push({ turn, tried });
      const next = {
        ...turn,
        attempt: turn.attempt + 1,
        history: tried.history,
        arrived: turn.arrived || mayHaveActed(tried.result),
        heard: turn.heard || cameThrough(tried.result),
      };
      if (turnsTokenDown(tried.result) && !doubted) {
        doubted = true;
        const token = await this.#token(next, turn.token);
        if (token !== turn.token) {
          turn = { ...next, token };
          continue;
        }
      }
      if (!tried.decision.repeat) return this.#conclude(turn, tried);
      await this.#wait(next, tried.decision.wait);
      turn = { ...next, token: await this.#token(next) };
    }
  }

  /**
   * Whether nothing comes after this try because the run was stopped, so that the request ends as the try did. One that was
   * told to wait ends as not sent.
   */
  #isLast({ turn, tried: { result } }: Made): boolean {
    if (this.#signalOf(turn).aborted || !turn.request.stop?.aborted) return false;
    return result.kind === 'broken' || result.status !== 429;
  }

  async #token(turn: Turn, refused?: string): Promise<string | undefined> {
    const { stop } = turn.request;
    if (stop?.aborted) throw this.#givenUp(turn, stop.reason);
    try {
      const provided = this.#provider?.(refused);
      const token = provided && (await untilAborted(provided, stop)).trim();
      return token && this.#connection.secrets.keep(token);
    } catch (cause) {
      if (stop?.aborted) throw this.#givenUp(turn, stop.reason);
      // What became of a login says nothing about the request that it was for.
      if (!(cause instanceof WireError)) throw cause;
      const { message, method, url } = cause;
      throw new WireError(message, { method, url, sent: turn.arrived, cause });
    }
  }

  /** One try in its turn. A pause of the target is set before the slot is given back, so that no one slips through. */
  async #try(turn: Turn): Promise<Tried> {
    const { throttle, clock, onTrace, waits } = this.#connection;
    const leave = await throttle.enter(this.#endOfWaits(turn)).catch((cause: unknown) => {
      throw this.#givenUp(turn, cause);
    });
    try {
      await this.#mayBegin(turn).catch((cause: unknown) => {
        throw this.#givenUp(turn, cause);
      });
      const began = clock.now();
      this.#sent += 1;
      const answered = waits.begin(`the answer to ${turn.request.method} ${this.#urlOf(turn)}`);
      const result = await exchange(this.#dispatcher, this.#onTheWire(turn), {
        signal: this.#signalOf(turn),
        stop: turn.request.stop,
        bounds: this.#connection.bounds,
      }).finally(answered);
      const milliseconds = clock.now() - began;
      this.#notice(result);
      onTrace({ ...this.#traceOf(turn, result), milliseconds });
      return { result, ...this.#judge(turn, result, milliseconds) };
    } finally {
      leave();
    }
  }

  /** Asked last: what is permitted may take its time, and the run be stopped meanwhile. */
  async #mayBegin({ request: { permit, stop } }: Turn): Promise<void> {
    if (permit !== undefined) await untilAborted(permit(), stop);
    stop?.throwIfAborted();
  }

  /** What every answer tells of the target itself. */
  #notice(result: Exchange): void {
    if (result.kind !== 'answered') return;
    this.#connection.hasAnswered = true;
    this.#connection.rebuffs = result.status === 429 ? this.#connection.rebuffs + 1 : 0;
    this.#connection.throttle.limit(Number(headerOf(result, 'x-ratelimit-limit')));
  }

  #judge(turn: Turn, result: Exchange, milliseconds: number): Omit<Tried, 'result'> {
    const { clock, random, retryPolicy, throttle, hasAnswered, rebuffs, failureContext, until } =
      this.#connection;
    const history = withTry(turn.history, result, milliseconds);
    if (this.#signalOf(turn).aborted) return { decision: { repeat: false }, history };
    const lasts = result.kind === 'broken' && explainFailure(result.cause, failureContext).lasts;
    const situation = {
      exchange: result,
      repeatable: turn.request.repeatable,
      hasAnswered,
      lasts,
      rebuffs,
      history,
    };
    const decision = decideRetry(situation, retryPolicy, { now: clock.now(), until, random });
    if (!decision.repeat) {
      if (decision.past !== undefined)
        throttle.shut(new Error(this.#tooLong(decision.past, decision.isOurs)));
      return { decision, history };
    }
    if (decision.pause > 0) this.#pause(turn, result, decision.pause);
    return { decision, history: { ...history, spent: history.spent + decision.spends } };
  }

  /** Everyone waits, and who watches is told why, once for all that wait. */
  #pause(turn: Turn, result: Exchange, milliseconds: number): void {
    const { throttle, waits } = this.#connection;
    const isNews = milliseconds > throttle.pausedFor + 1000;
    throttle.pause(milliseconds);
    if (!isNews || result.kind !== 'answered') return;
    const seconds = Math.ceil(milliseconds / 1000);
    waits.announce(
      `it answered ${result.status} to ${turn.request.method} ${this.#urlOf(turn)}, and the next request is sent in ${seconds} s`,
      milliseconds,
    );
  }

  /** @param isOurs the pause is longer than what the target asks for, if it asks for any */
  #tooLong(milliseconds: number, isOurs = false): string {
    const { target, clock, until } = this.#connection;
    const [asked, left] = [milliseconds, until - clock.now()].map((span) =>
      Math.max(0, Math.ceil(span / 1000)),
    );
    return `target "${target.name}" ${isOurs ? `is asked again in ${asked} s` : `asks to wait for ${asked} s`}, and this run has ${left} s left; try again later, or give it more time with --timeout`;
  }

  async #wait(turn: Turn, milliseconds: number): Promise<void> {
    if (milliseconds === 0) return;
    const over = this.#connection.waits.begin(`${turn.request.method} ${this.#urlOf(turn)} is tried again`);
    await this.#connection.clock
      .wait(milliseconds, this.#endOfWaits(turn))
      .catch((cause: unknown) => {
        throw this.#givenUp(turn, cause);
      })
      .finally(over);
  }

  #conclude(turn: Turn, { result, decision }: Tried): Answer {
    const about = { method: turn.request.method, url: this.#urlOf(turn) };
    const { secrets } = this.#connection;
    if (!decision.repeat && decision.past !== undefined)
      throw this.#givenUp(
        { ...turn, arrived: turn.arrived || mayHaveActed(result) },
        new Error(this.#tooLong(decision.past, decision.isOurs)),
      );
    if (result.kind === 'answered') {
      const answer = readAnswer(result, { ...about, dialect: this.#connection.dialect, secrets });
      return turn.heard ? { ...answer, repeated: true } : answer;
    }
    const sent = turn.arrived || result.sent;
    const { cause } = result;
    if (this.#signalOf(turn).aborted) throw this.#givenUp({ ...turn, arrived: sent }, cause);
    const { says } = explainFailure(cause, this.#connection.failureContext);
    const tries = turn.attempt > 1 ? ` (tried ${turn.attempt} times)` : '';
    const message = secrets.redact(`${about.method} ${about.url} failed: ${says}${tries}`);
    throw new WireError(message, { ...about, sent, cause });
  }

  #givenUp(turn: Turn, cause: unknown): WireError {
    const about = { method: turn.request.method, url: this.#urlOf(turn), sent: turn.arrived, cause };
    const isTold = cause instanceof Error && cause.name !== 'AbortError';
    const why = isTold ? cause.message : 'the run was stopped';
    return new WireError(`${about.method} ${about.url} was given up: ${why}`, about);
  }

  #signalOf({ request }: Turn): AbortSignal {
    return request.signal ?? this.#connection.signal;
  }

  /** Nothing is waited for on behalf of what will not be sent. */
  #endOfWaits(turn: Turn): AbortSignal {
    const { stop } = turn.request;
    return stop === undefined ? this.#signalOf(turn) : AbortSignal.any([this.#signalOf(turn), stop]);
  }

  #urlOf({ request }: Turn): string {
    return `${this.#connection.origin}${this.#connection.prefix}${request.path}`;
  }

  #onTheWire({ request, token }: Turn): Dispatcher.DispatchOptions {
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

  #traceOf(turn: Turn, result: Exchange): Omit<Trace, 'milliseconds'> {
    const about = { method: turn.request.method, url: this.#urlOf(turn), attempt: turn.attempt };
    if (result.kind === 'broken') {
      const { says } = explainFailure(result.cause, this.#connection.failureContext);
      return { ...about, failure: this.#connection.secrets.redact(says) };
    }
    const requestId = headerOf(result, 'x-request-id');
    return { ...about, status: result.status, ...(requestId === undefined ? {} : { requestId }) };
  }
}

/** A refusal did nothing; a lost answer or a fault of the service may have. */
function mayHaveActed(result: Exchange): boolean {
  return result.kind === 'broken' ? result.sent : result.status >= 500 || result.status === 408;
}

/** Also to be told to wait: whoever says so may have passed the request on. Who is taken for nobody got no further. */
function cameThrough(result: Exchange): boolean {
  return result.kind === 'broken' ? result.sent : result.status !== 401;
}

function turnsTokenDown(result: Exchange): boolean {
  return result.kind === 'answered' && (result.status === 401 || result.status === 403);
}

function withTry(history: RetryHistory, result: Exchange, milliseconds: number): RetryHistory {
  const throttled = result.kind === 'answered' && result.status === 429;
  return {
    faults: history.faults + (throttled ? 0 : 1),
    throttled: history.throttled + (throttled ? 1 : 0),
    spent: history.spent + milliseconds,
  };
}
