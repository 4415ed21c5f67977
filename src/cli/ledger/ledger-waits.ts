/**
 * How long a run waits for its ledger. What it wants to know ends with the run. Its last words, such as the lock that goes
 * back, have some time of their own; once one of them was not answered in it, no other is waited for.
 */
import type { QuestionEnds, Question } from '../../ledger/endable-store.ts';
import { WaitEnded } from '../../model/stack/ledger.ts';
import { DeadlineError } from '../stop/deadline.ts';

/** What ends a run, as its ledger sees it. */
export interface RunOver {
  /** its time is over, or somebody has stopped it */
  readonly over: AbortSignal;
  /** somebody insists; never before `over` */
  readonly insist: AbortSignal;
}

/** Milliseconds that each of the last words may take, and those of them that somebody does not want to wait for. */
const grace = 15_000;
const insistedGrace = 5_000;

/** What each question is asked for, and whether it can be left, be begun no more, or has to be waited for. */
const questions: Readonly<
  Record<Question, { readonly says: string; readonly is: 'look' | 'turn' | 'word' }>
> = {
  read: { says: 'to read the ledger', is: 'look' },
  readLock: { says: 'to see who holds the lock', is: 'look' },
  listEntries: { says: 'to read the history', is: 'look' },
  readEntries: { says: 'to read the history', is: 'look' },
  showEntry: { says: 'to read an entry of the history', is: 'look' },
  lock: { says: 'to take the lock', is: 'turn' },
  write: { says: 'to write the ledger', is: 'word' },
  setAside: { says: 'to set the damaged ledger aside', is: 'word' },
  unlock: { says: 'to give the lock back', is: 'word' },
  keepEntries: { says: 'to write the history', is: 'word' },
};

/** `to read the ledger` */
export function phraseOf(question: Question): string {
  return questions[question].says;
}

/** A question that was not answered before the run ended. */
export class GivenUp extends WaitEnded {
  override readonly name = 'GivenUp';
  /** a person or a CI has ended the run, not its time */
  readonly interrupted: boolean;
  /** what was asked for may have been done all the same */
  readonly unsure: boolean;

  constructor(message: string, { interrupted, unsure }: { interrupted: boolean; unsure: boolean }) {
    super(message);
    this.interrupted = interrupted;
    this.unsure = unsure;
  }
}

/** The patience of one run with one store. */
export class LedgerPatience {
  readonly #place: string;
  readonly #run: RunOver;
  /** somebody has waited in vain for it after the end of the run */
  #silent = false;

  constructor(place: string, run: RunOver) {
    this.#place = place;
    this.#run = run;
  }

  /** @throws GivenUp when the run ended before the answer came */
  async ask<T>(question: Question, work: (ends: QuestionEnds) => Promise<T>): Promise<T> {
    const { over } = this.#run;
    const { is } = questions[question];
    if (this.#silent) throw this.#givenUp(question, false);
    const isLast = over.aborted || is === 'word';
    // A look that ends with the run is not asked afterwards.
    if (is === 'look' && !isLast) return this.#look(question, work);
    const last = this.#lastWord();
    try {
      return await work({
        look: isLast ? last.signal : over,
        word: last.signal,
      });
    } catch (error) {
      if (!(error instanceof WaitEnded)) throw error;
      throw this.#givenUp(question, last.signal.aborted && is !== 'look');
    } finally {
      last.forget();
    }
  }

  async #look<T>(question: Question, work: (ends: QuestionEnds) => Promise<T>): Promise<T> {
    const { over } = this.#run;
    try {
      return await work({ look: over, word: over });
    } catch (error) {
      if (!(error instanceof WaitEnded)) throw error;
      throw this.#givenUp(question, false);
    }
  }

  /** Aborts some time after the run has ended, or after it was asked for when the run had. */
  #lastWord() {
    const { over, insist } = this.#run;
    const ended = new AbortController();
    const began = Date.now();
    let timer: NodeJS.Timeout | undefined;
    const end = () => {
      this.#silent = true;
      ended.abort();
    };
    const wait = (milliseconds: number) => {
      clearTimeout(timer);
      timer = setTimeout(end, Math.max(0, milliseconds));
    };
    const onOver = () => wait(grace);
    // A store that takes no longer than ever is let say its word all the same.
    const onInsist = () => wait(began + insistedGrace - Date.now());
    if (insist.aborted) onInsist();
    else if (over.aborted) onOver();
    over.addEventListener('abort', onOver);
    insist.addEventListener('abort', onInsist);
    const forget = () => {
      clearTimeout(timer);
      over.removeEventListener('abort', onOver);
      insist.removeEventListener('abort', onInsist);
    };
    return { signal: ended.signal, forget };
  }

  #givenUp(question: Question, unsure: boolean): GivenUp {
    const { reason } = this.#run.over;
    const isLate = reason instanceof DeadlineError;
    const why = isLate ? `the deadline of ${reason.words} passed` : 'the run was interrupted';
    const more = isLate ? '; --timeout gives a run more time, or "timeout" in the stack\'s spec' : '';
    const after = this.#silent ? ', and it did not answer afterwards either' : '';
    return new GivenUp(`${why} while waiting ${phraseOf(question)} (${this.#place})${after}${more}`, {
      interrupted: !isLate,
      unsure,
    });
  }
}
