/** Keeps a run from writing after it has lost its lock (rule 45). */
export interface Fence {
  /** Resolves when a write may be sent now. @throws LockLost when it may not, and on each later call */
  pass(): Promise<void>;
  /** aborts as soon as the lock is known to be lost; its reason is a LockLost */
  readonly lost: AbortSignal;
}
