/** Asks before a command changes a ledger. */
import { CommandStop } from '../../run/command-stop.ts';
import { notWritten } from '../../run/consent.ts';
import type { CommandContext } from '../../run/terminal.ts';

interface Asking extends CommandContext {
  readonly options: { readonly yes?: boolean };
  readonly stop: AbortSignal;
}

/** @throws CommandStop if the user does not agree, or cannot be asked */
export async function askToWrite(question: string, { options, host, terminal, stop }: Asking): Promise<void> {
  if (options.yes) return;
  if (!host.interactive || terminal.format !== 'text')
    throw new CommandStop(
      'nobody-to-ask',
      'nothing was written: where nobody can answer, pass --yes to do it, or --dry-run to see it only',
    );
  if (!(await host.confirm(question, stop))) throw notWritten(terminal, stop);
}
