/** What keeps a run from writing once its lock is not its own any more (rule 45). */
export interface Fence {
  /** Resolves when a write may be sent at once. @throws LockLost when it may not, and from then on always */
  pass(): Promise<void>;
  /** aborts as soon as it is known that nothing more may be sent; its reason is a LockLost */
  readonly lost: AbortSignal;
}
