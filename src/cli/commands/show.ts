/** `trueup show plan.json`: a saved plan as `plan` printed it, or as JSON. Reads the file and nothing else. */
import type { CommandContext } from '../command-context.ts';
import { standardInput } from '../../manifest/files/find-stack.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { isRefusal, openPlanFile } from '../approval/plan-file.ts';
import { printError } from '../terminal/terminal.ts';
import { printPlan } from './plan.ts';

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
  // Only of a selection is it known how its manifests came in.
  printPlan(terminal, plan, { calls, stack: plan.selection === undefined ? undefined : standardInput });
  return exitCodes.done;
}
