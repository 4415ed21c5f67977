// Clocks are read in whole seconds, so only the difference that these prove counts.
import { expect, it } from 'vitest';
import { ClockDifference } from '../../../src/api/transport/clock.ts';

const noon = Date.parse('2026-11-20T12:00:00Z');

function aheadAfter(
  ...answers: readonly (readonly [date: string | undefined, sent: number, answered: number])[]
) {
  const difference = new ClockDifference();
  for (const [date, sent, answered] of answers)
    difference.learn(date, { sent: noon + sent, answered: noon + answered });
  return difference.ahead;
}

const at = (seconds: number) => new Date(noon + seconds * 1000).toUTCString();

it('A clock with the same second, at any time until the response, has no difference', () => {
  expect(aheadAfter([at(0), 10, 900])).toBe(0);
  expect(aheadAfter([at(4), 100, 9_000])).toBe(0);
});

it('A clock is ahead or behind by the difference that is proved', () => {
  expect(aheadAfter([at(3600), 0, 500])).toBe(3_599_500);
  expect(aheadAfter([at(-3600), 0, 500])).toBe(-3_599_001);
});

it('Several responses are more exact than one', () => {
  expect(aheadAfter([at(3600), 0, 5_000], [at(3605), 5_000, 5_100])).toBe(3_599_900);
});

it('A clock that was set in between is believed again', () => {
  expect(aheadAfter([at(3600), 0, 100], [at(0), 200, 300])).toBe(0);
});

it('Without a time there is no difference', () => {
  expect(aheadAfter()).toBeUndefined();
  expect(aheadAfter([undefined, 0, 10], ['soon', 0, 10])).toBeUndefined();
});
