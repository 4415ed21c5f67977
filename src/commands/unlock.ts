/**
 * `trueup unlock --id ID [path]`: removes the lock of a run that has ended. The id makes sure that no other lock is removed. If
 * that run has not ended after all, it can write neither ledger nor targets afterwards.
 */
import type { Command } from 'commander';
import { Type } from 'typebox';
import type { Ledger, LedgerLock, StackStore } from '../model/ledger.ts';
import { quoted } from '../model/quoted.ts';
import type { Stack } from '../model/stack.ts';
import { closed, diagnosticSchema } from '../report/json/plan-schema.ts';
import { diagnosticsMember, renderJson } from '../report/json/render-json.ts';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  stackHelp,
  timeoutOption,
} from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import { readPlace } from '../run/find-ledger.ts';
import type { CliHost } from '../run/host.ts';
import { lockLines, raiseSerial } from '../run/lock.ts';
import { openAnyLedger, withStackLedger } from '../run/open-ledger.ts';
import { stacksOfMoves } from '../run/stack-moves.ts';
import { listenForSignals, type RunTime } from '../run/stop-signals.ts';
import { type CommandContext, printJson, printNote, type Terminal, textOutput } from '../run/terminal.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', stackHelp)
    .addOption(formatOption())
    .requiredOption('--id <id>', 'which lock: the message of the refused apply names its id')
    .option(
      '--ledger <place>',
      'the place of the lock, written as in "spec.ledger"; needed if the stack file names another place, because a move of the ledger was interrupted',
    )
    .addOption(timeoutOption())
    .action(async (path: string | undefined, options: UnlockOptions) => {
      end(await unlock(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(command, [
    'trueup unlock --id 4b1c0f7e-8a4d-4d5e-9a3e-2f60c1b7a9d1',
    'remove this lock; the message of the refused apply names the id',
  ]);
}

/** The schema of `unlock --format json`; `schemas/unlock.schema.json` is generated from it. Members may be added. */
export const unlockSchema = Type.Object(
  {
    version: Type.Literal(1),
    stack: Type.String({
      description:
        'the stack whose lock was removed: this one, its former name, or a stack from which it takes over resources',
    }),
    lock: Type.Object(
      {
        id: Type.String(),
        since: Type.String({ format: 'date-time' }),
        run: Type.Object({ id: Type.String(), who: Type.String(), where: Type.String() }),
      },
      { description: 'the lock that was removed' },
    ),
    diagnostics: Type.Optional(Type.Array(diagnosticSchema)),
  },
  { ...closed, $id: 'https://trueup.dev/schemas/unlock.schema.json', title: 'trueup unlock' },
);

/** Used instead of a damaged ledger, which must not prevent an unlock. */
const noLedger: Ledger = { known: false, serial: 0, records: new Map() };

interface UnlockOptions extends CommonOptions {
  readonly id: string;
  /** as in "spec.ledger" */
  readonly ledger?: string;
}

async function unlock(
  path: string | undefined,
  { id, timeout, ledger }: UnlockOptions,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  const place = ledger === undefined ? undefined : readPlace(ledger, '--ledger');
  const reportRemoved = (name: string, lock: LedgerLock) => {
    textOutput(terminal)?.write(
      `Unlocked stack ${quoted(name)}; removed the lock of\n${lockLines(lock).join('\n')}\n`,
    );
    printJson(terminal, (reported) =>
      renderJson({ version: 1, stack: name, lock, ...diagnosticsMember(reported) }),
    );
    return exitCodes.done;
  };
  const stops = listenForSignals(host);
  const about = { host, timeout, stops, isAnyLedger: true, place };
  return withStackLedger(path, about, async ({ stack, resources, store, time }) => {
    const removed = await removeLock(id, store, terminal);
    if (removed !== undefined) return reportRemoved(stack.name, removed);
    // An apply of a renamed stack also holds the lock of the former name.
    const former = stack.renamedFrom === undefined ? [] : [{ ...stack, name: stack.renamedFrom }];
    // It also holds the locks of stacks from which it takes over resources.
    const ownLedger = await store.read().catch(() => noLedger);
    const others = (await stacksOfMoves(ownLedger, resources, stack)).map((other) => other.stack);
    for (const other of [...former, ...others]) {
      const removedOther = await unlockOther(id, other, { terminal, time });
      if (removedOther !== undefined) return reportRemoved(other.name, removedOther);
    }
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
  terminal: Terminal,
): Promise<LedgerLock | undefined> {
  if ((await store.readLock())?.id !== id) return undefined;
  const unraised = await raiseSerial(store);
  if (unraised !== undefined) printNote(terminal, unraised);
  return store.unlock(id);
}

async function unlockOther(
  id: string,
  stack: Stack,
  { terminal, time }: { readonly terminal: Terminal; readonly time: RunTime },
): Promise<LedgerLock | undefined> {
  const store = await openAnyLedger(stack, terminal.host, time);
  try {
    return await removeLock(id, store, terminal);
  } finally {
    await store.close();
  }
}
