/**
 * What the network and the service do to requests in a storm: answers that are lost before or after the request was
 * carried out, 429 with the time of its end, faults of the service and of a gateway before it, slow answers, and lists
 * that come in small pages whose order changes from page to page.
 */
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, madeUp, type SeenRequest, type Warden } from '../cli/faulty-proxy.ts';

/**
 * Chance that a seed decides: evenly from 0 up to 1, from what is asked, and not from when it is asked, so that requests that
 * overtake each other do not change what becomes of them, and a seed that failed fails again.
 */
export type Dice = (...words: readonly (string | number)[]) => number;

export function diceOf(seed: number): Dice {
  return (...words) => {
    const text = [seed, ...words].join('\n');
    return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
  };
}

/** Somebody else who writes to the service meanwhile. */
export interface OtherWriter {
  /** called at each request, before it is dealt with */
  before(request: SeenRequest, count: number): Promise<void>;
  /** called when the service has answered, and the answer is not passed on yet */
  after(request: SeenRequest): Promise<void>;
  /** what it did that must still be there; each a sentence when it is not */
  losses(): Promise<string[]>;
}

type Pass = Parameters<Warden>[1];

/** A share of all requests each; of one that comes again the next draw decides. */
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
  [0.04, async () => madeUp({ answer: 429, headers: { 'x-ratelimit-reset': '0.1' } })],
  // A gateway that repeats what it was sent.
  [0.03, async (request) => madeUp({ answer: 503, body: { errors: [JSON.stringify(request)] } })],
  [
    0.03,
    async (_, pass) => {
      await pass();
      return madeUp({ answer: 502 });
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

export function stormyWeather(dice: Dice, others: Pick<OtherWriter, 'before' | 'after'>): Warden {
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

/** The service chooses ids as it likes: what becomes of a request must not depend on them. */
function withoutIds(path: string): string {
  return path.replaceAll(/ws-[A-Za-z0-9]{16}/g, 'ws-…');
}

/** In half of all storms lists come in pages of three; now and then one of them is of another order than the rest. */
function inSmallPages(path: string, dice: Dice, time: number): string {
  if (dice('small pages') < 0.5 || !path.includes('page%5Bsize%5D=100')) return path;
  const small = path.replace('page%5Bsize%5D=100', 'page%5Bsize%5D=3');
  const isTurned = dice('turned page', small, time) < 0.1 && !small.endsWith('=1');
  return isTurned ? small.replace('sort=name', 'sort=-name') : small;
}
