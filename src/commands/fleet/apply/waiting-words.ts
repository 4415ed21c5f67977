/** What an apply waits for, in words that complete "the apply …". */
import { quoted } from '../../../model/quoted.ts';

/** As `waiting_applies.because` has them. */
export const waitReasons = ['freeze', 'approval', 'guard', 'lock', 'retry', 'target'] as const;

const words: Readonly<Record<string, string>> = {
  freeze: 'waits for the end of a freeze',
  approval: 'waits for an approval',
  guard: 'waits because of a guard',
  lock: 'waits for the lock of the stack',
  retry: 'waits for its next try',
  target: 'waits for its target to accept changes again',
};

export function waitingWords(reason: string): string {
  // A newer worker of the same fleet may know more.
  return words[reason] ?? `waits: ${quoted(reason)}`;
}
