/** `trueup diff a.json b.json`: shows how two plans differ. Exits with 2 when they do, like `plan --exit-code`. */
import type { CommandContext } from '../command-context.ts';
import { comparePlans, isSamePlan } from '../../plan/approval/compare-plans.ts';
import { renderPlanDifferenceJson } from '../../report/json/plan-difference-json.ts';
import { renderPlanDifference } from '../../report/terminal/plan-difference-text.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { isRefusal, openPlanFile } from '../approval/plan-file.ts';
import { printError, printJson } from '../terminal/terminal.ts';

export async function diff(
  files: { readonly one: string; readonly other: string },
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  const [one, other] = [await openPlanFile(files.one, host.cwd), await openPlanFile(files.other, host.cwd)];
  if (isRefusal(one) || isRefusal(other)) {
    for (const { code, message } of [one, other].filter(isRefusal)) printError(terminal, code, message);
    return exitCodes.error;
  }
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
