import { expect, it } from 'vitest';
import { listenForEnd } from '../../../src/run/stop-signals.ts';

it('The second signal of a run that only reads ends also what it still waits for', () => {
  let signal = () => {};
  let listens = true;
  const stderr = { write: () => {}, isTTY: false, columns: undefined };
  const { stop, over, leave } = listenForEnd({
    stderr,
    onStop: (handler) => {
      signal = handler;
      return () => {
        listens = false;
      };
    },
  });
  signal();
  expect([stop.aborted, over.aborted, leave.aborted, listens]).toEqual([true, true, false, true]);
  signal();
  expect([leave.aborted, listens]).toEqual([true, false]);
});
