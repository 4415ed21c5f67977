/**
 * A service in simulated time, in place of the sender's connections: a test decides the status and the delay of each response.
 * Every request is recorded with the time of its arrival.
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
  /** milliseconds until it arrives; 20 by default */
  readonly after?: number;
}

/** @param at milliseconds since the beginning; @param busy the number of requests without a response, this one included */
export type Answering = (at: number, busy: number) => SimulatedAnswer;

export interface Simulation {
  /** milliseconds from the beginning to each arrival, and the status of the response */
  readonly arrivals: readonly { readonly at: number; readonly status: number }[];
  /** milliseconds until the last response */
  readonly took: number;
}

export interface Load {
  readonly requests: number;
  /** the number of requests at a time that wait to be sent, or for their responses */
  readonly atOnce?: number;
  readonly service?: Target['service'];
  readonly method?: 'GET' | 'POST';
  readonly requestsPerSecond?: number;
}

/** Sends these requests through a real sender, each until its response is neither 429 nor 503. */
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

/** Makes every simulation reproducible. */
function seededRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
