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
  addExamples,
  type CommandEnd,
  type CommonOptions,
  completeOption,
  formatOption,
  pathHelp,
  timeoutOption,
  traceOption,
} from '../run/command-options.ts';
import { CommandStop } from '../run/command-stop.ts';
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
import type { CommandContext } from '../run/terminal.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command
    .argument('[path]', pathHelp)
    .addOption(formatOption('markdown', 'html', 'github'))
    .addOption(completeOption())
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

/** The name for it in other commands; not supported by `--out`. */
const standardOutput = '-';

export async function plan(
  path: string | undefined,
  options: PlanOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host, terminal } = context;
  await refuseOut(options, host);
  const stack = stackArgument(path, options.complete);
  return runToRead(path, context, options, async (prepared, stop) => {
    const { request } = prepared;
    await refuseOut(options, host, request.stack);
    const planned = await raceStop(makePlanWithAuthors(prepared, host), stop);
    const noted = await noteMissingSecrets(planned, secretContext(request.stack, host));
    const made = withOrigin(noted, prepared);
    printPlan(terminal, made, { calls: options.calls ?? false, stack });
    if (options.out !== undefined) {
      // Another file may have been created there meanwhile.
      await refuseOut(options, host);
      await writePlanFile(options.out, host, made);
      const words = ['trueup apply', shellWord(options.out), stack];
      const command = words.filter((word) => word !== undefined).join(' ');
      host.stderr.write(`the plan was written to ${quoted(options.out)}${useOf(made, command)}\n`);
    }
    return planExitCode(made, options.exitCode ?? false);
  });
}

/** @param stack once it is known. @throws CommandStop when the plan cannot be written there */
async function refuseOut({ out }: PlanOptions, { cwd }: CliHost, stack?: Stack): Promise<void> {
  if (out === undefined) return;
  const why = (stack && whyAmongManifests(out, cwd, stack)) ?? (await whyNotWritable(out, cwd));
  if (why !== undefined) throw new CommandStop('output-refused', why);
}

/** The plan, with who last modified what drifted. Only changes show that, so a plan without any needs no drift. */
async function makePlanWithAuthors(prepared: PreparedRun<ReaderConnection>, host: CliHost): Promise<Plan> {
  const { request } = prepared;
  const { planning, input } = await makePlanToShow(request);
  const { drifted } = planning.plan.changes.length === 0 ? { drifted: [] } : findDrift(input, planning.plan);
  const modifications = await askTrails(drifted, {
    ...prepared,
    stack: request.stack,
    host,
    coverage: planning.plan.coverage,
  });
  return planWithAuthors(planning.plan, drifted, modifications);
}

/** How the plan file can be used: apply plans again, and does not apply a plan with problems. */
function useOf({ coverage, problems }: Plan, command: string): string {
  const unread = coverage.targets.flatMap(({ target, unread }) =>
    unread ? [quoted(printable(target))] : [],
  );
  if (unread.length > 0) {
    const [targets, which] = unread.length === 1 ? ['target', 'which was'] : ['targets', 'which were'];
    return ` and says nothing of ${targets} ${unread.join(', ')}, ${which} not read: ${quoted(command)} writes nothing until that can be done, and then only if it leads to no other plan`;
  }
  if (hasErrors(problems))
    return `, with its problems: ${quoted(command)} writes nothing until they are solved, and then only if that leads to no other plan`;
  return `: ${quoted(command)} applies this and nothing else`;
}

/** Problems come first, then an incomplete read, then changes, if `--exit-code` asks for them. */
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
 * Why no plan may be written to a path: a pipe or a device, and a file that holds something else than a plan.
 * @param file as the user typed it
 */
async function whyNotWritable(file: string, cwd: string): Promise<string | undefined> {
  if (file === standardOutput)
    return '"--out -" names no file, and standard output has the plan as text: "--format json" prints it there as JSON, and that is a plan file, too';
  const found = await readRegularText(resolve(cwd, file), maxPlanSize).catch((error: Error) => error);
  if (typeof found !== 'string') {
    if ('code' in found && found.code === 'ENOENT') return whyOwnFile(file, cwd);
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

function whyOwnFile(file: string, cwd: string): string | undefined {
  const path = resolve(cwd, file).split(sep);
  const inside = path.slice(path.lastIndexOf(stateFolderName) + 1).join('/');
  return path.includes(stateFolderName) && ownNames.test(inside)
    ? `the plan cannot be written to ${quoted(file)}: trueup keeps its own files under such names in ${quoted(stateFolderName)}; give "--out" another name`
    : undefined;
}

/** For a path that the stack's patterns match: the next plan would read the file as a manifest. */
function whyAmongManifests(file: string, cwd: string, stack: Stack): string | undefined {
  const path = relative(stack.directory, resolve(cwd, file)).split(sep).join('/');
  return matchStackFiles(stack, false).isFile(path)
    ? `the plan cannot be written to ${quoted(file)}: the stack would read it as a manifest; give "--out" another name`
    : undefined;
}

function unusableReason(error: Error): string {
  if (!(error instanceof UnfitFile)) return error.message;
  if (error.obstacle === 'folder') return 'it is a directory; name a file in it';
  if (error.obstacle === 'irregular') return 'it is not a regular file, but a pipe, a socket or a device';
  return 'it is larger than any plan, and is no plan file';
}
