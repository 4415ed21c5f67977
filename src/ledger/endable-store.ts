/** Stores whose every question can be ended before it is answered: a store may never answer, and nobody waits for ever. */
import { type StackStore, WaitEnded } from '../model/stack/ledger.ts';

/** What ends one question. */
export interface QuestionEnds {
  /** ends what can be left as it stands: a look, a connection, the wait for a turn */
  readonly look: AbortSignal;
  /** ends what the store may have heard already, so that nobody knows whether it was done; not before `look` */
  readonly word: AbortSignal;
}

/** The questions that a store is asked. */
export type Question = Exclude<keyof StackStore, 'place' | 'close'>;

/** Each question, with what ends it; it rejects with `WaitEnded` then, once all that was begun for it has ended, too. */
export type EndableStore = Pick<StackStore, 'place' | 'close'> & {
  readonly [Name in Question]: (
    ...given: [...Parameters<StackStore[Name]>, ends?: QuestionEnds]
  ) => ReturnType<StackStore[Name]>;
};

const never = new AbortController().signal;

/** For who waits as long as the store itself does. */
export const noEnds: QuestionEnds = { look: never, word: never };

/**
 * What the work comes to, unless the signal comes first: then the work is left to itself.
 * @throws WaitEnded
 */
export async function unlessEnded<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
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
