/**
 * `trueup plan [path]`: prints what apply would do and, with `--out`, writes it to a plan file. Sends only GET and LIST, and one
 * request for the permissions of its token.
 */
import type { Command } from 'commander';
import { hasErrors } from '../model/diagnostic.ts';
import type { Plan } from '../model/plan.ts';
import { quoted } from '../model/quoted.ts';
import { printable, shellWord } from '../report/view/printable.ts';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  completeOption,
  formatOption,
  pathHelp,
  selectOption,
  timeoutOption,
  traceOption,
} from '../run/command-options.ts';
import { type ExitCode, exitCodeOfPlan, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { stackArgument } from '../run/load-manifests.ts';
import { runToRead } from '../run/prepare-run.ts';
import { choosePart } from '../run/selection/choose-part.ts';
import { planToShow } from '../run/plan-to-show.ts';
import { printPlan } from '../run/print-plan.ts';
import { raceStop } from '../run/stop-signals.ts';
import type { CommandContext } from '../run/terminal.ts';
import { refusePlanFile, writePlanFile } from '../run/write-plan-file.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown', 'html', 'github', 'sarif'))
    .addOption(completeOption())
    .addOption(selectOption())
    .option('--calls', 'show the exact requests that apply would send')
    .addOption(timeoutOption())
    .addOption(traceOption())
    .option('--exit-code', 'exit with 2 when there are changes')
    .option('--out <file>', 'keep the plan as JSON, for "trueup apply <file>"')
    .action(async (path: string | undefined, options: PlanOptions) => {
      end(await plan(path, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup plan', 'show what apply would change'],
    ['trueup plan --exit-code', 'exit with 2 when there is something to do'],
    ['trueup plan --out plan.json', 'keep the plan for its review and its apply'],
    ["trueup plan --select 'Workspace/acme/net-*'", 'plan only these workspaces, with what they need'],
    ['./render | trueup plan -', 'plan only the manifests on standard input'],
    [
      './render | trueup plan - --complete',
      'the same, as the whole stack: what is missing from the input is removed',
    ],
  );
}

export interface PlanOptions extends CommonOptions {
  readonly calls?: boolean;
  readonly exitCode?: boolean;
  /** a file for the plan as JSON, in addition to the printed plan */
  readonly out?: string;
}

export async function plan(
  path: string | undefined,
  options: PlanOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host, terminal } = context;
  await refusePlanFile(options.out, host);
  const stack = stackArgument(path, options);
  const limits = { ...options, choosePart: choosePart(options.select) };
  return runToRead(path, context, limits, async (prepared, stop) => {
    const { request } = prepared;
    await refusePlanFile(options.out, host, request.stack);
    const { plan: made } = await raceStop(planToShow(prepared, host), stop);
    terminal.result.stackFile = request.stack.file;
    printPlan(terminal, made, { calls: options.calls ?? false, stack });
    if (options.out !== undefined) {
      // Another file may have been created there meanwhile.
      await refusePlanFile(options.out, host);
      await writePlanFile(options.out, host, made);
      // The plan file contains the selection, so the command does not repeat it.
      const words = ['trueup apply', shellWord(options.out), stackArgument(path, { ...options, select: [] })];
      const command = words.filter((word) => word !== undefined).join(' ');
      host.stderr.write(`the plan was written to ${quoted(options.out)}${useOf(made, command)}\n`);
    }
    return planExitCode(made, options.exitCode ?? false);
  });
}

/** How the plan file can be used: apply plans again, and does not apply a plan with problems. */
function useOf({ coverage, problems }: Plan, command: string): string {
  const unread = coverage.targets.flatMap(({ target, unread }) =>
    unread ? [quoted(printable(target))] : [],
  );
  if (unread.length > 0) {
    const [targets, which] = unread.length === 1 ? ['target', 'which was'] : ['targets', 'which were'];
    return ` without ${targets} ${unread.join(', ')}, ${which} not read: ${quoted(command)} writes nothing until all targets can be read, and then only if the plan is still the same`;
  }
  if (hasErrors(problems))
    return `, with its problems: ${quoted(command)} writes nothing until they are solved, and then only if the plan is still the same`;
  return `: ${quoted(command)} applies this and nothing else`;
}

/** Problems come first, then an incomplete read, then changes, if `--exit-code` asks for them. */
function planExitCode(made: Plan, reportsChanges: boolean): ExitCode {
  const code = exitCodeOfPlan(made);
  if (code !== exitCodes.done) return code;
  return reportsChanges && made.changes.length > 0 ? exitCodes.changesPending : exitCodes.done;
}
