/** The command line: flags in, exit code out. Writes through the world it is given and never exits the process. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { LedgerError } from '../ledger/local-file.ts';
import { WireError } from '../model/wire.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { type ColorChoice, type Format, openScreen, printError, type Screen } from './screen.ts';
import { SecretError } from './secrets.ts';
import type { World } from './world.ts';

/** @param args without the node binary and the script */
export async function run(args: readonly string[], world: World): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done;
  const program = buildProgram(world, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    return tellError(error, world);
  }
}

/** What the user or the environment can cause is told in one line; anything else is a bug and is thrown on. */
function tellError(error: unknown, world: World): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.error;
  const told =
    error instanceof WireError ||
    error instanceof SecretError ||
    error instanceof LedgerError ||
    isSystemError(error);
  if (!told) throw error;
  printError(openScreen(world, {}), error.message);
  return exitCodes.error;
}

/** An error of the operating system, such as a port that is taken or a file that cannot be opened. */
function isSystemError(error: unknown): error is Error {
  return error instanceof Error && ('syscall' in error || error.name === 'SeedError');
}

interface CommonOptions {
  readonly format?: Format;
  readonly color?: ColorChoice;
}

function buildProgram(world: World, end: (code: ExitCode) => void): Command {
  const program = new Command('trueup')
    .description(
      'Makes live workspaces and cluster authentication roles true to the YAML in a git repository.',
    )
    .version(world.version, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => world.stdout.write(text),
      writeErr: (text) => world.stderr.write(text),
    })
    .showHelpAfterError('run with --help to see what it takes')
    .addHelpText('after', `\n${afterHelp}`);
  const screenOf = (options: CommonOptions): Screen => openScreen(world, options);
  addValidate(program, world, { end, screenOf });
  addPlan(program, world, { end, screenOf });
  addApply(program, world, { end, screenOf });
  addSchema(program, world, { end, screenOf });
  addServe(program, world, { end, screenOf });
  return program;
}

interface Ends {
  end(code: ExitCode): void;
  screenOf(options: CommonOptions): Screen;
}

const pathHelp =
  'a directory with a trueup.yaml, a stack file, or - for manifests on standard input (default: trueup.yaml here or in a parent)';

function command(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .addOption(new Option('--color <when>', 'colours').choices(['auto', 'always', 'never']).default('auto'))
    .addOption(new Option('--no-color', 'the same as --color never').implies({ color: 'never' }).hideHelp());
}

function formatOption(): Option {
  return new Option('--format <format>', 'output').choices(['text', 'json']).default('text');
}

function addValidate(program: Command, world: World, { end, screenOf }: Ends): void {
  command(program, 'validate', 'Checks every manifest, offline, and reports every problem')
    .argument('[path]', pathHelp)
    .addOption(formatOption())
    .action(async (path: string | undefined, options: CommonOptions) => {
      const { validate } = await import('./commands/validate.ts');
      end(await validate(path, world, screenOf(options)));
    });
}

function addPlan(program: Command, world: World, { end, screenOf }: Ends): void {
  command(
    program,
    'plan',
    'Compares manifests with what is live and shows what apply would do; writes nothing',
  )
    .argument('[path]', pathHelp)
    .addOption(formatOption())
    .option('--calls', 'show the exact requests that apply would send')
    .option('--exit-code', 'exit with 2 when there are changes')
    .action(
      async (path: string | undefined, options: CommonOptions & { calls?: boolean; exitCode?: boolean }) => {
        const { plan } = await import('./commands/plan.ts');
        end(await plan(path, options, { world, screen: screenOf(options) }));
      },
    );
}

function addApply(program: Command, world: World, { end, screenOf }: Ends): void {
  command(
    program,
    'apply',
    'Shows the plan, asks, carries it out, and plans again to prove that nothing is left',
  )
    .argument('[path]', pathHelp)
    .addOption(formatOption())
    .option('--calls', 'show the exact requests in the plan')
    .option('-y, --yes', 'do not ask; needed where nobody can answer')
    .action(async (path: string | undefined, options: CommonOptions & { calls?: boolean; yes?: boolean }) => {
      const { apply } = await import('./commands/apply.ts');
      end(await apply(path, options, { world, screen: screenOf(options) }));
    });
}

function addSchema(program: Command, world: World, { end, screenOf }: Ends): void {
  command(
    program,
    'schema',
    'Prints the JSON Schema of a kind, of the Stack, the Plan, or of any Manifest; without a name lists them',
  )
    .argument('[kind]', 'for example Workspace')
    .action(async (kind: string | undefined, options: CommonOptions) => {
      const { schema } = await import('./commands/schema.ts');
      end(schema(kind, world, screenOf(options)));
    });
}

function addServe(program: Command, world: World, { end, screenOf }: Ends): void {
  command(program, 'serve', 'Runs the embedded service on loopback until it is told to stop')
    .option('--port <number>', 'port to listen on (default: any free one)', parsePort)
    .option('--data <file>', 'database file, or :memory: (default: .trueup/embedded.db)')
    .option('--seed <file>', 'YAML with the organizations, tokens, mounts and so on to start with')
    .addOption(new Option('--dialect <name>', 'what it speaks').choices(['neutral']).default('neutral'))
    .action(
      async (options: CommonOptions & { port?: number; data?: string; seed?: string; dialect?: string }) => {
        const { serve } = await import('./commands/serve.ts');
        end(await serve(options, world, screenOf(options)));
      },
    );
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('a port is a number from 0 to 65535');
  return port;
}

const afterHelp = `Exit codes:
  0 done, or nothing to do       4 stale: live moved since the plan   7 invalid manifests
  1 error                        6 applied in part                    9 ownership conflict
  2 changes (plan --exit-code)                                      130 interrupted

Examples:
  trueup validate                 check the stack in this directory
  trueup plan --exit-code         in a pull request
  trueup apply --yes              in CI, after the merge
  cat one.yaml | trueup plan -    manifests from standard input`;
