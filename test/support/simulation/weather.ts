/**
 * The faults of a storm: connections that break before or after the request was processed, 429 with its end, errors of the service
 * and of a gateway, slow responses, and lists in small pages whose order can change between pages.
 */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, fakeAnswer, type SeenRequest, type RequestHandler } from '../cli/faulty-proxy.ts';

/**
 * Random numbers from 0 up to 1 that depend only on the seed and the words, and not on the order of calls. So the order of parallel
 * requests does not matter, and a seed that failed fails again.
 */
export type Dice = (...words: readonly (string | number)[]) => number;

export function diceOf(seed: number): Dice {
  return (...words) => {
    const text = [seed, ...words].join('\n');
    return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
  };
}

/** Another user who writes to the service during the storm. */
export interface OtherWriter {
  /** called for each request, before it is processed */
  before(request: SeenRequest, count: number): Promise<void>;
  /** called when the service has responded, before the response is passed on */
  after(request: SeenRequest): Promise<void>;
  /** a sentence for each of its changes that was lost */
  losses(): Promise<string[]>;
}

type Pass = Parameters<RequestHandler>[1];

/** The share of requests with each fault; a retry gets a new random number. */
const faults: readonly (readonly [
  number,
  (request: SeenRequest, pass: Pass) => Promise<Answer | undefined>,
])[] = [
  [0.03, async () => undefined],
  [
    0.04,
    async (_, pass) => {
      await pass();
      return undefined;
    },
  ],
  [0.04, async () => fakeAnswer({ answer: 429, headers: { 'x-ratelimit-reset': '0.1' } })],
  // A gateway that repeats the request in its response.
  [0.03, async (request) => fakeAnswer({ answer: 503, body: { errors: [JSON.stringify(request)] } })],
  [
    0.03,
    async (_, pass) => {
      await pass();
      return fakeAnswer({ answer: 502 });
    },
  ],
  [
    0.08,
    async (_, pass) => {
      await pause(20);
      return pass();
    },
  ],
  [
    0.06,
    async (_, pass) => {
      const answer = await pass();
      await pause(20);
      return answer;
    },
  ],
];

export function stormyWeather(dice: Dice, others: Pick<OtherWriter, 'before' | 'after'>): RequestHandler {
  const times = new Map<string, number>();
  let count = 0;
  return async (request, pass) => {
    count += 1;
    await others.before(request, count);
    const what = `${request.method} ${withoutIds(request.path)}`;
    const time = (times.get(what) ?? 0) + 1;
    times.set(what, time);
    const shuffled: Pass = async (path = request.path) => {
      const answer = await pass(inSmallPages(path, dice, time));
      await others.after(request);
      return answer;
    };
    let drawn = dice('fault', what, time);
    for (const [share, fault] of faults) {
      if (drawn < share) return fault(request, shuffled);
      drawn -= share;
    }
    return shuffled();
  };
}

/** Ids are random, so faults must not depend on them. */
function withoutIds(path: string): string {
  return path.replaceAll(/ws-[A-Za-z0-9]{16}/g, 'ws-…');
}

/** In half of all storms lists have pages of three; sometimes a page has another order than the others. */
function inSmallPages(path: string, dice: Dice, time: number): string {
  if (dice('small pages') < 0.5 || !path.includes('page%5Bsize%5D=100')) return path;
  const small = path.replace('page%5Bsize%5D=100', 'page%5Bsize%5D=3');
  const isReversed = dice('turned page', small, time) < 0.1 && !small.endsWith('=1');
  return isReversed ? small.replace('sort=name', 'sort=-name') : small;
}
