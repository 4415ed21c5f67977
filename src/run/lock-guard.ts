/**
 * Checks the run's lock before its writes: at each write the last successful check is at most five seconds old. That limits
 * what a run can still send after its lock was taken away, and writes that follow a check closely do not wait for another one.
 */
import { messageOf } from '../model/error-message.ts';
import type { LockGuard } from '../apply/keep-ledger.ts';
import { type LedgerLock, LockLost, type LockStore, WaitEnded } from '../model/ledger.ts';

/** How long a check is valid after it was sent, in milliseconds. A store that takes longer to answer is asked before each write. */
const validity = 5000;

interface LockGuardOptions {
  readonly store: Pick<LockStore, 'readLock'>;
  /** the id of the run's lock, which was taken just now */
  readonly id: string;
  /** milliseconds; includes the time that the machine sleeps, so it may jump */
  readonly now: () => number;
  /** Whether the worker of a fleet that started this run still has the stack; absent in other runs. */
  readonly mayWrite?: (() => Promise<boolean>) | undefined;
  /** Called once, when the store is slow. @param seconds that the store took to answer */
  onSlow(seconds: number): void;
}

export class StoreLockGuard implements LockGuard {
  readonly #options: LockGuardOptions;
  readonly #lost = new AbortController();
  #checkedAt: number;
  #reportedSlow = false;
  #checking: Promise<void> | undefined;

  constructor(options: LockGuardOptions) {
    this.#options = options;
    // A worker of a fleet may have lost the stack before its process took the lock.
    this.#checkedAt = options.mayWrite === undefined ? options.now() : Number.NEGATIVE_INFINITY;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async pass(): Promise<void> {
    this.lost.throwIfAborted();
    if (!this.#isChecked()) await this.check();
  }

  /** Reads the lock even if the last check is still valid. @throws LockLost */
  async check(): Promise<void> {
    this.lost.throwIfAborted();
    this.#checking ??= this.#readLock().finally(() => {
      this.#checking = undefined;
    });
    await this.#checking;
    this.lost.throwIfAborted();
  }

  #isChecked(): boolean {
    const age = this.#options.now() - this.#checkedAt;
    return age >= 0 && age <= validity;
  }

  async #readLock(): Promise<void> {
    const { store, id, now, mayWrite } = this.#options;
    // A stop signal aborts this read (WaitEnded). It is repeated once: the write that is in flight may need another attempt, and each
    // attempt needs a checked lock.
    const retry = (error: unknown) => {
      if (error instanceof WaitEnded) return store.readLock();
      throw error;
    };
    try {
      // First, because it waits while the database of the fleet does not answer.
      if (mayWrite !== undefined && !(await mayWrite()))
        this.#lost.abort(new LockLost('the fleet gave this stack to another worker'));
      const began = now();
      const held = await store.readLock().catch(retry);
      if (held?.id !== id) this.#lost.abort(takenAway(held));
      // The answer may show the lock as it was when it was asked for.
      this.#checkedAt = began;
      this.#noteSpeed(now() - began);
    } catch (error) {
      const why = messageOf(error);
      this.#lost.abort(new LockLost('the lock of this run cannot be seen', why));
    }
  }

  #noteSpeed(took: number): void {
    if (took <= validity || this.#reportedSlow) return;
    this.#reportedSlow = true;
    this.#options.onSlow(Math.round(took / 1000));
  }
}

function takenAway(held: LedgerLock | undefined): LockLost {
  const clause = 'the lock of this run was taken away';
  return held === undefined
    ? new LockLost(clause)
    : new LockLost(clause, `${held.run.who} holds it since ${held.since}, in the run ${held.run.id}`);
}
