/**
 * `trueup plan [path]`: prints what apply would do and, with `--out`, writes it to a plan file. Sends only GET and LIST, and
 * one question about the permissions of its token.
 */
import { realpath } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import type { Command } from 'commander';
import type { ReaderConnection } from '../api/open-target.ts';
import { readRegularText, UnfitFile } from '../files/read-file.ts';
import { replaceFile, stateFolderName } from '../files/write-file.ts';
import { matchStackFiles } from '../manifest/files/match-files.ts';
import { hasErrors } from '../model/diagnostic.ts';
import type { Plan } from '../model/plan.ts';
import { quoted } from '../model/quoted.ts';
import type { Stack } from '../model/stack.ts';
import { findDrift } from '../plan/drift/find-drift.ts';
import { planWithAuthors } from '../plan/drift/last-modified.ts';
import { renderPlanJson } from '../report/json/plan.ts';
import { printable, shellWord } from '../report/view/printable.ts';
import {
  type CommandEnd,
  type CommonOptions,
  completeOption,
  formatOption,
  pathHelp,
  timeoutOption,
} from '../run/command-options.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../run/exit-codes.ts';
import type { CliHost } from '../run/host.ts';
import { askTrails } from '../run/last-modified.ts';
import { stackArgument } from '../run/load-manifests.ts';
import { makePlanToShow } from '../run/make-plan.ts';
import { noteMissingSecrets } from '../run/needed-secrets.ts';
import { withOrigin } from '../run/origin.ts';
import { isPlanFile, maxPlanSize, parsed } from '../run/plan-file.ts';
import { type PreparedRun, runToRead } from '../run/prepare-run.ts';
import { printPlan } from '../run/print-plan.ts';
import { secretContext } from '../run/read-secret.ts';
import { raceStop } from '../run/stop-signals.ts';
import { type CommandContext, printError, type Terminal } from '../run/terminal.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown', 'html', 'github'))
    .addOption(completeOption())
    .option('--calls', 'show the exact requests that apply would send')
    .addOption(timeoutOption())
    .option('--exit-code', 'exit with 2 when there are changes')
    .option('--out <file>', 'keep the plan as JSON, for "trueup apply <file>"')
    .action(async (path: string | undefined, options: CommonOptions & PlanOptions) => {
      end(await plan(path, options, { host, terminal: terminalOf(options) }));
    });
}

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

// Writes plan files, each as a whole or not at all, and only where no other file of the user or of trueup is.

/** Writes a plan, readable by its owner only: it holds no secret of the run, but much about a platform. */
async function writePlanFile(
  file: string,
  { cwd, clean }: Pick<CliHost, 'cwd' | 'clean'>,
  plan: Plan,
): Promise<void> {
  const path = resolve(cwd, file);
  const text = `${renderPlanJson(plan, { clean })}\n`;
  return replaceFile(await realpath(path).catch(() => path), text);
}

/**
 * Refuses a path where no plan may be written: a pipe or a device, and a file that holds something else than a plan.
 * @param file as the user typed it
 * @returns the reason; undefined when a plan may be written there
 */
async function refusePlanOut(file: string, cwd: string): Promise<string | undefined> {
  const found = await readRegularText(resolve(cwd, file), maxPlanSize).catch((error: Error) => error);
  if (typeof found !== 'string') {
    if ('code' in found && found.code === 'ENOENT') return refuseOwnFile(file, cwd);
    return `the plan cannot be written to ${quoted(file)}: ${unusableReason(found)}`;
  }
  const value = parsed(found);
  const isPlan = value !== undefined && isPlanFile(value) && 'coverage' in value;
  return isPlan || found === ''
    ? undefined
    : `the plan is not written over ${quoted(file)}, which is no plan file; give "--out" a new name, or remove that file`;
}

/** Names in the state folder that trueup reads as something else: ledgers, histories, the embedded service's data. */
const ownNames = /\.ledger\.json(\.|$)|\.history(\/|$)|^embedded\.db/;

function refuseOwnFile(file: string, cwd: string): string | undefined {
  const path = resolve(cwd, file).split(sep);
  const inside = path.slice(path.lastIndexOf(stateFolderName) + 1).join('/');
  return path.includes(stateFolderName) && ownNames.test(inside)
    ? `the plan cannot be written to ${quoted(file)}: trueup keeps its own files under such names in ${quoted(stateFolderName)}; give "--out" another name`
    : undefined;
}

/** Refuses a path that the stack's patterns match, because the next plan would read the file as a manifest. @returns the reason */
function refuseAmongManifests(file: string, cwd: string, stack: Stack): string | undefined {
  const path = relative(stack.directory, resolve(cwd, file)).split(sep).join('/');
  return matchStackFiles(stack, false).isFile(path)
    ? `the plan cannot be written to ${quoted(file)}: the stack would read it as a manifest; give "--out" another name`
    : undefined;
}

function unusableReason(error: Error): string {
  if (!(error instanceof UnfitFile)) return error.message;
  if (error.obstacle === 'folder') return 'it is a directory; name a file in it';
  if (error.obstacle === 'irregular') return 'it is no regular file, but a pipe, a socket or a device';
  return 'it is larger than any plan, and is no plan file';
}
