/** Parses the arguments, runs the command that they name, and returns the exit code. Writes only through the host, and never exits. */
import { Command, CommanderError, Option } from 'commander';
import {
  command,
  exampleText,
  type CommandEnd,
  type CommandModule,
  type CommonOptions,
} from './run/command-options.ts';
import { explainDestroy } from './commands/destroy.ts';
import { helpArguments, HintingCommand } from './commands/foreign-words.ts';
import { type ExitCode, exitCodes, exitCodesHelp } from './run/exit-codes.ts';
import { reportStop } from './run/report-stop.ts';
import { formats, noteError, openTerminal, type Terminal } from './run/terminal.ts';
import { type ProcessHost, type CliHost, cliHostOf, isTraceAsked } from './run/host.ts';

/** @param args without the node binary and the script */
export async function run(args: readonly string[], processHost: ProcessHost): Promise<ExitCode> {
  const host = await hostFor(args, processHost);
  if (args[0] === '__complete') return completeWords(args.slice(1), host);
  let terminal = openTerminal(host, formatIn(args));
  let code: ExitCode = exitCodes.done;
  const ends: CommandEnd = {
    end: (ended) => {
      code = ended;
    },
    terminalOf: (options) => {
      terminal = openTerminal(host, options);
      return terminal;
    },
  };
  try {
    const program = await buildProgram(args, host, ends);
    await program.parseAsync(helpArguments(args), { from: 'user' });
  } catch (error) {
    code = exitCodes.error;
    if (terminal.format !== 'json' && isAboutFormat(error)) terminal = openTerminal(host, {});
    code = reportEnd(error, terminal);
  } finally {
    host.progress.end();
    if (terminal.format !== 'text') {
      const { answerAtEnd } = await import('./run/answer.ts');
      await answerAtEnd(terminal, code);
    }
  }
  return code;
}

/** The host, which carries the trace if one was asked for, because connections are opened in many places. */
async function hostFor(args: readonly string[], processHost: ProcessHost): Promise<CliHost> {
  if (!args.includes('--trace') && !isTraceAsked(processHost.env)) return cliHostOf(processHost);
  const { openTrace } = await import('./run/trace.ts');
  return cliHostOf(processHost, openTrace);
}

/** The format that the arguments seem to ask for; used for errors before they are parsed. */
function formatIn(args: readonly string[]): Pick<CommonOptions, 'format'> {
  const at = args.findIndex((arg) => arg === '--format' || arg.startsWith('--format='));
  const asked = args[at] === '--format' ? args[at + 1] : args[at]?.slice('--format='.length);
  const format = formats.find((known) => known === asked);
  return format === undefined ? {} : { format };
}

/** Whether the error is about the format: it cannot be printed in a format that the command does not have. */
function isAboutFormat(error: unknown): boolean {
  return error instanceof CommanderError && /^error: (unknown )?option '--format\b/.test(error.message);
}

/** Reports what ended the command. Commander has printed its own message already, except with JSON. */
function reportEnd(error: unknown, terminal: Terminal): ExitCode {
  if (!(error instanceof CommanderError)) return reportStop(error, terminal);
  if (error.exitCode === 0) return exitCodes.done;
  noteError(terminal, 'usage', error.message.replace(/^error: /, ''));
  return exitCodes.error;
}

/** The headings of `trueup --help`, in their order. */
const commandGroups = {
  daily: 'Every day:',
  review: 'Review:',
  recover: 'Recover:',
  services: 'Services:',
  reference: 'Reference:',
} as const;

interface ListedCommand {
  /** its name, and the arguments that the list of commands shows */
  readonly usage: string;
  readonly group: keyof typeof commandGroups;
  readonly about: string;
  load(): Promise<CommandModule>;
}

