/** The standing of a stack, such as `stale`, and what its apply waits for: the same in `fleet status`, the console and the metrics. */
import { quoted } from '../../../model/quoted.ts';

/** All standings. A stack has the first one that is true of it. */
export const standings = ['stale', 'attention', 'working', 'in-sync'] as const;
export type Standing = (typeof standings)[number];

interface RowNames {
  /** row of `stacks` */
  readonly stack: string;
  /** row of `waiting_applies`, which may be absent */
  readonly wait: string;
  /** the time of the database */
  readonly time: string;
}

/** Reasons to wait that a person must resolve: a missing approval, a guard, or the cause of a failed apply. */
const needsPerson = `('approval', 'guard', 'retry')`;

/**
 * The standing as SQL. An apply that runs, or waits for a freeze, a lock, a target or a worker, needs no person: it counts as `working`.
 */
export function standingSql({ stack, wait, time }: RowNames): string {
  return `case
      when coalesce(${stack}.last_complete, ${stack}.first_seen) < ${time} - make_interval(secs => 2 * ${stack}.seconds_between_checks) then 'stale'
      when ${stack}.last_error is not null or coalesce((${stack}.last_summary->>'drifted')::integer, 0) > 0
        or ${wait}.because in ${needsPerson} then 'attention'
      when ${stack}.last_complete is null or ${wait}.because is not null or ${stack}.apply_queued is not null
        or ${stack}.applying and ${stack}.queued_until > ${time} then 'working'
      else 'in-sync'
    end`;
}

/** The values of `waiting_applies.because`. */
export const waitReasons = ['freeze', 'approval', 'guard', 'lock', 'retry', 'target'] as const;

/** Completes "the apply …" when the apply waits only for a free worker. */
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
  // A newer worker of the same fleet may write other reasons.
  return words[reason] ?? `waits: ${quoted(reason)}`;
}
