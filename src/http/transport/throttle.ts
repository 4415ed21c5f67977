/**
 * How fast one target is asked: a token bucket, and a bound on requests in flight, shared by all that is sent to the
 * target. Requests enter in the order in which they came; no second has more starts than the rate, its first included.
 */
import { type Clock, systemClock } from './clock.ts';

/** Requests a second where neither the user nor the service says otherwise (wire/workspaces 1.2). */
export const defaultRate = 30;

/** What a service's word alone can raise the rate to: some count by the minute in the same header. */
const boldest = 100;

export interface ThrottleOptions {
  /** requests a second until the service tells its own limit; `Infinity` for no limit */
  readonly rate: number;
  /** what the user set: never exceeded, whatever the service allows */
  readonly ceiling?: number;
  /** requests in flight at most */
  readonly slots: number;
  readonly clock?: Clock;
}

interface Waiter {
  readonly admit: () => void;
  readonly refuse: (reason: Error) => void;
}

export class Throttle {
  readonly #clock: Clock;
  readonly #slots: number;
  readonly #ceiling: number | undefined;
  readonly #usual: number;
  #rate: number;
  #tokens: number;
  #filledAt: number;
  #pausedUntil = 0;
  #running = 0;
  #alarm: AbortController | undefined;
  #shut: Error | undefined;
  readonly #waiters: Waiter[] = [];
  /** when the last requests started, oldest first: as many as a second may have */
  readonly #starts: number[] = [];

  constructor({ ceiling, rate, slots, clock = systemClock }: ThrottleOptions) {
    this.#clock = clock;
    this.#slots = slots;
    this.#ceiling = ceiling;
    this.#usual = rate;
    this.#rate = rate;
    this.#tokens = this.#burst();
    this.#filledAt = clock.now();
  }

  /**
   * Waits for its turn.
   * @returns what gives the slot back, to be called once
   * @throws the signal's reason when it is aborted before the turn comes: undici's own queue would not notice; the reason
   * for which the throttle was shut
   */
  enter(signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#shut !== undefined) return Promise.reject(this.#shut);
    return new Promise((resolve, reject) => {
      const abandon = () => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        if (this.#waiters.length === 0) this.#alarm?.abort();
        reject(signal?.reason);
      };
      const waiter = {
        admit: () => {
          signal?.removeEventListener('abort', abandon);
          resolve(this.#leaveOnce());
        },
        refuse: (reason: Error) => {
          signal?.removeEventListener('abort', abandon);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', abandon, { once: true });
      this.#waiters.push(waiter);
      this.#admit();
    });
  }

  /** Nothing starts for so long, and then the bucket is empty: the service has said that it is too much. */
  pause(milliseconds: number): void {
    this.#refill();
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + milliseconds);
    this.#tokens = 0;
    this.#filledAt = this.#pausedUntil;
  }

  /** Nobody enters any more, also who waits already; what is in flight goes on. The first reason stays. */
  shut(reason: Error): void {
    this.#shut ??= reason;
    for (const { refuse } of this.#waiters.splice(0)) refuse(this.#shut);
    this.#alarm?.abort();
  }

  /** Milliseconds until a pause is over; 0 outside of one. */
  get pausedFor(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.now());
  }

  /** The service's own limit, in requests a second; what is no positive number is ignored. */
  limit(perSecond: number): void {
    if (!(perSecond > 0) || !Number.isFinite(perSecond)) return;
    this.#refill();
    this.#rate = Math.min(perSecond, this.#ceiling ?? Math.max(boldest, this.#usual));
    this.#tokens = Math.min(this.#tokens, this.#burst());
  }

  #burst(): number {
    return Math.max(1, Math.floor(this.#rate / 3));
  }

  #leaveOnce(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#running -= 1;
      this.#admit();
    };
  }

  #admit(): void {
    while (this.#waiters.length > 0 && this.#running < this.#slots) {
      const wait = this.#waitingTime();
      if (wait > 0) {
        this.#wakeIn(wait);
        return;
      }
      this.#take();
      this.#running += 1;
      this.#waiters.shift()?.admit();
    }
  }

  #wakeIn(milliseconds: number): void {
    if (this.#alarm !== undefined) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    const wake = () => {
      this.#alarm = undefined;
      this.#admit();
    };
    this.#clock.wait(milliseconds, alarm.signal).then(wake, wake);
  }

  /** In milliseconds, 0 when a request may start now. */
  #waitingTime(): number {
    const now = this.#clock.now();
    if (now < this.#pausedUntil) return this.#pausedUntil - now;
    if (this.#rate === Number.POSITIVE_INFINITY) return 0;
    this.#refill();
    const forToken = this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / this.#rate) * 1000;
    // A full bucket on top of a second's refill would be more than a service that counts by the second allows.
    const blocking = this.#starts.at(-this.#window());
    const forWindow = blocking === undefined ? 0 : blocking + 1000 - now;
    return Math.ceil(Math.max(forToken, forWindow, 0));
  }

  #window(): number {
    return Math.max(1, Math.floor(this.#rate));
  }

  #refill(): void {
    const now = this.#clock.now();
    if (now <= this.#filledAt || this.#rate === Number.POSITIVE_INFINITY) return;
    this.#tokens = Math.min(this.#burst(), this.#tokens + ((now - this.#filledAt) / 1000) * this.#rate);
    this.#filledAt = now;
  }

  #take(): void {
    if (this.#rate === Number.POSITIVE_INFINITY) return;
    this.#tokens -= 1;
    this.#starts.push(this.#clock.now());
    while (this.#starts.length > this.#window()) this.#starts.shift();
  }
}
