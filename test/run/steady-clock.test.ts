/** The clock of a run measures the age of reads: it must not go back, and must count the time in which the machine sleeps. */
import { afterEach, expect, it, vi } from 'vitest';
import { steadyClock } from '../../src/run/host.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Sets both clocks of the machine, in milliseconds. */
function set(wall: number, monotonic: number): void {
  vi.spyOn(Date, 'now').mockReturnValue(wall);
  vi.spyOn(performance, 'now').mockReturnValue(monotonic);
}

it('A clock that is set back does not make a read younger', () => {
  set(100_000, 0);
  const now = steadyClock();
  set(40_000, 2000);
  expect(now()).toBe(102_000);
  set(41_000, 3000);
  expect(now()).toBe(103_000);
});

it('Time in which the machine sleeps counts, although its monotonic clock stops', () => {
  set(100_000, 0);
  const now = steadyClock();
  set(3_700_000, 10);
  expect(now()).toBe(3_700_000);
});

it('Small differences of both clocks do not add up', () => {
  set(100_000, 0);
  const now = steadyClock();
  for (let step = 1; step <= 100; step += 1) {
    set(100_000 + step + (step % 2), step);
    now();
  }
  expect(now()).toBe(100_100);
});
