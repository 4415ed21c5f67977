/** The command line: flags in, exit code out. Writes through the host it is given and never exits the process. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { ProxyError } from '../http/transport/open-dispatcher.ts';
import { LedgerAddressError, LedgerError } from '../model/stack/ledger.ts';
import { WireError } from '../model/wire.ts';
import {
  type CommonOptions,
  command,
  completeOption,
  type CommandEnd,
  formatOption,
  parseTimeout,
  pathHelp,
  stackHelp,
  timeoutOption,
} from './command-options.ts';
import type { ApplyOptions } from './commands/apply.ts';
import type { ExportOptions } from './commands/export.ts';
import type { PlanOptions } from './commands/plan.ts';
import type { ServeOptions } from './commands/serve.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { GivenUp } from './ledger/ledger-waits.ts';
import { addHistory, addUnlock } from './ledger-commands.ts';
import { answerInJson, type Format, openTerminal, printError, type Terminal } from './terminal/terminal.ts';
import { SecretError } from './run/read-secret.ts';
import { SeedFileError } from './run/seed-file.ts';
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
    if (terminal.format === 'json') printError(terminal, error.message.replace(/^error: /, ''));
    return exitCodes.error;
  }
  const told =
    error instanceof WireError ||
    error instanceof ProxyError ||
    error instanceof SecretError ||
    error instanceof LedgerError ||
    error instanceof SeedFileError ||
    isSystemError(error);
  if (!told) throw error;
  printError(terminal, error.message);
  if (error instanceof GivenUp && error.interrupted) return exitCodes.interrupted;
  return error instanceof LedgerAddressError ? exitCodes.invalid : exitCodes.error;
}

/**
 * An error of the operating system, such as a file that cannot be opened, or what the embedded
 * service says of its files: known by name, for it is loaded only when it is started.
 */
function isSystemError(error: unknown): error is Error {
  const ofService = ['SeedError', 'SeedConflictError', 'DataFileError'];
  return error instanceof Error && ('syscall' in error || ofService.includes(error.name));
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

function addValidate(program: Command, { end, terminalOf }: CommandEnd): void {
  command(program, 'validate', 'Checks every manifest, offline, and reports every problem')
    .argument('[path]', pathHelp)
    .addOption(formatOption())
    .addOption(completeOption())
    .action(async (path: string | undefined, options: CommonOptions & { complete?: boolean }) => {
      const { validate } = await import('./commands/validate.ts');
      end(await validate(path, options, terminalOf(options)));
    });
}

function addPlan(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    program,
    'plan',
    'Compares manifests with what is live and shows what apply would do; writes nothing',
  )
    .argument('[path]', pathHelp)
    .addOption(formatOption())
    .addOption(completeOption())
    .option('--calls', 'show the exact requests that apply would send')
    .addOption(timeoutOption())
    .option('--exit-code', 'exit with 2 when there are changes')
    .option('--out <file>', 'keep the plan as JSON, for "trueup apply <file>"')
    .action(async (path: string | undefined, options: CommonOptions & PlanOptions) => {
      const { plan } = await import('./commands/plan.ts');
      end(await plan(path, options, { host, terminal: terminalOf(options) }));
    });
}

function addApply(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    program,
    'apply',
    'Shows the plan, asks, carries it out, and plans again to prove that nothing is left',
  )
    .argument('[path]', `${pathHelp}; or a plan file, which is applied if it still holds`)
    .argument(
      '[stack]',
      'the stack of the plan file, where it is not the one that is here; - for the selection that it was made for',
    )
    .addOption(formatOption())
    .addOption(completeOption())
    .option('--calls', 'show the exact requests in the plan')
    .addOption(timeoutOption())
    .option('-y, --yes', 'do not ask; needed where nobody can answer, unless a plan was approved')
    .option('--approve <digest>', 'apply if the plan has this digest; do not ask', parseDigest)
    .option(
      '--ack <guards>',
      'with --approve or a plan file: guards of that plan that may pass, such as deletes,rename; may be repeated',
      (ids: string, before: string | undefined) => (before === undefined ? ids : `${before},${ids}`),
    )
    .option(
      '--lock-timeout <duration>',
      'how long to wait for the lock of the stack, such as 5m',
      parseTimeout,
    )
    .action(
      async (path: string | undefined, stack: string | undefined, options: CommonOptions & ApplyOptions) => {
        const { apply } = await import('./commands/apply.ts');
        const paths = [path, stack].filter((given) => given !== undefined);
        end(await apply(paths, options, { host, terminal: terminalOf(options) }));
      },
    );
}

