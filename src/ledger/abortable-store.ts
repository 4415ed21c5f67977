/** Stores whose operations can be aborted, because a store may never answer and no run may wait for ever. */
import { type StackStore, WaitEnded } from '../model/stack/ledger.ts';

/** The signals that abort one operation of a store. */
export interface OperationSignals {
  /** aborts what can be abandoned without consequences: a read, a connection, the wait for the critical section */
  readonly read: AbortSignal;
  /** aborts a request that the store may have received, so that its outcome is unknown; never before `read` */
  readonly write: AbortSignal;
}

export type StoreOperation = Exclude<keyof StackStore, 'place' | 'close'>;

/** An aborted operation rejects with `WaitEnded`, after everything that was started for it has ended. */
export type AbortableStore = Pick<StackStore, 'place' | 'close'> & {
  readonly [Name in StoreOperation]: (
    ...given: [...Parameters<StackStore[Name]>, signals?: OperationSignals]
  ) => ReturnType<StackStore[Name]>;
};

const never = new AbortController().signal;

/** For operations that are never aborted. */
export const noSignals: OperationSignals = { read: never, write: never };

/**
 * Waits for the work until the signal is aborted. The work itself is not stopped then, and its result is ignored.
 * @throws WaitEnded
 */
export async function waitFor<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {});
  const ended = Promise.withResolvers<never>();
  const end = () => ended.reject(new WaitEnded());
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  try {
    return await Promise.race([ended.promise, work]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
