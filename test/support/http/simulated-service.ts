/**
 * A service in simulated time, below the sender: it counts requests in windows, refuses what is too much, and takes its time. All
 * that it was asked is kept with the time of its arrival.
 */
import { Dispatcher } from 'undici';
import { findDialect } from '../../../src/api/dialects.ts';
import { openConnection } from '../../../src/api/transport/connection.ts';
import { Sender } from '../../../src/api/transport/sender.ts';
import type { Target } from '../../../src/model/stack.ts';
import { rolesTarget, workspacesTarget } from './open-for-test.ts';
import { SimulatedClock } from './simulated-clock.ts';

export interface SimulatedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** milliseconds until it comes; 20 where nothing is said */
  readonly after?: number;
}

/** @param at milliseconds since the beginning; `busy` is the number of requests that have no answer yet, this one included */
export type Answering = (at: number, busy: number) => SimulatedAnswer;

export interface Simulation {
  /** milliseconds from the beginning to each arrival, and the status that it was answered */
  readonly arrivals: readonly { readonly at: number; readonly status: number }[];
  /** milliseconds until everything was answered */
  readonly took: number;
}

export interface Load {
  readonly requests: number;
  /** requests that are waiting to be sent, or for their answers, at any time */
  readonly atOnce?: number;
  readonly service?: Target['service'];
  readonly method?: 'GET' | 'POST';
  readonly requestsPerSecond?: number;
}

/** Sends so many requests through a real sender, each until it has another answer than 429 and 503. */
export async function simulate(answering: Answering, load: Load): Promise<Simulation> {
  const { requests, atOnce = 20, service = 'workspaces', method = 'GET', requestsPerSecond } = load;
  const clock = new SimulatedClock();
  const began = clock.now();
  const arrivals: { at: number; status: number }[] = [];
  const { requestsPerSecond: _, ...target } = service === 'workspaces' ? workspacesTarget : rolesTarget;
  const dialect = findDialect(service, 'neutral');
  if (dialect === undefined) throw new Error('no dialect');
  const connection = openConnection({
    target: { ...target, ...(requestsPerSecond === undefined ? {} : { requestsPerSecond }) },
    url: target.url,
    dialect,
    userAgent: 'trueup/test',
    clock,
    until: began + 1e9,
    random: seededRandom(),
  });
  const dispatcher = new SimulatedDispatcher((busy) => {
    const at = clock.now() - began;
    const answer = answering(at, busy);
    arrivals.push({ at, status: answer.status ?? 200 });
    return answer;
  }, clock);
  const sender = new Sender({ connection, dispatcher });
  const left = Array.from({ length: requests }).keys();
  const worker = async () => {
    for (const number of left) await sender.send({ method, path: `/${number}`, repeatable: true });
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  await connection.close();
  return { arrivals, took: clock.now() - began };
}

class SimulatedDispatcher extends Dispatcher {
  readonly #answer: (busy: number) => SimulatedAnswer;
  readonly #clock: SimulatedClock;
  #busy = 0;

  constructor(answer: (busy: number) => SimulatedAnswer, clock: SimulatedClock) {
    super();
    this.#answer = answer;
    this.#clock = clock;
  }

  override dispatch(_: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const controller = {
      abort: () => {},
      pause: () => {},
      resume: () => {},
      aborted: false,
      paused: false,
      reason: null,
    };
    handler.onRequestStart?.(controller, {});
    this.#busy += 1;
    const { status = 200, headers = {}, after = 20 } = this.#answer(this.#busy);
    void this.#clock.wait(after).then(() => {
      this.#busy -= 1;
      handler.onResponseStart?.(controller, status, { ...headers });
      handler.onResponseEnd?.(controller, {});
    });
    return true;
  }
}

/** Every simulation is the same each time. */
function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