/** What is done with plan files besides applying them. */
function addPlanFiles(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(program, 'show', 'Prints a plan that "plan --out" kept')
    .argument('<plan>', 'a plan file')
    .addOption(formatOption())
    .option('--calls', 'show the exact requests in the plan')
    .action(async (file: string, options: CommonOptions & { calls?: boolean }) => {
      const { show } = await import('./commands/show.ts');
      end(await show(file, options, { host, terminal: terminalOf(options) }));
    });
  command(program, 'diff', 'Tells how two plans differ in what they would do; exits with 2 when they do')
    .argument('<plan>', 'a plan file')
    .argument('<other>', 'another one')
    .addOption(formatOption())
    .action(async (one: string, other: string, options: CommonOptions) => {
      const { diff } = await import('./commands/diff.ts');
      end(await diff({ one, other }, { host, terminal: terminalOf(options) }));
    });
}

function addExport(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const several = (value: string, before: readonly string[]) => [...before, value];
  command(
    program,
    'export',
    'Writes manifests for what is live and not managed yet, ready to be adopted; changes nothing',
  )
    .argument(
      '[path]',
      'a directory with a trueup.yaml, or a stack file (default: trueup.yaml here or in a parent)',
    )
    .option('--out <directory>', 'where the files go; - prints them', '-')
    .addOption(
      new Option('--group <how>', 'how manifests share files')
        .choices(['per-resource', 'per-kind', 'one-file'])
        .default('per-resource'),
    )
    .option('--target <name>', 'this target only; may be repeated', several, [])
    .option(
      '--kind <kind>',
      'this kind only, a Workspace with its tags and consumers; may be repeated',
      several,
      [],
    )
    .option(
      '--name <pattern>',
      'names that match, "*" standing for any characters; may be repeated',
      several,
      [],
    )
    .option(
      '--tag <key=value>',
      'workspaces with this tag, or with the key or flat tag; may be repeated',
      several,
      [],
    )
    .option('--project <id>', 'workspaces of this project')
    .addOption(timeoutOption())
    .option('--all', 'also what this stack or another one manages already')
    .option('--force', 'write over files that exist')
    .action(async (path: string | undefined, options: CommonOptions & ExportOptions) => {
      const { exportLive } = await import('./commands/export.ts');
      end(await exportLive(path, options, { host, terminal: terminalOf(options) }));
    });
}

function addRecover(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    program,
    'recover',
    'Rebuilds a lost or damaged ledger from the targets and the manifests; shows it and what follows from it, and asks',
  )
    .argument('[path]', stackHelp)
    .addOption(timeoutOption())
    .option('-y, --yes', 'do not ask; needed where nobody can answer')
    .option('--moved <target>', 'a target is another place now: keep of the ledger what the new place proves')
    .action(
      async (
        path: string | undefined,
        options: CommonOptions & { yes?: boolean; moved?: string; timeout?: number },
      ) => {
        const place = { host, terminal: terminalOf(options) };
        const { moved, ...rest } = options;
        if (moved !== undefined) {
          const { recoverMoved } = await import('./commands/recover-moved.ts');
          return end(await recoverMoved(path, { ...rest, moved }, place));
        }
        const { recover } = await import('./commands/recover.ts');
        end(await recover(path, rest, place));
      },
    );
}

function addSchema(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(
    program,
    'schema',
    'Prints the JSON Schema of a kind, of the Stack, the Plan, the History, or of any Manifest; without a name lists them',
  )
    .argument('[kind]', 'for example Workspace')
    .action(async (kind: string | undefined, options: CommonOptions) => {
      const { schema } = await import('./commands/schema.ts');
      end(schema(kind, host, terminalOf(options)));
    });
}

function addServe(program: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(program, 'serve', 'Runs the embedded service on loopback until it is told to stop')
    .option('--port <number>', 'port to listen on (default: any free one)', parsePort)
    .option('--data <file>', 'database file, or :memory: (default: .trueup/embedded.db)')
    .option('--seed <file>', 'YAML with the organizations, tokens, mounts and so on to start with')
    .option(
      '--relaxed-writes',
      'answers before a write is on the disk: faster, and a power cut may lose the newest',
    )
    .addOption(new Option('--dialect <name>', 'what it speaks').choices(['neutral']).default('neutral'))
    .action(async (options: CommonOptions & ServeOptions) => {
      const { serve } = await import('./commands/serve.ts');
      end(await serve(options, host, terminalOf(options)));
    });
}

function parseDigest(text: string): string {
  if (!/^[0-9a-f]{32}$/i.test(text))
    throw new InvalidArgumentError('a digest is the 32 hexadecimal characters at the end of a plan');
  return text.toLowerCase();
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535');
  return port;
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
