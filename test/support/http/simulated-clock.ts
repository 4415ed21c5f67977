/** A clock that jumps to the end of the next wait as soon as no other work is due, so that hours of waits take no time. */
import { setImmediate as rest } from 'node:timers/promises';
import type { Clock } from '../../../src/api/transport/clock.ts';

interface Wait {
  readonly end: number;
  readonly resolve: () => void;
}

export class SimulatedClock implements Clock {
  #now = Date.parse('2030-01-01T00:00:00Z');
  #waits: Wait[] = [];
  #isRunning = false;

  now(): number {
    return this.#now;
  }

  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wait = { end: this.#now + milliseconds, resolve };
      const after = this.#waits.findIndex(({ end }) => end > wait.end);
      this.#waits.splice(after === -1 ? this.#waits.length : after, 0, wait);
      signal?.addEventListener('abort', () => {
        this.#waits = this.#waits.filter((other) => other !== wait);
        reject(signal.reason);
      });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      // Work that the last wait has started runs first.
      await rest();
      const next = this.#waits.shift();
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.end);
      next.resolve();
    }
    this.#isRunning = false;
  }
}
