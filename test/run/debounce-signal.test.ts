import { expect, it } from 'vitest';
import { debounceSignal } from '../../src/run/stop-signals.ts';

/** How often the handler was called for signals at these milliseconds. */
function heard(...signals: readonly (readonly [string, number])[]): number {
  let [count, clock] = [0, 0];
  const hear = debounceSignal(
    () => {
      count += 1;
    },
    () => clock,
  );
  for (const [signal, at] of signals) {
    clock = at;
    hear(signal);
  }
  return count;
}

it('A Ctrl-C that npm passes on a moment later counts once', () => {
  expect(heard(['SIGINT', 0], ['SIGINT', 12])).toBe(1);
});

it('A Ctrl-C that is pressed again counts twice, also when each is passed on', () => {
  expect(heard(['SIGINT', 0], ['SIGINT', 12], ['SIGINT', 900], ['SIGINT', 912])).toBe(2);
});

it('Another signal right after the first is never taken for its echo', () => {
  expect(heard(['SIGINT', 0], ['SIGTERM', 1])).toBe(2);
});
