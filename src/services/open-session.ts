/** Opens the session of one target: its reader, and a cache for reads that several kinds share. */
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
      // Safe because each key is used by one function only, which the kinds that share the read import.
      if (known !== undefined) return known as Promise<T>;
      const fresh = read();
      made.set(key, fresh);
      return fresh;
    },
  };
}
