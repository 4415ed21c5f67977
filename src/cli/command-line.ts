/** The command line: flags in, exit code out. Writes through the host it is given and never exits the process. */
import { systemWords } from '../model/system-words.ts';
import { Command, CommanderError } from 'commander';
import { LedgerAddressError } from '../model/stack/ledger.ts';
import type { CommandEnd, CommonOptions } from './command-options.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { addApply } from './flags/apply.ts';
import { addExport } from './flags/export.ts';
import { addHistory } from './flags/history.ts';
import { addPlan } from './flags/plan.ts';
import { addRecover } from './flags/recover.ts';
import { addSchema } from './flags/schema.ts';
import { addServe } from './flags/serve.ts';
import { addPlanFiles } from './flags/show-and-diff.ts';
import { addUnlock } from './flags/unlock.ts';
import { addValidate } from './flags/validate.ts';
import { GivenUp } from './ledger/ledger-waits.ts';
import { codeOfError } from './terminal/error-codes.ts';
import { answerInJson, type Format, openTerminal, printError, type Terminal } from './terminal/terminal.ts';
import { InputGivenUp } from './run/read-input.ts';
import { type ProcessHost, type CliHost, cliHostOf } from './cli-host.ts';

/** @param args without the node binary and the script */
export async function run(args: readonly string[], outside: ProcessHost): Promise<ExitCode> {
  const host = cliHostOf(outside);
  let terminal = openTerminal(host, wishesIn(args));
  let code: ExitCode = exitCodes.done;
  const program = buildProgram(host, wishesIn(args).format, {
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
    code = tellError(error, terminal);
  } finally {
    answerInJson(terminal, code);
  }
  return code;
}

/** What the flags ask of the terminal, for what goes wrong before they are understood. */
function wishesIn(args: readonly string[]): Pick<CommonOptions, 'format'> {
  const isAsked = args.includes('--format=json') || args[args.indexOf('--format') + 1] === 'json';
  return isAsked && args.some((arg) => arg.startsWith('--format')) ? { format: 'json' } : {};
}

/** What the user or the environment can cause is told in one line; anything else is a bug and is thrown on. */
function tellError(error: unknown, terminal: Terminal): ExitCode {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return exitCodes.done;
    // As text, the words are out already.
    if (terminal.format === 'json') printError(terminal, 'usage', error.message.replace(/^error: /, ''));
    return exitCodes.error;
  }
  const code = codeOfError(error);
  if (code === undefined || !(error instanceof Error)) throw error;
  printError(terminal, code, fileWords(error));
  if ((error instanceof GivenUp || error instanceof InputGivenUp) && error.interrupted)
    return exitCodes.interrupted;
  return error instanceof LedgerAddressError ? exitCodes.invalid : exitCodes.error;
}

/** Of an error that names a file: the file, and the way out. */
function fileWords(error: NodeJS.ErrnoException): string {
  const says = systemWords(error);
  if (!('syscall' in error) || says === undefined || error.path === undefined) return error.message;
  return `"${error.path}" cannot be ${error.syscall === 'read' ? 'read' : 'used'}: ${says}`;
}

/** @param format what the flags seem to ask for: in JSON, a mistake in them is said there alone */
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
  addPlanFiles(program, host, ends);
  addExport(program, host, ends);
  addRecover(program, host, ends);
  addHistory(program, host, ends);
  addUnlock(program, host, ends);
  addSchema(program, host, ends);
  addServe(program, host, ends);
  return program;
}

const afterHelp = `Exit codes:
  0 done, or nothing to do       5 blocked by a guard                 8 locked by another apply
  1 error                        6 applied in part                    9 ownership conflict
  2 changes (plan --exit-code),  7 invalid manifests                130 interrupted
    or plans that differ (diff)
  4 stale: live moved since the plan, or it is not the plan that was approved

Examples:
  trueup validate                 check the stack in this directory
  trueup plan --exit-code         whether there is anything to do
  trueup plan --out plan.json     in a pull request: keep what is to be approved
  trueup apply plan.json          in CI, after the merge: that, and nothing else
  trueup export --out manifests   manifests for what is live and not managed yet
  ./render | trueup plan -        some manifests of the stack, and nothing else of it
  ./render | trueup plan - --complete
                                  all of them: what is not among them is declared no more`;
