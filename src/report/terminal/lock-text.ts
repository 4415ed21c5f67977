/** Who holds the lock of a stack: person, host, since when, and in which run. */
import type { LedgerLock } from '../../model/stack/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { printable } from '../format/printable.ts';
import { shellWord } from '../format/shell-word.ts';

interface HeldLockOptions {
  readonly stack: string;
  /** the holder's process ran on this host and has ended */
  readonly crashed: boolean;
  /** seconds waited for the lock */
  readonly waited: number;
  /** path of the stack as the user typed it */
  readonly path?: string;
}

/** Several lines; the first one follows `error: `. */
export function renderHeldLock(lock: LedgerLock, { stack, crashed, waited, path }: HeldLockOptions): string {
  const { run } = lock;
  return [
    `stack ${quoted(stack)} is locked: another apply holds it${waited > 0 ? ', also after the wait' : ''}`,
    ...lockLines(lock),
    ...(crashed
      ? [`  its process ${run.pid} on this host is gone: that run seems to have crashed`]
      : ['  wait for it with "--lock-timeout 5m"']),
    `  when you know that it is over: ${unlocking(lock, path)}`,
  ].join('\n');
}

/** For a run that has ended and may not have released its lock; indented by two. @param path of the stack as the user typed it */
export function renderLeftLock(lock: LedgerLock, path: string | undefined): string {
  return `  its id is ${printable(lock.id)}; where it still stands, take it away: ${unlocking(lock, path)}`;
}

function unlocking({ id }: LedgerLock, path: string | undefined): string {
  return ['trueup unlock --id', shellWord(id), ...(path === undefined ? [] : [shellWord(path)])].join(' ');
}

/** Person, host, time and run, one line each, indented by two. */
export function lockLines({ id, run, since }: LedgerLock): string[] {
  const attempt = run.attempt === undefined ? '' : `, attempt ${run.attempt}`;
  const pid = run.pid === undefined ? '' : `, process ${run.pid}`;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['who', run.who],
    ['where', `${run.where}${pid}`],
    ['since', since],
    ['run', `${run.id}${attempt}`],
    ['page', run.url],
    ['id', id],
  ];
  return facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${`${name}:`.padEnd(7)}${printable(value)}`],
  );
}