/** In the order of the list. Only the command that is called is loaded, because each module costs start-up time. */
const commands: readonly ListedCommand[] = [
  {
    usage: 'init [directory]',
    group: 'daily',
    about: 'Writes a first stack, shows what it sees in the service, and offers to export it',
    load: () => import('./commands/init/command.ts'),
  },
  {
    usage: 'validate [path]',
    group: 'daily',
    about: 'Checks all manifests offline and reports every problem',
    load: () => import('./commands/validate.ts'),
  },
  {
    usage: 'plan [path]',
    group: 'daily',
    about: 'Compares manifests with the live resources and shows what apply would do',
    load: () => import('./commands/plan.ts'),
  },
  {
    usage: 'apply [path] [stack]',
    group: 'daily',
    about: 'Shows the plan, asks, makes the changes, and plans again to verify them',
    load: () => import('./commands/apply.ts'),
  },
  {
    usage: 'drift [path]',
    group: 'daily',
    about: 'Shows what was changed outside of trueup since the last apply',
    load: () => import('./commands/drift.ts'),
  },
  {
    usage: 'accept [address...]',
    group: 'daily',
    about: 'Writes live values into the manifests, so that apply keeps them',
    load: () => import('./commands/accept.ts'),
  },
  {
    usage: 'render [path]',
    group: 'daily',
    about: 'Prints each resource as a manifest, with lists and defaults filled in',
    load: () => import('./commands/render.ts'),
  },
  {
    usage: 'fmt [path...]',
    group: 'daily',
    about: 'Formats stack files and manifests',
    load: () => import('./commands/fmt.ts'),
  },
  {
    usage: 'export [path]',
    group: 'daily',
    about: 'Writes manifests for live resources that no stack manages yet',
    load: () => import('./commands/export.ts'),
  },
  {
    usage: 'move <address> [path]',
    group: 'daily',
    about: 'Moves the manifest of a resource to another stack, which then takes it over',
    load: () => import('./commands/move.ts'),
  },
  {
    usage: 'show <plan>',
    group: 'review',
    about: 'Prints a plan file that "plan --out" wrote',
    load: () => import('./commands/show.ts'),
  },
  {
    usage: 'diff <plan> <other>',
    group: 'review',
    about: 'Compares two plan files',
    load: () => import('./commands/diff.ts'),
  },
  {
    usage: 'graph [path]',
    group: 'review',
    about: 'Draws the order of the changes of a plan, as Mermaid',
    load: () => import('./commands/graph.ts'),
  },
  {
    usage: 'comment',
    group: 'review',
    about: 'Posts a plan as a comment in its pull request (GitHub, GitLab)',
    load: () => import('./commands/comment.ts'),
  },
  {
    usage: 'ci',
    group: 'review',
    about: 'Whole jobs of a CI pipeline: plan a pull request, apply what was approved',
    load: () => import('./commands/ci/command.ts'),
  },
  {
    usage: 'approve [plan] [path]',
    group: 'review',
    about: 'Signs the approval of a plan with an SSH key, for "trueup ci apply"',
    load: () => import('./commands/approve/command.ts'),
  },
  {
    usage: 'history [path]',
    group: 'review',
    about: 'Lists the applies of a stack, newest first, and shows one of them',
    load: () => import('./commands/history/command.ts'),
  },
  {
    usage: 'policy',
    group: 'review',
    about: 'Tests the policies of an organization, and runs them over the history',
    load: () => import('./commands/policy.ts'),
  },
  {
    usage: 'audit',
    group: 'review',
    about: 'Lists, follows and archives the audit trails of organizations',
    load: () => import('./commands/audit/command.ts'),
  },
  {
    usage: 'fleet',
    group: 'review',
    about: 'Checks the stacks of many repositories for drift, on any number of machines',
    load: () => import('./commands/fleet/command.ts'),
  },
  {
    usage: 'doctor [path]',
    group: 'recover',
    about: 'Checks services, tokens, ledger, git and CI, and says what to fix',
    load: () => import('./commands/doctor/command.ts'),
  },
  {
    usage: 'recover [path]',
    group: 'recover',
    about: 'Rebuilds a lost or damaged ledger from the live resources',
    load: () => import('./commands/recover.ts'),
  },
  {
    usage: 'ledger',
    group: 'recover',
    about: 'Shows the ledger of a stack, moves it, and prunes its history',
    load: () => import('./commands/ledger/command.ts'),
  },
  {
    usage: 'unlock [path]',
    group: 'recover',
    about: 'Removes the lock of an apply that has ended without releasing it',
    load: () => import('./commands/unlock.ts'),
  },
  {
    usage: 'role',
    group: 'services',
    about: 'Checks whether a login with a role would succeed',
    load: () => import('./commands/role-check/command.ts'),
  },
  {
    usage: 'serve',
    group: 'services',
    about: 'Runs the embedded service, for tests and trials',
    load: () => import('./commands/serve.ts'),
  },
  {
    usage: 'explain [name] [path]',
    group: 'reference',
    about: 'Explains a code, a guard, a kind, a field, or where the values of a resource come from',
    load: () => import('./commands/explain.ts'),
  },
  {
    usage: 'schema [kind]',
    group: 'reference',
    about: 'Prints JSON Schemas: of kinds, of the stack, and of what commands print',
    load: () => import('./commands/schema.ts'),
  },
  {
    usage: 'completion <shell>',
    group: 'reference',
    about: 'Prints a script for completion in bash, zsh or fish',
    load: () => import('./commands/completion.ts'),
  },
];

