/** For the commands about audit trails: finds the stack, and ends with a signal. Mistakes in manifests do not matter. */
import type { Stack } from '../../model/stack/target.ts';
import type { CommandContext } from '../command-context.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { loadManifests } from '../load-manifests.ts';
import { listenForEnd, type Stops } from '../stop/stop-signals.ts';
import { printDiagnostics } from '../terminal/terminal.ts';

export interface AuditContext extends CommandContext {
  readonly stack: Stack;
  /** milliseconds since 1970: when the run began to read standard input; absent when it did not */
  readonly began?: number | undefined;
  readonly stops: Omit<Stops, 'cut'>;
}

export async function withStack(
  path: string | undefined,
  context: CommandContext,
  {
    timeout,
    work,
  }: {
    /** seconds; overrides that of the stack */
    readonly timeout: number | undefined;
    readonly work: (context: AuditContext) => Promise<ExitCode>;
  },
): Promise<ExitCode> {
  const { host, terminal } = context;
  const stops = listenForEnd(host);
  try {
    const { stack, diagnostics, began } = await loadManifests(path, host, { timeout, over: stops.over });
    if (stack === undefined) {
      printDiagnostics(terminal, diagnostics);
      return exitCodeOf(diagnostics) || exitCodes.error;
    }
    return await work({ host, terminal, stack, began, stops });
  } finally {
    stops.dispose();
  }
}
