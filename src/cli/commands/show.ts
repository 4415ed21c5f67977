/** `trueup show plan.json`: prints a plan file like `plan` does, or as JSON. Reads only that file. */
import type { CommandContext } from '../command-context.ts';
import { standardInput } from '../../manifest/files/find-stack.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { isRefusal, openPlanFile } from '../approval/plan-file.ts';
import { printError } from '../terminal/terminal.ts';
import { printPlan } from '../run/print-plan.ts';

export async function show(
  file: string,
  { calls = false }: { readonly calls?: boolean },
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  const opened = await openPlanFile(file, host.cwd);
  if (isRefusal(opened)) {
    printError(terminal, opened.code, opened.message);
    return exitCodes.error;
  }
  const { plan } = opened;
  // The manifests of a selection came from standard input; for other plans the argument is unknown.
  printPlan(terminal, plan, { calls, stack: plan.selection === undefined ? undefined : standardInput });
  return exitCodes.done;
}
