/** A clock for tests: waiting takes no time and moves it forward, so nothing sleeps and every wait can be asked for. */
import { setImmediate as rest } from 'node:timers/promises';
import type { Clock } from '../../../src/api/transport/clock.ts';

export class FakeClock implements Clock {
  #now = Date.parse('2030-01-01T00:00:00Z');
  /** milliseconds of each wait, in order */
  readonly waits: number[] = [];

  now(): number {
    return this.#now;
  }

  async wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    const until = this.#now + milliseconds;
    this.waits.push(milliseconds);
    // What this moment has set going ends before the next one comes.
    await rest();
    signal?.throwIfAborted();
    this.#now = Math.max(this.#now, until);
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
