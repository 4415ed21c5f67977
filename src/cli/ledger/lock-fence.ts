/**
 * A lock as a fence (rule 45): before each write the run's last sight of its own lock was answered at most five seconds
 * ago. So what a run can still send after its lock was taken away is bounded, and no write waits for a question that was
 * answered just now.
 */
import { messageOf } from '../../model/message-of.ts';
import type { Fence } from '../../apply/fence.ts';
import { type LedgerLock, LockLost, type LockStore, WaitEnded } from '../../model/stack/ledger.ts';

/** How long a sight is good for. A store that takes longer to answer is asked anew for each write. Milliseconds. */
const fresh = 5000;

export interface LockFenceOptions {
  readonly store: Pick<LockStore, 'readLock'>;
  /** of the run's own lock, which it was seen to hold a moment ago */
  readonly id: string;
  /** milliseconds; goes on while the host sleeps, so it may jump */
  readonly now: () => number;
  /** Told once. @param seconds that the store took to answer */
  tellSlow(seconds: number): void;
}

export class LockFence implements Fence {
  readonly #options: LockFenceOptions;
  readonly #lost = new AbortController();
  #seen: number;
  #isSlow = false;
  #toldSlow = false;
  #asking: Promise<void> | undefined;

  constructor(options: LockFenceOptions) {
    this.#options = options;
    this.#seen = options.now();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async pass(): Promise<void> {
    this.lost.throwIfAborted();
    if (!this.#isFresh()) await this.look();
  }

  /** Passes only once the lock has been seen anew. @throws LockLost */
  async look(): Promise<void> {
    this.lost.throwIfAborted();
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
    this.lost.throwIfAborted();
  }

  #isFresh(): boolean {
    const age = this.#options.now() - this.#seen;
    return !this.#isSlow && age >= 0 && age <= fresh;
  }

  async #ask(): Promise<void> {
    const { store, id, now } = this.#options;
    // A look that ended with the run was no answer: what is in flight may have to be sent once more.
    const onceMore = (error: unknown) => {
      if (error instanceof WaitEnded) return store.readLock();
      throw error;
    };
    const asked = now();
    try {
      const held = await store.readLock().catch(onceMore);
      if (held?.id !== id) this.#lost.abort(takenAway(held));
      this.#seen = now();
      this.#noteSpeed(this.#seen - asked);
    } catch (error) {
      const why = messageOf(error);
      this.#lost.abort(new LockLost('the lock of this run cannot be seen', why));
    }
  }

  #noteSpeed(took: number): void {
    this.#isSlow = took > fresh;
    if (!this.#isSlow || this.#toldSlow) return;
    this.#toldSlow = true;
    this.#options.tellSlow(Math.round(took / 1000));
  }
}

function takenAway(held: LedgerLock | undefined): LockLost {
  const clause = 'the lock of this run was taken away';
  return held === undefined
    ? new LockLost(clause)
    : new LockLost(clause, `${held.run.who} holds it since ${held.since}, in the run ${held.run.id}`);
}
