/** `trueup show plan.json`: prints a plan file like `plan` does, or as JSON. Reads only that file. */
import type { Command } from 'commander';
import { addExamples, type CommandEnd, type CommonOptions, formatOption } from '../run/command-options.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { argumentOfPlan } from '../run/load-manifests.ts';
import { openPlanFile } from '../run/plan-file.ts';
import { printPlan } from '../run/print-plan.ts';
import { printable } from '../report/view/printable.ts';
import { type CommandContext, textOutput } from '../run/terminal.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('<plan>', 'a plan file')
    .addOption(formatOption('markdown', 'html'))
    .option('--calls', 'show the exact requests in the plan')
    .action(async (file: string, options: CommonOptions & { calls?: boolean }) => {
      end(await show(file, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup show plan.json', 'print the plan in the terminal'],
    ['trueup show plan.json --format html > plan.html', 'one page with a filter and a graph'],
  );
}

export async function show(
  file: string,
  { calls = false }: { readonly calls?: boolean },
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  const { plan } = await openPlanFile(file, host.cwd);
  // The manifests of a selection came from standard input; for other plans the argument is unknown.
  printPlan(terminal, plan, { calls, stack: argumentOfPlan(plan) });
  const { made } = plan;
  if (made !== undefined) {
    const commit = made.pullRequestCommit ?? made.commit;
    const from =
      commit === undefined ? '' : ` from commit ${commit}${made.dirty ? ', with changes in no commit' : ''}`;
    textOutput(terminal)?.write(`\n${printable(`The plan was made ${made.at}${from}`)}\n`);
  }
  return exitCodes.done;
}
