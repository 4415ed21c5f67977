/** Parses the arguments, runs a command and returns the exit code. Writes only through the host and never exits the process. */
import { systemErrorMessage } from '../model/system-error-message.ts';
import { Command, CommanderError } from 'commander';
import { LedgerAddressError } from '../model/stack/ledger.ts';
import { quoted } from '../model/quoted.ts';
import { ArchiveAddressError } from './audit/open-archive.ts';
import { addComment } from './comment/comment-flags.ts';
import type { CommandEnd, CommonOptions } from './command-options.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { addAccept } from './flags/accept.ts';
import { addApply } from './flags/apply.ts';
import { addAudit } from './flags/audit.ts';
import { addCheckRole } from './flags/check-role.ts';
import { addDrift } from './flags/drift.ts';
import { addExport } from './flags/export.ts';
import { addGraph } from './flags/graph.ts';
import { addHistory } from './flags/history.ts';
import { addPlan } from './flags/plan.ts';
import { addRecover } from './flags/recover.ts';
import { addSchema } from './flags/schema.ts';
import { addServe } from './flags/serve.ts';
import { addPlanFiles } from './flags/show-and-diff.ts';
import { addUnlock } from './flags/unlock.ts';
import { addValidate } from './flags/validate.ts';
import { LedgerWaitEnded } from './ledger/ledger-waits.ts';
import { codeOfError } from './terminal/error-codes.ts';
import {
  type Format,
  formats,
  noteError,
  openTerminal,
  printError,
  type Terminal,
} from './terminal/terminal.ts';
import { InputWaitEnded } from './run/read-input.ts';
import { type ProcessHost, type CliHost, cliHostOf } from './cli-host.ts';

/** @param args without the node binary and the script */
export async function run(args: readonly string[], processHost: ProcessHost): Promise<ExitCode> {
  const host = cliHostOf(processHost);
  let terminal = openTerminal(host, formatIn(args));
  let code: ExitCode = exitCodes.done;
  const program = buildProgram(host, formatIn(args).format, {
    end: (ended) => {
      code = ended;
    },
    terminalOf: (options) => {
      terminal = openTerminal(host, options);
      return terminal;
    },
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    code = exitCodes.error;
    if (terminal.format !== 'json' && isAboutFormat(error)) terminal = openTerminal(host, {});
    code = reportError(error, terminal);
  } finally {
    if (terminal.format !== 'text') {
      const { answerAtEnd } = await import('./terminal/answer.ts');
      await answerAtEnd(terminal, code);
    }
  }
  return code;
}

/** The format that the arguments seem to ask for; used for errors before they are parsed. */
function formatIn(args: readonly string[]): Pick<CommonOptions, 'format'> {
  const at = args.findIndex((arg) => arg === '--format' || arg.startsWith('--format='));
  const asked = args[at] === '--format' ? args[at + 1] : args[at]?.slice('--format='.length);
  const format = formats.find((known) => known === asked);
  return format === undefined ? {} : { format };
}

/** A format that the command does not have cannot tell so. */
function isAboutFormat(error: unknown): boolean {
  return error instanceof CommanderError && /^error: (unknown )?option '--format\b/.test(error.message);
}

/** Reports an error that the user or the environment can cause in one line; any other error is a bug and is thrown again. */
function reportError(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.done;
    // Commander has printed the message already, but for JSON.
    noteError(terminal, 'usage', error.message.replace(/^error: /, ''));
    return exitCodes.error;
  }
  const code = codeOfError(error);
  if (code === undefined || !(error instanceof Error)) throw error;
  printError(terminal, code, errorText(error));
  if ((error instanceof LedgerWaitEnded || error instanceof InputWaitEnded) && error.interrupted)
    return exitCodes.interrupted;
  const isInvalid = error instanceof LedgerAddressError || error instanceof ArchiveAddressError;
  return isInvalid ? exitCodes.invalid : exitCodes.error;
}

/** The message of an error. For a system error about a file it names the file and says what to do. */
function errorText(error: NodeJS.ErrnoException): string {
  const explanation = systemErrorMessage(error);
  if (!('syscall' in error) || explanation === undefined || error.path === undefined)
    return inPlainWords(error);
  const done = new Map([
    ['read', 'read'],
    ['write', 'written'],
  ]);
  return `${quoted(error.path)} cannot be ${done.get(error.syscall ?? '') ?? 'used'}: ${explanation}`;
}

