/** One run of `recover`: the stack with its ledger, the question before the ledger is written, and the lock for the write. */
import type { CommonOptions } from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { notWritten } from '../../run/consent.ts';
import type { ExitCode } from '../../run/exit-codes.ts';
import { endAfter, holdLock } from '../../run/lock.ts';
import type { StackLedger } from '../../run/open-ledger.ts';
import { identifyRun } from '../../run/origin.ts';
import type { CommandContext } from '../../run/terminal.ts';

export interface RecoverRun extends CommandContext, StackLedger {
  /** of the stack as typed */
  readonly path: string | undefined;
  readonly options: RecoverOptions;
}

export interface RecoverOptions extends CommonOptions {
  readonly yes?: boolean;
  /** this repository continues another one */
  readonly adoptRepository?: boolean;
  /** the target whose address changed */
  readonly moved?: string;
}

/** Asks whether the ledger may be written, unless `--yes` was given. @throws CommandStop when it may not */
export async function askToWrite({ options, host, terminal, stop }: RecoverRun): Promise<void> {
  if (options.yes) return;
  if (!host.interactive)
    throw new CommandStop(
      'nobody-to-ask',
      'nothing was written: recover asks before it writes; where nobody can answer, pass --yes',
    );
  if (!(await host.confirm('Write this ledger?', stop))) throw notWritten(terminal, stop);
}

export async function underLock(
  { store, stack, path, stop, time: { deadline }, terminal }: RecoverRun,
  work: () => Promise<ExitCode>,
): Promise<ExitCode> {
  const run = identifyRun(terminal.host);
  const held = await holdLock({ store, stack: stack.name, run, timeout: 0, path, stop, deadline }, terminal);
  return endAfter(work, held.release);
}
