/** `trueup init [directory]`: writes a first stack, shows what its target has, and offers to export that. */
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { displayPath, findRepository, liesIn, stackFileName } from '../../manifest/files/find-stack.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { Target } from '../../model/stack.ts';
import { printable, shellWord } from '../../report/view/printable.ts';
import {
  addExamples,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  timeoutOption,
  traceOption,
} from '../../run/command-options.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import { type LiveExport, withLiveExport } from '../../run/export/export-live.ts';
import type { CliHost } from '../../run/host.ts';
import { realOf } from '../../run/new-files.ts';
import { stopOf } from '../../run/report-stop.ts';
import { listenForEnd, raceStop } from '../../run/stop-signals.ts';
import { type CommandContext, printJson, printNote, textOutput } from '../../run/terminal.ts';
import { type AnswerFlags, type Answers, collectAnswers } from './answers.ts';
import { draftFiles, planFiles, refuseExisting, writeFiles } from './stack-files.ts';
import { describeTarget, type Overview } from './overview.ts';
import { ciNames } from './pipelines.ts';
import { agrees } from './questions.ts';
import {
  type InitResult,
  overviewText,
  previewText,
  resultJson,
  stepsText,
  tokenText,
  writtenText,
} from './render.ts';
import { readSurroundings } from './repository.ts';

export function defineCommand(command: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const collect = (value: string, before: readonly string[]) => [...before, value];
  command
    .argument('[directory]', 'where the stack goes; it is created if needed (default: here)')
    .option('--embedded', 'a stack of the embedded service: no account and no token is needed')
    .addOption(
      new Option('--service <service>', 'what the stack manages').choices(['workspaces', 'cluster-auth']),
    )
    .option('--url <address>', 'address of the service')
    .option('--dialect <name>', 'which product the service is')
    .option('--organization <name>', 'with workspaces: the organization')
    .option('--mount <name>', 'with cluster-auth: the mount, below "auth/"')
    .option('--namespace <path>', 'with cluster-auth: the namespace')
    .option('--owns <pattern>', 'with cluster-auth: role names of the stack; may be repeated', collect, [])
    .option('--token-env <name>', 'the variable that holds the token; never give the token itself')
    .option('--token-file <path>', 'the file that holds the token')
    .option('--ca-cert <path>', 'the CA of the service, as a PEM file')
    .option('--name <name>', 'name of the stack (default: that of the directory)')
    .option('--target <name>', 'name of the target (default: that of the organization or mount)')
    .addOption(
      new Option('--ci <platform>', 'for which CI to write the files that plan and apply').choices([
        ...ciNames,
      ]),
    )
    .addOption(new Option('--ledger <store>', 'where the ledger is kept').choices(['local', 'git']))
    .option('--export', 'export what no stack manages yet, without asking')
    .option('--no-connect', 'write the files only: send nothing, and use no token')
    .option('--dry-run', 'print the files, and neither write nor connect')
    .option('-y, --yes', 'do not ask: use the token that is found, and every default')
    .addOption(formatOption())
    .addOption(timeoutOption())
    .addOption(traceOption())
    .action(async (directory: string | undefined, options: InitOptions & CommonOptions) => {
      end(await init(directory, options, { host, terminal: terminalOf(options) }));
    });
  addExamples(
    command,
    ['trueup init', 'ask, write a first stack, and show what it sees'],
    ['trueup init --embedded', 'a stack to try, which needs no account'],
    [
      'trueup init --organization acme --ci github --yes',
      'without questions, with the token of the environment',
    ],
  );
}

// The steps of `trueup init`: collect the answers, write all files or none, connect, show what the target has, offer to export it.
// The files are written before the target is read, so that no answer is lost if the service is down or refuses the token.

interface InitOptions extends AnswerFlags {
  readonly export?: boolean;
  readonly dryRun?: boolean;
}

export async function init(
  path: string | undefined,
  options: InitOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { host } = context;
  const directory = await directoryOf(path, host.cwd);
  const surroundings = await readSurroundings(directory);
  refuseExisting([join(directory, stackFileName)], host.cwd);
  const stops = listenForEnd(host);
  let answers: Answers;
  try {
    const flags = { ...options, connect: options.connect && options.dryRun !== true };
    answers = await collectAnswers(flags, { ...context, stops, directory, surroundings });
  } finally {
    stops.dispose();
  }
  const files = await planFiles(draftFiles(answers.stack), { cwd: host.cwd, root: surroundings.root });
  const result: InitResult = { answers, files, isDryRun: options.dryRun === true };
  printJson(context.terminal, (reported) => resultJson(result, host.cwd, reported));
  if (result.isDryRun) {
    textOutput(context.terminal)?.write(previewText(files, host.cwd));
    return exitCodes.done;
  }
  await writeFiles(files);
  return showResult(result, options, context);
}