/** Replaces the words of the system at the end of a message by what is the case and what to do. */
function inPlainWords({ message, cause }: Error): string {
  const explanation = systemErrorMessage(cause);
  if (explanation === undefined || !(cause instanceof Error) || !message.endsWith(cause.message))
    return message;
  return `${message.slice(0, -cause.message.length)}${explanation}`;
}

/** @param format the format that the arguments seem to ask for; with JSON, commander's errors are only in the JSON answer */
function buildProgram(host: CliHost, format: Format | undefined, ends: CommandEnd): Command {
  const program = new Command('trueup')
    .description(
      'Makes live workspaces and cluster authentication roles true to the YAML in a git repository.',
    )
    .version(host.version, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => {
        if (format !== 'json') host.stderr.write(text);
      },
    })
    .showHelpAfterError('run with --help to see what it takes')
    .addHelpText('after', `\n${afterHelp}`);
  addValidate(program, ends);
  addPlan(program, host, ends);
  addApply(program, host, ends);
  addDrift(program, host, ends);
  addPlanFiles(program, host, ends);
  addGraph(program, host, ends);
  addComment(program, host, ends);
  addExport(program, host, ends);
  addAccept(program, host, ends);
  addRecover(program, host, ends);
  addHistory(program, host, ends);
  addAudit(program, host, ends);
  addUnlock(program, host, ends);
  addCheckRole(program, host, ends);
  addSchema(program, host, ends);
  addServe(program, host, ends);
  explainDestroy(program);
  return program;
}

/** A command that does not exist and that users of other tools type: it is hidden, takes any arguments, and only says what to do instead. */
function explainDestroy(program: Command): void {
  const command = program.command('destroy', { hidden: true });
  command
    .showHelpAfterError(false)
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .configureHelp({ formatHelp: () => `${destroyAdvice}\n` })
    .action(() => command.error(`error: ${destroyAdvice}`, { code: 'commander.unknownCommand' }));
}

const destroyAdvice = `there is no command "destroy", and nothing was done: an apply removes what is no longer declared
To remove resources, choose a way, then run "trueup plan" and apply that plan:
  delete its document    what this stack created is deleted, what it adopted is released and stays.
                         A workspace that still manages resources is kept, and the plan says so
  metadata.remove        a document with "metadata.remove: safe" and without "spec" asks to delete one resource, also an
                         adopted one; "force" skips the check for managed resources, whose state is lost, behind the
                         guard "forced-delete"
  metadata.onRemove      "release" or "delete" says, while it is declared, what happens when the document is gone
  metadata.protect       "true" keeps it; apply "false" first
To remove everything, delete all documents and keep the stack file. A pattern in "spec.manifests" that finds no file makes the
plan incomplete, and nothing is removed: write it as { pattern: …, optional: true }, or leave an empty file.
The guards "deletes", "delete-percent", "zero" and "no-record" stop an apply that deletes much: it exits with 5 until they are
named with --ack, together with --approve DIGEST or a plan file (docs/guards.md).
The resources that a workspace manages are never destroyed by this: destroy them in the workspace first.`;

const afterHelp = `Exit codes:
  0 done, or nothing to do       5 blocked by a guard                 8 locked by another apply
  1 error                        6 applied in part                    9 ownership conflict
  2 changes (plan --exit-code),  7 invalid manifests                130 interrupted
    plans that differ (diff), or a login that would fail (role check)
  3 drift: live is not as it was last applied (drift)
  4 stale: live moved since the plan, or it is not the plan that was approved

Examples:
  trueup validate                 check the stack in this directory
  trueup plan --exit-code         whether there is anything to do
  trueup drift                    what somebody changed in the targets since the last apply
  trueup plan --out plan.json     in a pull request: keep what is to be approved
  trueup show plan.json --format markdown
                                  that plan for the reviewer, as a comment
  trueup show plan.json --format html > plan.html
                                  all of it in one page, with a table to filter and a graph
  trueup comment --plan plan.json in the pull request's CI job: shows it there, in one comment
  trueup apply plan.json          in CI, after the merge: that, and nothing else
  trueup export --out manifests   manifests for what is live and not managed yet
  trueup accept Workspace/acme/app
                                  what is live there becomes what the manifest says
  trueup role check web --jwt ci.jwt
                                  whether a service account may log in, and else why not
  ./render | trueup plan -        some manifests of the stack, and nothing else of it
  ./render | trueup plan - --complete
                                  all of them: what is not among them is declared no more`;
