/** A clock for tests: a wait moves it forward without sleeping, and is recorded. */
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
    // Work that is due now runs before the time moves on.
    await rest();
    signal?.throwIfAborted();
    this.#now = Math.max(this.#now, until);
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