async function showResult(
  result: InitResult,
  options: InitOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { answers, files } = result;
  const out = textOutput(context.terminal);
  const style = { cwd: context.host.cwd, paint: context.terminal.paint };
  const isConnected = options.connect && answers.token.env !== undefined;
  out?.write(writtenText(files, style));
  const offline =
    isConnected || answers.stack.target.url === 'embedded' ? undefined : whyOffline(answers, options);
  out?.write(tokenText(answers, { ...style, offline }));
  const code = isConnected ? await showTarget(result, options, context) : exitCodes.done;
  out?.write(
    stepsText(answers, {
      ...style,
      offline,
      isExported: result.isExported === true,
      isRead: code === exitCodes.done,
    }),
  );
  return code;
}

function whyOffline({ token: { missing } }: Answers, { connect }: InitOptions): string {
  return connect && missing !== undefined ? missing : 'with "--no-connect", only files are written';
}

/** The absolute path of the directory. A link above the repository is followed, a link in it is refused. */
async function directoryOf(path: string | undefined, cwd: string): Promise<string> {
  const real = await realpath(cwd);
  const directory = resolve(real, path ?? '.');
  const target = realOf(directory);
  const repository = await findRepository(real);
  if (liesIn(repository, directory) && target !== directory)
    throw new CommandStop(
      'output-refused',
      `nothing was written: ${quoted(path ?? '.')} leads over a symbolic link, which init does not follow`,
    );
  return target;
}

/** Reads the target with the stack that was written, and exports its resources if the user wants that. */
async function showTarget(
  result: InitResult,
  options: InitOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { stack, token } = result.answers;
  const host: CliHost = { ...context.host, env: token.env ?? {} };
  const reading = { host, terminal: { ...context.terminal, host } };
  const { timeout } = options;
  const selection = {
    out: displayPath(join(stack.directory, 'manifests'), host.cwd),
    group: 'per-resource',
    target: [],
    kind: [],
    name: [],
    tag: [],
    ...(timeout === undefined ? {} : { timeout }),
  } as const;
  const work = async (live: LiveExport): Promise<ExitCode> => {
    const overviews = await raceStop(Promise.all(live.readings.map(describeTarget)), live.stop);
    result.overviews = overviews;
    textOutput(context.terminal)?.write(overviewText(live.job.stack, overviews, context.terminal.paint));
    const unread = overviews.flatMap((overview) => overview.unread);
    for (const why of unread) printNote(reading.terminal, `not everything was read: ${printable(why)}`);
    if (unread.length > 0) host.stderr.write(doctorHint(stack.directory, host.cwd));
    if (unread.length > 0) return exitCodes.error;
    result.isExported = await wantsExport(overviews, {
      ...{ options, target: stack.target, reading },
      stop: live.stop,
    });
    return result.isExported ? live.write() : exitCodes.done;
  };
  try {
    return await withLiveExport(join(stack.directory, stackFileName), selection, reading, work);
  } catch (error) {
    if (stopOf(error)?.exit !== exitCodes.interrupted)
      host.stderr.write(doctorHint(stack.directory, host.cwd));
    throw error;
  }
}

/** The command is at the end of the line, so that it can be copied: the directory may need shell quotes. */
function doctorHint(directory: string, cwd: string): string {
  const path = displayPath(directory, cwd);
  return `The files are written. This checks address, token and rights: trueup doctor${path === '.' ? '' : ` ${shellWord(path)}`}\n`;
}

interface Offer {
  readonly options: InitOptions;
  readonly target: Target;
  readonly reading: CommandContext;
  readonly stop: AbortSignal;
}

async function wantsExport(
  overviews: readonly Overview[],
  { options, target, reading, stop }: Offer,
): Promise<boolean> {
  const { host, terminal } = reading;
  const count = overviews.reduce((sum, { unowned }) => sum + unowned, 0);
  if (count === 0) return false;
  const isMount = target.service === 'cluster-auth';
  const mountCaveat = 'A mount cannot show whether another stack has them.';
  if (isMount && options.export === true)
    printNote(terminal, `exporting ${counted(count, 'resource')}. ${mountCaveat}`);
  if (options.export === true) return true;
  if (options.yes === true || !host.interactive || terminal.format !== 'text') return false;
  const what = isMount
    ? `Write manifests for ${counted(count, 'resource')}? ${mountCaveat}`
    : `Write manifests for ${counted(count, 'resource')} without an owner?`;
  const question = `${what} Nothing changes in the service.`;
  return agrees(question, { host, stop }, 'the files above are written, and no manifest');
}
