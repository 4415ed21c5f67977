/**
 * How long a run waits for its ledger. Reads end with the run. Final operations, such as the release of the lock, have some extra
 * time after it; when one of them got no answer in that time, later ones fail at once.
 */
import type { OperationSignals, StoreOperation } from '../ledger/ledger-store.ts';
import { WaitEnded } from '../model/ledger.ts';
import { DeadlineError, type RunSignals } from './stop-signals.ts';

/** The extra time of each final operation in milliseconds, and the shorter one after `forceQuit`. */
const grace = 15_000;
const forcedGrace = 5_000;

/**
 * The purpose of each operation, and its type: a read can be abandoned, the lock need not be taken after the end of the run, and a
 * write has to be waited for.
 */
const operations: Readonly<
  Record<StoreOperation, { readonly purpose: string; readonly type: 'read' | 'lock' | 'write' }>
> = {
  read: { purpose: 'to read the ledger', type: 'read' },
  readLock: { purpose: 'to see who holds the lock', type: 'read' },
  whyUnwritable: { purpose: 'to ask whether the ledger can be written', type: 'read' },
  listEntries: { purpose: 'to read the history', type: 'read' },
  readEntries: { purpose: 'to read the history', type: 'read' },
  newestEntryId: { purpose: 'to read the history', type: 'read' },
  showEntry: { purpose: 'to read an entry of the history', type: 'read' },
  lock: { purpose: 'to take the lock', type: 'lock' },
  write: { purpose: 'to write the ledger', type: 'write' },
  setAside: { purpose: 'to set the damaged ledger aside', type: 'write' },
  unlock: { purpose: 'to give the lock back', type: 'write' },
  keepEntries: { purpose: 'to write the history', type: 'write' },
  removeEntries: { purpose: 'to remove entries of the history', type: 'write' },
};

/** `to read the ledger` */
export function purposeOf(operation: StoreOperation): string {
  return operations[operation].purpose;
}

/** The store did not answer before the run ended. */
export class LedgerWaitEnded extends WaitEnded {
  override readonly name = 'LedgerWaitEnded';
  /** a signal ended the run, and not its deadline */
  readonly interrupted: boolean;
  /** the operation may have been carried out without an answer */
  readonly unsure: boolean;

  constructor(message: string, { interrupted, unsure }: { interrupted: boolean; unsure: boolean }) {
    super(message);
    this.interrupted = interrupted;
    this.unsure = unsure;
  }
}

/** Limits the time that one run waits for each operation of one store. */
export class LedgerWaits {
  readonly #place: string;
  readonly #run: RunSignals;
  readonly #now: () => number;
  /** the store did not answer a final operation in time */
  #isSilent = false;

  /** @param now milliseconds since 1970 */
  constructor(place: string, run: RunSignals, now: () => number) {
    this.#place = place;
    this.#run = run;
    this.#now = now;
  }

  /** @throws LedgerWaitEnded when the run ended before the answer came */
  async run<T>(operation: StoreOperation, work: (signals: OperationSignals) => Promise<T>): Promise<T> {
    const { runEnded } = this.#run;
    const { type } = operations[operation];
    if (this.#isSilent) throw this.#givenUp(operation, false);
    const isFinal = runEnded.aborted || type === 'write';
    // A read that began before the end of the run ends with it.
    if (type === 'read' && !isFinal) return this.#read(operation, work);
    const extra = this.#extraTime();
    try {
      return await work({
        read: isFinal ? extra.signal : runEnded,
        write: extra.signal,
      });
    } catch (error) {
      if (!(error instanceof WaitEnded)) throw error;
      throw this.#givenUp(operation, extra.signal.aborted && type !== 'read');
    } finally {
      extra.dispose();
    }
  }

  async #read<T>(operation: StoreOperation, work: (signals: OperationSignals) => Promise<T>): Promise<T> {
    const { runEnded } = this.#run;
    try {
      return await work({ read: runEnded, write: runEnded });
    } catch (error) {
      if (!(error instanceof WaitEnded)) throw error;
      throw this.#givenUp(operation, false);
    }
  }

  /** A signal that is aborted some time after the end of the run, or after now when the run has ended already. */
  #extraTime() {
    const { runEnded, forceQuit } = this.#run;
    const ended = new AbortController();
    const began = this.#now();
    let timer: NodeJS.Timeout | undefined;
    const end = () => {
      this.#isSilent = true;
      ended.abort();
    };
    const wait = (milliseconds: number) => {
      clearTimeout(timer);
      timer = setTimeout(end, Math.max(0, milliseconds));
    };
    const onEnd = () => wait(grace);
    // After `forceQuit`, an operation still has the shorter time, counted from its own beginning.
    const onForceQuit = () => wait(began + forcedGrace - this.#now());
    if (forceQuit.aborted) onForceQuit();
    else if (runEnded.aborted) onEnd();
    runEnded.addEventListener('abort', onEnd);
    forceQuit.addEventListener('abort', onForceQuit);
    const dispose = () => {
      clearTimeout(timer);
      runEnded.removeEventListener('abort', onEnd);
      forceQuit.removeEventListener('abort', onForceQuit);
    };
    return { signal: ended.signal, dispose };
  }

  #givenUp(operation: StoreOperation, unsure: boolean): LedgerWaitEnded {
    const { reason } = this.#run.runEnded;
    const isLate = reason instanceof DeadlineError;
    const why = isLate ? `the deadline of ${reason.duration} passed` : 'the run was interrupted';
    const more = isLate ? '; --timeout gives a run more time, or "timeout" in the stack\'s spec' : '';
    const after = this.#isSilent ? ', and it did not answer afterwards either' : '';
    return new LedgerWaitEnded(
      `${why} while waiting ${purposeOf(operation)} (${this.#place})${after}${more}`,
      {
        interrupted: !isLate,
        unsure,
      },
    );
  }
}
