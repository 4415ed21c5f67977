/** What each attempt of a call has to pass just before it is sent: the fence (rule 45), and the age of the look that it relies on (rule 29). */

/** Keeps a run from writing after it has lost its lock (rule 45). */
export interface LockGuard {
  /** Resolves when a write may be sent now. @throws LockLost when it may not, and on each later call */
  pass(): Promise<void>;
  /** aborts as soon as the lock is known to be lost; its reason is a LockLost */
  readonly lost: AbortSignal;
}

/** Lets one attempt pass, unless it had to wait for so long that the resource has to be read again. */
export class GuardedRun {
  readonly #fence: LockGuard | undefined;
  readonly #isRecent: () => boolean;
  /** it was kept back because its look is too old */
  isBarred = false;

  constructor(fence: LockGuard | undefined, isRecent: () => boolean) {
    this.#fence = fence;
    this.#isRecent = isRecent;
  }

  async pass(): Promise<void> {
    await this.#fence?.pass();
    this.isBarred = !this.#isRecent();
    if (this.isBarred) throw new Error('the resource is read again before the write');
  }
}
