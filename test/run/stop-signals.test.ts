import { expect, it } from 'vitest';
import { listenForEnd } from '../../src/run/stop-signals.ts';

it('The second signal of a run that only reads also ends its remaining waits', () => {
  let signal = () => {};
  let listens = true;
  const stderr = { write: () => {}, isTTY: false, columns: undefined };
  const { stopStarting, runEnded, abandonWaits } = listenForEnd({
    stderr,
    onStop: (handler) => {
      signal = handler;
      return () => {
        listens = false;
      };
    },
  });
  signal();
  expect([stopStarting.aborted, runEnded.aborted, abandonWaits.aborted, listens]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  signal();
  expect([abandonWaits.aborted, listens]).toEqual([true, false]);
});
