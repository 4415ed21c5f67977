/**
 * `trueup unlock --id ID [path]`: removes the lock of a run that is over. The id makes sure that no other lock is removed. If that
 * run is not over after all, it can write neither ledger nor targets afterwards.
 */
import type { CommandContext } from '../command-context.ts';
import type { LedgerLock, StackStore } from '../../model/stack/ledger.ts';
import type { Stack } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import { lockLines } from '../../report/terminal/lock-text.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { listenForSignals } from '../stop/stop-signals.ts';
import { openLedger } from '../ledger/open-ledger.ts';
import { withStackLedger } from '../ledger/open-stack-ledger.ts';
import { raiseSerial } from '../ledger/raise-serial.ts';
import type { RunTime } from '../run/run-time.ts';
import { printError } from '../terminal/terminal.ts';
import type { CliHost } from '../cli-host.ts';

export interface UnlockOptions {
  readonly id: string;
  /** seconds that the run may take */
  readonly timeout?: number;
}

export async function unlock(
  path: string | undefined,
  { id, timeout }: UnlockOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host, terminal } = context;
  const reportRemoved = (name: string, lock: LedgerLock) => {
    host.stdout.write(`Unlocked stack ${quoted(name)}; removed the lock of\n${lockLines(lock).join('\n')}\n`);
    return exitCodes.done;
  };
  const stops = listenForSignals(host);
  return withStackLedger(path, { ...context, timeout, stops }, async ({ stack, store, time }) => {
    const removed = await removeLock(id, store, host);
    if (removed !== undefined) return reportRemoved(stack.name, removed);
    // An apply of a renamed stack also holds the lock of the former name.
    const former = stack.renamedFrom;
    const removedFormer =
      former === undefined ? undefined : await unlockFormer(id, { ...stack, name: former }, { host, time });
    if (former !== undefined && removedFormer !== undefined) return reportRemoved(former, removedFormer);
    const held = await store.readLock();
    const why =
      held === undefined ? 'nobody holds it' : `it is held under another one:\n${lockLines(held).join('\n')}`;
    printError(terminal, 'wrong-lock-id', `stack ${quoted(stack.name)} is not locked with this id: ${why}`);
    return exitCodes.error;
  });
}

/** Raises the serial before it unlocks, because another run may begin as soon as the lock is free. */
async function removeLock(
  id: string,
  store: StackStore,
  { stderr }: Pick<CliHost, 'stderr'>,
): Promise<LedgerLock | undefined> {
  if ((await store.readLock())?.id !== id) return undefined;
  const unraised = await raiseSerial(store);
  if (unraised !== undefined) stderr.write(`${unraised}\n`);
  return store.unlock(id);
}

async function unlockFormer(
  id: string,
  stack: Stack,
  { host, time }: { readonly host: CliHost; readonly time: RunTime },
): Promise<LedgerLock | undefined> {
  const store = await openLedger(stack, host, time);
  try {
    return await removeLock(id, store, host);
  } finally {
    await store.close();
  }
}
