/**
 * `trueup plan [path]`: prints what apply would do and, with `--out`, writes it to a file. Sends only GET and LIST, and one
 * question about the rights of its token.
 */
import type { CommandContext } from '../command-context.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { Stack } from '../../model/stack/target.ts';
import type { ReaderConnection } from '../../http/open-target.ts';
import type { Plan } from '../../model/plan/plan.ts';
import { quoted } from '../../model/quoted.ts';
import { findDrift } from '../../plan/drift/find-drift.ts';
import { planWithAuthors } from '../../plan/drift/with-touches.ts';
import { printable } from '../../report/format/printable.ts';
import { shellWord } from '../../report/format/shell-word.ts';
import { askTrails } from '../drift/ask-trails.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { makePlanToShow } from '../run/make-plan.ts';
import { withOrigin } from '../run/plan-origin.ts';
import { printPlan } from '../run/print-plan.ts';
import { noteMissingSecrets } from '../run/missing-secrets.ts';
import { refuseAmongManifests, refusePlanOut, writePlanFile } from '../approval/write-plan-file.ts';
import { type PreparedRun, runToRead } from '../run/prepare-run.ts';
import { printError, type Terminal } from '../terminal/terminal.ts';
import { secretContext } from '../run/read-secret.ts';
import type { CliHost } from '../cli-host.ts';
import { stackArgument } from '../stack-argument.ts';
import { raceStop } from '../stop/race-stop.ts';

export interface PlanOptions {
  readonly calls?: boolean;
  readonly exitCode?: boolean;
  /** a file for the plan as JSON, in addition to the printed plan */
  readonly out?: string;
  /** the manifests on standard input are the whole stack */
  readonly complete?: boolean;
  /** seconds */
  readonly timeout?: number;
}

/** The name for it in other commands; not supported by `--out`. */
const standardOutput = '-';

export async function plan(
  path: string | undefined,
  options: PlanOptions,
  { host, terminal }: CommandContext,
): Promise<ExitCode> {
  const { complete, timeout } = options;
  const refusal = await refuseOut(options, host);
  if (refusal !== undefined) {
    printError(terminal, 'output-refused', refusal);
    return exitCodes.error;
  }
  const stack = stackArgument(path, complete);
  return runToRead(path, { host, terminal }, { complete, timeout }, (prepared, stop) =>
    report(prepared, options, { stack, terminal, stop }),
  );
}

/** @param stack once it is known */
async function refuseOut({ out }: PlanOptions, { cwd }: CliHost, stack?: Stack): Promise<string | undefined> {
  if (out === undefined) return undefined;
  const amongManifests = stack && refuseAmongManifests(out, cwd, stack);
  if (amongManifests !== undefined) return amongManifests;
  return out === standardOutput
    ? '"--out -" names no file, and standard output has the plan as text: "--format json" prints it there as JSON, and that is a plan file, too'
    : refusePlanOut(out, cwd);
}

interface PlanReport {
  /** the stack's argument on the command line */
  readonly stack: string | undefined;
  readonly terminal: Terminal;
  readonly stop: AbortSignal;
}

async function report(
  prepared: PreparedRun<ReaderConnection>,
  options: PlanOptions,
  { stack, terminal, stop }: PlanReport,
): Promise<ExitCode> {
  const { host } = terminal;
  try {
    const { request } = prepared;
    const refusal = await refuseOut(options, host, request.stack);
    if (refusal !== undefined) {
      printError(terminal, 'output-refused', refusal);
      return exitCodes.error;
    }
    const planned = await raceStop(makePlanWithAuthors(prepared, host), stop);
    if (planned === 'stopped') return exitCodes.interrupted;
    const noted = await noteMissingSecrets(planned, secretContext(request.stack, host));
    const made = withOrigin(noted, prepared);
    printPlan(terminal, made, { calls: options.calls ?? false, stack });
    if (options.out !== undefined) {
      // Another file may have been created there meanwhile.
      const changed = await refuseOut(options, host);
      if (changed !== undefined) {
        printError(terminal, 'output-refused', changed);
        return exitCodes.error;
      }
      await writePlanFile(options.out, host, made);
      const command = ['trueup apply', shellWord(options.out), stack]
        .filter((word) => word !== undefined)
        .join(' ');
      host.stderr.write(`the plan was written to ${quoted(options.out)}${useOf(made, command)}\n`);
    }
    return planExitCode(made, options.exitCode ?? false);
  } finally {
    await prepared.close();
  }
}

/** The plan, with who touched what is not live as it was last applied (rule 50). */
async function makePlanWithAuthors(prepared: PreparedRun<ReaderConnection>, host: CliHost): Promise<Plan> {
  const { request } = prepared;
  const { planning, input } = await makePlanToShow(request);
  const { drifted } = findDrift(input, planning.plan);
  const touches = await askTrails(drifted, {
    ...prepared,
    stack: request.stack,
    host,
    coverage: planning.plan.coverage,
  });
  return planWithAuthors(planning.plan, drifted, touches);
}

/** What can be done with the plan file: apply plans again, and does not apply a plan with problems (rules 28, 39). */
function useOf({ coverage, problems }: Plan, command: string): string {
  const unread = coverage.targets.flatMap(({ target, unread }) =>
    unread ? [quoted(printable(target))] : [],
  );
  if (unread.length > 0) {
    const [targets, which] = unread.length === 1 ? ['target', 'which was'] : ['targets', 'which were'];
    return ` and says nothing of ${targets} ${unread.join(', ')}, ${which} not looked at: ${quoted(command)} writes nothing until that can be done, and then only if it leads to no other plan`;
  }
  if (hasErrors(problems))
    return `, with its problems: ${quoted(command)} writes nothing until they are solved, and then only if that leads to no other plan`;
  return `: ${quoted(command)} applies this and nothing else`;
}

/** Problems come first, then an incomplete look, then changes, if `--exit-code` asks for them. */
function planExitCode(made: Plan, changesCount: boolean): ExitCode {
  const problems = exitCodeOf(made.problems);
  if (problems !== exitCodes.done) return problems;
  if (!made.coverage.complete) return exitCodes.error;
  return changesCount && made.changes.length > 0 ? exitCodes.changesPending : exitCodes.done;
}
