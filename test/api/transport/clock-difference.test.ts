// How far a clock is away is told by whole seconds, so only what they prove counts.
import { expect, it } from 'vitest';
import { ClockDifference } from '../../../src/api/transport/clock.ts';

const noon = Date.parse('2026-11-20T12:00:00Z');

function learnt(
  ...answers: readonly (readonly [date: string | undefined, sent: number, answered: number])[]
) {
  const difference = new ClockDifference();
  for (const [date, sent, answered] of answers)
    difference.learn(date, { sent: noon + sent, answered: noon + answered });
  return difference.ahead;
}

const at = (seconds: number) => new Date(noon + seconds * 1000).toUTCString();

it('A clock that shows the same second, or did so while the answer came, is the same', () => {
  expect(learnt([at(0), 10, 900])).toBe(0);
  expect(learnt([at(4), 100, 9_000])).toBe(0);
});

it('A clock that is ahead or behind is so by what is proved', () => {
  expect(learnt([at(3600), 0, 500])).toBe(3_599_500);
  expect(learnt([at(-3600), 0, 500])).toBe(-3_599_001);
});

it('Many answers report it better than one', () => {
  expect(learnt([at(3600), 0, 5_000], [at(3605), 5_000, 5_100])).toBe(3_599_900);
});

it('A clock that was set in between is believed again', () => {
  expect(learnt([at(3600), 0, 100], [at(0), 200, 300])).toBe(0);
});

it('Without a time nothing is reported', () => {
  expect(learnt()).toBeUndefined();
  expect(learnt([undefined, 0, 10], ['soon', 0, 10])).toBeUndefined();
});
