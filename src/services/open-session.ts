/** One target during one run: a reader, and the reads that several kinds share, each made once. */
import type { Session } from '../model/kind/kind.ts';
import type { Dialect, Target } from '../model/stack/target.ts';
import type { Reader } from '../model/wire.ts';

export function openSession(about: {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly stack: string;
  readonly reader: Reader;
}): Session {
  const made = new Map<string, Promise<unknown>>();
  return {
    ...about,
    once<T>(key: string, read: () => Promise<T>): Promise<T> {
      const known = made.get(key);
      // The key names one read of one type: kinds that share it import the function that makes it.
      if (known !== undefined) return known as Promise<T>;
      const fresh = read();
      made.set(key, fresh);
      return fresh;
    },
  };
}
