/**
 * Starts the requests to one target at the rate of its controller, with a token bucket, and limits the number in flight. All requests
 * to the target share it. They start in order, urgent ones first, and in any second at most as many as the rate allows; reads that are
 * not paced do not count. If several processes share one limit, start times come from that limit (SharedRate).
 */
import { type Clock, systemClock } from './clock.ts';
import type { RateController, RatedAnswer } from './rate-controller.ts';
import { expectedDelay, type SharedRate, usableStarts } from './shared-rate.ts';

interface ThrottleOptions {
  readonly rate: RateController;
  /** a limit that several processes share, kept in addition to `rate` */
  readonly shared?: SharedRate | undefined;
  /** maximal number of requests in flight */
  readonly slots: number;
  readonly clock?: Clock;
}

/** A request may start at most this many milliseconds after its start time. */
const maxStartDelay = 50;

interface EnterOptions {
  /** starts before all waiting requests except urgent ones */
  readonly isUrgent?: boolean | undefined;
  readonly isRead?: boolean;
}

interface Waiter {
  readonly isUrgent: boolean;
  readonly isRead: boolean;
  readonly admit: () => void;
  readonly refuse: (reason: Error) => void;
}

export class Throttle {
  readonly #clock: Clock;
  readonly #slots: number;
  readonly #rate: RateController;
  readonly #shared: SharedRate | undefined;
  /** start times that were taken from the shared limit, earliest first */
  #sharedStarts: number[] = [];
  /** start times were requested from the shared limit and have not arrived */
  #isAsking = false;
  /** the expected delay of the next answer of the shared limit, in milliseconds */
  #expectedDelay = 0;
  #tokens: number;
  #filledAt: number;
  #pausedUntil = 0;
  #running = 0;
  #alarm: AbortController | undefined;
  #shut: Error | undefined;
  readonly #waiters: Waiter[] = [];
  /** start times of the last requests, oldest first; as many as may start in a second */
  readonly #starts: number[] = [];

  constructor({ rate, slots, clock = systemClock, shared }: ThrottleOptions) {
    this.#clock = clock;
    this.#slots = slots;
    this.#rate = rate;
    this.#shared = shared;
    this.#tokens = this.#burst();
    this.#filledAt = clock.now();
  }

