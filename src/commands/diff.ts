/** `trueup diff a.json b.json`: shows how two plans differ. Exits with 2 when they do, like `plan --exit-code`. */
import type { Command } from 'commander';
import { comparePlans, isSamePlan } from '../plan/compare-plans.ts';
import { renderPlanDifferenceJson } from '../report/json/plan-difference.ts';
import { renderPlanDifference } from '../report/text/plan-difference.ts';
import { addExamples, type CommandEnd, type CommonOptions, formatOption } from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { openPlanFile } from '../run/plan-file.ts';
import { reportStop } from '../run/report-stop.ts';
import { type CommandContext, printJson } from '../run/terminal.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('<plan>', 'a plan file')
    .argument('<other>', 'another one')
    .addOption(formatOption())
    .action(async (one: string, other: string, options: CommonOptions) => {
      end(await diff({ one, other }, { host, terminal: terminalOf(options) }));
    });
  addExamples(command, [
    'trueup diff old.json new.json',
    'show how the two plans differ; exit with 2 when they do',
  ]);
}

async function diff(
  files: { readonly one: string; readonly other: string },
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  // If both files are refused, both are reported.
  const open = (file: string) =>
    openPlanFile(file, host.cwd).catch((error: unknown) => {
      reportStop(error, terminal);
    });
  const [one, other] = [await open(files.one), await open(files.other)];
  if (one === undefined || other === undefined) throw CommandStop.reported(exitCodes.error);
  const difference = comparePlans(one.plan, other.plan);
  const isSame = isSamePlan(difference);
  const named = ({ file, plan }: typeof one) => ({ name: file, digest: plan.digest });
  const { paint, width } = terminal;
  if (terminal.format === 'json') {
    const names = { one: named(one), other: named(other) };
    printJson(terminal, (reported) => renderPlanDifferenceJson(difference, names, reported));
  } else if (isSame) {
    host.stdout.write(`The two plans mean the same: digest ${one.plan.digest}\n`);
  } else {
    const names = { one: one.file, other: other.file };
    const text = renderPlanDifference(difference, {
      paint,
      names,
      ...(width === undefined ? {} : { width }),
    });
    host.stdout.write(
      `${text}\n\nThe two plans differ: digests ${one.plan.digest} and ${other.plan.digest}\n`,
    );
  }
  return isSame ? exitCodes.done : exitCodes.changesPending;
}
