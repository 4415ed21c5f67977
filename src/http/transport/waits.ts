/**
 * Says what is waited for, once it takes longer than a few seconds, at a terminal and without one (rule 46): first soon,
 * then more and more seldom, one line for all that waits at one place.
 */
import type { Clock } from './clock.ts';

export interface WaitsOptions {
  readonly tell: (says: string) => void;
  readonly clock: Clock;
}

/** Milliseconds of silence before each line; the last for all that follow. */
const silences = [5_000, 10_000, 30_000, 60_000];

interface OngoingWait {
  readonly says: string;
  readonly since: number;
}

export class Waits {
  readonly #whom: string;
  readonly #tell: (says: string) => void;
  readonly #clock: Clock;
  readonly #open = new Set<OngoingWait>();
  #told = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  /** @param whom what is waited for: `target "acme"` */
  constructor(whom: string, { tell, clock }: WaitsOptions) {
    this.#whom = whom;
    this.#tell = tell;
    this.#clock = clock;
  }

  /** @returns what ends the wait */
  begin(says: string): () => void {
    const wait = { says, since: this.#clock.now() };
    this.#open.add(wait);
    this.#arm();
    return () => {
      this.#open.delete(wait);
      if (this.#open.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  /** A wait of known length, told at once when it is a long one. */
  announce(says: string, milliseconds: number): void {
    if (milliseconds < (silences[0] ?? 0)) return;
    this.#toldAt = this.#clock.now();
    this.#tell(`waiting for ${this.#whom}: ${says}`);
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#ring(), Math.max(0, this.#due() - this.#clock.now()));
    // A wait that nobody ends any more keeps no process alive.
    this.#timer.unref();
  }

  /** When the oldest wait has lasted long enough, and long enough after the last line. */
  #due(): number {
    const silence = silences[Math.min(this.#told, silences.length - 1)] ?? 0;
    const [oldest] = this.#open;
    return Math.max((oldest?.since ?? this.#clock.now()) + (silences[0] ?? 0), this.#toldAt + silence);
  }

  #ring(): void {
    this.#timer = undefined;
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    if (this.#clock.now() >= this.#due()) {
      const seconds = Math.round((this.#clock.now() - oldest.since) / 1000);
      const more = this.#open.size === 1 ? '' : `, and ${this.#open.size - 1} more`;
      this.#told += 1;
      this.#toldAt = this.#clock.now();
      this.#tell(`waiting for ${this.#whom} for ${seconds} s: ${oldest.says}${more}`);
    }
    this.#arm();
  }
}
