/**
 * `trueup unlock --id ID [path]`: removes the lock of a run that has ended. The id makes sure that no other lock is removed. If
 * that run has not ended after all, it can write neither ledger nor targets afterwards.
 */
import type { Command } from 'commander';
import type { LedgerLock, StackStore } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import type { Stack } from '../model/stack.ts';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  stackHelp,
  timeoutOption,
} from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { lockLines, raiseSerial } from '../run/lock.ts';
import { openLedger, withStackLedger } from '../run/open-ledger.ts';
import { listenForSignals, type RunTime } from '../run/stop-signals.ts';
import type { CommandContext } from '../run/terminal.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', stackHelp)
    .requiredOption('--id <id>', 'which lock: the message of the refused apply names its id')
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: UnlockOptions) => {
      end(await unlock(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(command, [
    'trueup unlock --id 4b1c0f7e-8a4d-4d5e-9a3e-2f60c1b7a9d1',
    'remove this lock; the message of the refused apply names the id',
  ]);
}

interface UnlockOptions extends CommonOptions {
  readonly id: string;
}

async function unlock(
  path: string | undefined,
  { id, timeout }: UnlockOptions,
  { host }: CommandContext,
): Promise<ExitCode> {
  const reportRemoved = (name: string, lock: LedgerLock) => {
    host.stdout.write(`Unlocked stack ${quoted(name)}; removed the lock of\n${lockLines(lock).join('\n')}\n`);
    return exitCodes.done;
  };
  const stops = listenForSignals(host);
  return withStackLedger(path, { host, timeout, stops }, async ({ stack, store, time }) => {
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
    throw new CommandStop('wrong-lock-id', `stack ${quoted(stack.name)} is not locked with this id: ${why}`);
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