/** The name of the command that the arguments call, or ask help for. */
function calledIn(args: readonly string[]): string | undefined {
  return args.find((arg) => !arg.startsWith('-') && arg !== 'help');
}

/** The program with all of its commands loaded, to describe them. */
export async function wholeProgram(processHost: ProcessHost): Promise<Command> {
  return describedProgram(cliHostOf(processHost), () => true);
}

function describedProgram(host: CliHost, isLoaded: (name: string) => boolean): Promise<Command> {
  const ends: CommandEnd = { end: () => {}, terminalOf: (options) => openTerminal(host, options) };
  return buildProgram([], host, ends, isLoaded);
}

/** Answers the scripts of "trueup completion". Prints no errors, which would appear in the prompt. */
async function completeWords(words: readonly string[], host: CliHost): Promise<ExitCode> {
  const { printCompletion } = await import('./commands/complete-words.ts');
  const called = calledIn(words.slice(0, -1));
  await printCompletion(() => describedProgram(host, (name) => name === called), words, host);
  return exitCodes.done;
}

/**
 * With JSON, commander's errors are only in the JSON answer.
 * @param isLoaded whether the arguments, flags and subcommands of this command are needed
 */
async function buildProgram(
  args: readonly string[],
  host: CliHost,
  ends: CommandEnd,
  isLoaded = (name: string) => name === calledIn(args),
): Promise<Command> {
  const { format } = formatIn(args);
  const isVerbose = args.includes('--verbose') && args.some((arg) => arg === '--version' || arg === '-V');
  const version = isVerbose
    ? await (await import('./run/verbose-version.ts')).verboseVersion(host)
    : host.version;
  const program = new HintingCommand('trueup')
    .description(about)
    .version(version, '-V, --version', versionHelp)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      getOutHelpWidth: () => host.stdout.columns ?? 80,
      writeErr: (text) => {
        if (format !== 'json') host.stderr.write(text);
      },
    })
    .showHelpAfterError('run "trueup --help" to see what it takes')
    .addHelpText('after', `\n${afterHelp}`);
  for (const { usage, group, about: does, load } of commands) {
    const [name = '', ...takes] = usage.split(' ');
    const listed = command(program, name, does).helpGroup(commandGroups[group]);
    if (isLoaded(name)) (await load()).defineCommand(listed, host, ends);
    else for (const argument of takes) listed.argument(argument);
  }
  if (isVerbose) program.addOption(new Option('--verbose').hideHelp());
  const help = new Command('help').argument('[command...]').description('Prints the help of a command');
  program.addHelpCommand(help.helpGroup(commandGroups.reference));
  explainDestroy(program);
  return program;
}

const about =
  'Keeps live workspaces and cluster authentication roles in sync with the YAML in a git repository.';

const versionHelp = 'print the version; with --verbose also the commit, Node and the platform';

const afterHelp = `Exit codes:
${exitCodesHelp}

${exampleText([
  ['trueup validate', 'check the stack in this directory'],
  ['trueup plan', 'show what apply would change'],
  ['trueup apply', 'show the plan, ask, and make the changes'],
  ['trueup drift', 'show what was changed outside of trueup'],
  ['trueup help plan', 'all flags of a command, with examples'],
])}`;