  /**
   * Waits until a request may start.
   * @returns a function that releases the slot
   * @throws the signal's reason when it is aborted during the wait, or the reason for which the throttle was shut
   */
  enter(signal?: AbortSignal, { isUrgent = false, isRead = false }: EnterOptions = {}): Promise<() => void> {
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
        isRead,
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
      const position = isUrgent ? this.#waiters.findIndex((other) => !other.isUrgent) : -1;
      this.#waiters.splice(position === -1 ? this.#waiters.length : position, 0, waiter);
      this.#admit();
    });
  }

  /** No request starts for this time, and afterwards the bucket is empty, because the service has refused the current rate. */
  pause(milliseconds: number): void {
    this.#refill();
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + milliseconds);
    this.#tokens = 0;
    this.#filledAt = this.#pausedUntil;
    this.#sharedStarts = [];
    this.#shared?.pause(milliseconds);
  }

  /** Rejects all waiting and later requests; requests in flight continue. The first reason is kept. */
  shut(reason: Error): void {
    this.#shut ??= reason;
    for (const { refuse } of this.#waiters.splice(0)) refuse(this.#shut);
    this.#alarm?.abort();
  }

  /** Milliseconds until the end of the pause, or until the service has requests left again; 0 when a request may start. */
  get pausedFor(): number {
    return Math.max(0, this.#pausedUntil - this.#clock.now(), this.#rate.heldFor(0));
  }

  /** Records the rate information of an answer, or without one, a failure. */
  observe(answer?: RatedAnswer): void {
    this.#refill();
    if (answer === undefined) this.#rate.failed();
    else this.#rate.answered(answer);
    this.#tokens = Math.min(this.#tokens, this.#burst());
    this.#shared?.observe(answer);
  }

  /** The size of the token bucket. */
  #burst(): number {
    return Math.max(1, Math.floor(this.#rate.perSecond / 3));
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

  /** Starts the waiting requests that may start now, in order. */
  #admit(): void {
    for (;;) {
      const [first] = this.#waiters;
      if (first === undefined || this.#running >= this.#slots) return;
      const isFree = this.#isFree(first);
      const held = this.#heldFor();
      const wait = held > 0 || isFree ? held : this.#pacedFor();
      if (wait === undefined) return;
      if (wait > 0) {
        this.#wakeIn(wait);
        return;
      }
      if (!isFree) this.#take();
      this.#running += 1;
      this.#waiters.shift();
      first.admit();
    }
  }

  /** Whether the rate does not limit a request. */
  #isFree({ isRead }: Waiter): boolean {
    if (this.#shared !== undefined) return false;
    return this.#isUnlimited() || (isRead && this.#rate.readsAreFree);
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

  #isUnlimited(): boolean {
    return this.#rate.perSecond === Number.POSITIVE_INFINITY;
  }

  /** Milliseconds until a request may start, apart from the rate. */
  #heldFor(): number {
    return Math.ceil(Math.max(this.pausedFor, this.#rate.heldFor(this.#running)));
  }

  /** Milliseconds until the rate lets a request start; undefined while start times are requested: their arrival admits requests. */
  #pacedFor(): number | undefined {
    const own = this.#ownPacedFor();
    return own > 0 || this.#shared === undefined ? own : this.#sharedPacedFor(this.#shared);
  }

  #ownPacedFor(): number {
    if (this.#isUnlimited()) return 0;
    this.#refill();
    const forToken = this.#tokens >= 1 ? 0 : ((1 - this.#tokens) / this.#rate.perSecond) * 1000;
    // A full bucket plus the refill of a second would be too many for a service that counts requests per second.
    const blocking = this.#starts.at(-this.#startsPerSecond());
    const forWindow = blocking === undefined ? 0 : blocking + 1000 - this.#clock.now();
    return Math.ceil(Math.max(forToken, forWindow, 0));
  }

  #sharedPacedFor(shared: SharedRate): number | undefined {
    const now = this.#clock.now();
    // A request that starts late would coincide with requests of other processes.
    while (this.#sharedStarts[0] !== undefined && this.#sharedStarts[0] < now - maxStartDelay)
      this.#sharedStarts.shift();
    const [next] = this.#sharedStarts;
    if (next !== undefined) return Math.ceil(Math.max(0, next - now));
    if (!this.#isAsking) void this.#askFor(shared, this.#waiters.length);
    return undefined;
  }

  async #askFor(shared: SharedRate, wanted: number): Promise<void> {
    this.#isAsking = true;
    try {
      const asked = this.#clock.now();
      const times = await shared.take(wanted, this.#expectedDelay);
      const exchange = { asked, answered: this.#clock.now() };
      this.#sharedStarts = usableStarts(times, exchange);
      this.#expectedDelay = expectedDelay(exchange);
      this.#isAsking = false;
      if (times.count > 0) this.#admit();
      else this.#wakeIn(Math.max(1, times.wait));
    } catch (error) {
      this.#isAsking = false;
      this.shut(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #startsPerSecond(): number {
    return Math.max(1, Math.floor(this.#rate.perSecond));
  }

  #refill(): void {
    const now = this.#clock.now();
    if (now <= this.#filledAt || this.#isUnlimited()) return;
    const refill = ((now - this.#filledAt) / 1000) * this.#rate.perSecond;
    this.#tokens = Math.min(this.#burst(), this.#tokens + refill);
    this.#filledAt = now;
  }

  #take(): void {
    this.#sharedStarts.shift();
    this.#tokens -= 1;
    this.#starts.push(this.#clock.now());
    while (this.#starts.length > this.#startsPerSecond()) this.#starts.shift();
  }
}
