/** How each command about audit trails begins: finds the stack and the trails, and ends with a signal. Mistakes in manifests do not matter. */
import type { Stack, Target } from '../../model/stack/target.ts';
import type { CommandContext } from '../command-context.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { loadManifests } from '../load-manifests.ts';
import { listenForEnd, type StopSignals } from '../stop/stop-signals.ts';
import { printDiagnostics, printError } from '../terminal/terminal.ts';
import { chooseTrails } from './choose-trails.ts';

export interface AuditContext extends CommandContext {
  readonly stack: Stack;
  /** milliseconds since 1970: when the run began to read standard input; absent when it did not */
  readonly began?: number | undefined;
  readonly stops: Omit<StopSignals, 'cut'>;
  /** whose trails it is about */
  readonly targets: readonly Target[];
}

interface TrailsWanted {
  /** one of the stack's targets; all when absent */
  readonly target?: string | undefined;
  /** seconds; overrides that of the stack */
  readonly timeout?: number | undefined;
  /** whether the services are asked, which takes a token */
  readonly live: boolean;
}

export async function withTrails(
  path: string | undefined,
  { target, timeout, live }: TrailsWanted,
  context: CommandContext,
  work: (context: AuditContext) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { host, terminal } = context;
  const stops = listenForEnd(host);
  try {
    const { stack, diagnostics, began } = await loadManifests(path, host, { timeout, over: stops.over });
    if (stack === undefined) {
      printDiagnostics(terminal, diagnostics);
      return exitCodeOf(diagnostics) || exitCodes.error;
    }
    const targets = chooseTrails(stack, target, { live });
    if ('code' in targets) {
      printError(terminal, targets.code, targets.message);
      return exitCodes.error;
    }
    return await work({ host, terminal, stack, began, stops, targets });
  } finally {
    stops.dispose();
  }
}
