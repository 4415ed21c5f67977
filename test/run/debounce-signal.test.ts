import { expect, it } from 'vitest';
import { debounceSignal } from '../../src/run/stop-signals.ts';

/** @returns how often the handler was called for signals at these milliseconds */
function callsFor(...signals: readonly (readonly [string, number])[]): number {
  let [count, clock] = [0, 0];
  const send = debounceSignal(
    () => {
      count += 1;
    },
    () => clock,
  );
  for (const [signal, at] of signals) {
    clock = at;
    send(signal);
  }
  return count;
}

it('A Ctrl-C that npm passes on a moment later counts once', () => {
  expect(callsFor(['SIGINT', 0], ['SIGINT', 12])).toBe(1);
});

it('A Ctrl-C that is pressed twice counts twice, even if npm passes each on', () => {
  expect(callsFor(['SIGINT', 0], ['SIGINT', 12], ['SIGINT', 900], ['SIGINT', 912])).toBe(2);
});

it('Another signal right after the first one counts', () => {
  expect(callsFor(['SIGINT', 0], ['SIGTERM', 1])).toBe(2);
});
