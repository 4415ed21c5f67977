/**
 * Limits the rate of requests to one target with a token bucket, and the number of requests in flight. All requests to the target
 * share it. They start in the order in which they came, urgent ones first, and in any second at most as many start as the rate allows.
 */
import { type Clock, systemClock } from './clock.ts';

/** Requests per second, unless the user or the service sets another limit (wire/workspaces 1.2). */
export const defaultRate = 30;

/** The maximal rate that the service's header can set, because some services send a limit per minute in that header. */
const maxRateByHeader = 100;

interface ThrottleOptions {
  /** requests per second until the service sends its own limit; `Infinity` for no limit */
  readonly rate: number;
  /** the user's limit, which is never exceeded */
  readonly ceiling?: number;
  /** maximal number of requests in flight */
  readonly slots: number;
  readonly clock?: Clock;
}

interface Waiter {
  readonly isUrgent: boolean;
  readonly admit: () => void;
  readonly refuse: (reason: Error) => void;
}

export class Throttle {
  readonly #clock: Clock;
  readonly #slots: number;
  readonly #ceiling: number | undefined;
  readonly #initialRate: number;
  #rate: number;
  #tokens: number;
  #filledAt: number;
  #pausedUntil = 0;
  #running = 0;
  #alarm: AbortController | undefined;
  #shut: Error | undefined;
  readonly #waiters: Waiter[] = [];
  /** start times of the last requests, oldest first; as many as may start in a second */
  readonly #starts: number[] = [];

  constructor({ ceiling, rate, slots, clock = systemClock }: ThrottleOptions) {
    this.#clock = clock;
    this.#slots = slots;
    this.#ceiling = ceiling;
    this.#initialRate = rate;
    this.#rate = rate;
    this.#tokens = this.#burst();
    this.#filledAt = clock.now();
  }

  /**
   * Waits until a request may start.
   * @param isUrgent it starts before all requests that wait, urgent ones excepted
   * @returns a function that releases the slot
   * @throws the signal's reason when it is aborted during the wait, or the reason for which the throttle was shut
   */
  enter(signal?: AbortSignal, isUrgent = false): Promise<() => void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#shut !== undefined) return Promise.reject(this.#shut);
    return new Promise((resolve, reject) => {
      const abandon = () => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        if (this.#waiters.length === 0) this.#alarm?.abort();
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        isUrgent,
        admit: () => {
          signal?.removeEventListener('abort', abandon);
          resolve(this.#releaseOnce());
        },
        refuse: (reason: Error) => {
          signal?.removeEventListener('abort', abandon);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', abandon, { once: true });
      const after = isUrgent ? this.#waiters.findIndex((other) => !other.isUrgent) : -1;
      this.#waiters.splice(after === -1 ? this.#waiters.length : after, 0, waiter);
      this.#admit();
    });
  }

  /** No request starts for this time, and afterwards the bucket is empty, because the service has refused the current rate. */
  pause(milliseconds: number): void {
    this.#refill();
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + milliseconds);
    this.#tokens = 0;
    this.#filledAt = this.#pausedUntil;
  }

  /** Rejects all waiting and later requests; requests in flight continue. The first reason is kept. */
  shut(reason: Error): void {
    this.#shut ??= reason;
    for (const { refuse } of this.#waiters.splice(0)) refuse(this.#shut);
    this.#alarm?.abort();
  }

  /** Milliseconds until the end of the pause; 0 when there is none. */
  get pausedFor(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.now());
  }

  /** Sets the service's own limit, in requests per second; ignored when it is no positive number. */
  limit(perSecond: number): void {
    if (!(perSecond > 0) || !Number.isFinite(perSecond)) return;
    this.#refill();
    this.#rate = Math.min(perSecond, this.#ceiling ?? Math.max(maxRateByHeader, this.#initialRate));
    this.#tokens = Math.min(this.#tokens, this.#burst());
  }

  #burst(): number {
    return Math.max(1, Math.floor(this.#rate / 3));
  }

  #releaseOnce(): () => void {
    let released = false;
    return () => {
      if (released) return;
      released = true;
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
    // A full bucket plus the refill of a second would be too many for a service that counts requests per second.
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
