/** How a stack stands, and what its apply waits for: `fleet status`, the console and the metrics say the same. */
import { quoted } from '../../../model/quoted.ts';

/** The first one that applies counts. */
export const standings = ['stale', 'attention', 'working', 'in-sync'] as const;
export type Standing = (typeof standings)[number];

interface Names {
  /** row of `stacks` */
  readonly stack: string;
  /** row of `waiting_applies`, which may be absent */
  readonly wait: string;
  /** the time of the database */
  readonly time: string;
}

/** What somebody must do something about: an approval or a guard, or the cause of a failed apply. */
const needsSomebody = `('approval', 'guard', 'retry')`;

/** The standing as SQL. An apply that waits for a freeze, a lock, a target or a worker, or that runs, is work that goes on by itself. */
export function standingSql({ stack, wait, time }: Names): string {
  return `case
      when coalesce(${stack}.last_complete, ${stack}.first_seen) < ${time} - make_interval(secs => 2 * ${stack}.seconds_between_checks) then 'stale'
      when ${stack}.last_error is not null or coalesce((${stack}.last_summary->>'drifted')::integer, 0) > 0
        or ${wait}.because in ${needsSomebody} then 'attention'
      when ${stack}.last_complete is null or ${wait}.because is not null or ${stack}.apply_queued is not null
        or ${stack}.applying and ${stack}.queued_until > ${time} then 'working'
      else 'in-sync'
    end`;
}

/** As `waiting_applies.because` has them. */
export const waitReasons = ['freeze', 'approval', 'guard', 'lock', 'retry', 'target'] as const;

/** Completes "the apply …", where nothing but a free worker is missing. */
export const queuedWords = 'waits for a free worker';

/** Each completes "the apply …". */
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
