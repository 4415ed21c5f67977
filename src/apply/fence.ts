/** What each try of a call has to pass just before it is sent: the fence (rule 45), and for some calls a look of its own (rules 29, 48). */
import type { Call } from '../model/plan/call.ts';

/** Keeps a run from writing after it has lost its lock (rule 45). */
export interface Fence {
  /** Resolves when a write may be sent now. @throws LockLost when it may not, and on each later call */
  pass(): Promise<void>;
  /** aborts as soon as the lock is known to be lost; its reason is a LockLost */
  readonly lost: AbortSignal;
}

/** Lets each try of a request pass the fence; of a call that is looked at each time only the first. */
export class Passing {
  readonly #call: Call;
  readonly #fence: Fence | undefined;
  #tries = 0;
  /** another try was kept back, for which nobody has looked */
  isBarred = false;

  constructor(call: Call, fence: Fence | undefined) {
    this.#call = call;
    this.#fence = fence;
  }

  async pass(): Promise<void> {
    this.#tries += 1;
    this.isBarred = this.#call.looksEachTime === true && this.#tries > 1;
    if (this.isBarred) throw new Error('it is looked at once more before it is sent again');
    await this.#fence?.pass();
  }
}
