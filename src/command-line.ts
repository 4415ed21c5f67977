/**
 * Parses the arguments, loads and runs the command that they name, and returns the exit code. Writes only through the host and
 * never exits the process.
 */
import { Command, CommanderError } from 'commander';
import { command, type CommandEnd, type CommandModule, type CommonOptions } from './run/command-options.ts';
import { type ExitCode, exitCodes } from './run/exit-codes.ts';
import { reportStop } from './run/report-stop.ts';
import { formats, noteError, openTerminal, type Terminal } from './run/terminal.ts';
import { type ProcessHost, type CliHost, cliHostOf } from './run/host.ts';

/** @param args without the node binary and the script */
export async function run(args: readonly string[], processHost: ProcessHost): Promise<ExitCode> {
  const host = cliHostOf(processHost);
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
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    code = exitCodes.error;
    if (terminal.format !== 'json' && isAboutFormat(error)) terminal = openTerminal(host, {});
    code = reportEnd(error, terminal);
  } finally {
    if (terminal.format !== 'text') {
      const { answerAtEnd } = await import('./run/answer.ts');
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

/** The error cannot be printed in a format that the command does not have. */
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

interface ListedCommand {
  /** its name, and the arguments that the list of commands shows */
  readonly usage: string;
  readonly about: string;
  load(): Promise<CommandModule>;
}

/** In the order of the list. Only the command that is called is loaded: a process starts the sooner, the fewer modules it loads. */
const commands: readonly ListedCommand[] = [
  {
    usage: 'validate [path]',
    about: 'Checks every manifest, offline, and reports every problem',
    load: () => import('./commands/validate.ts'),
  },
  {
    usage: 'plan [path]',
    about: 'Compares manifests with what is live and shows what apply would do; writes nothing',
    load: () => import('./commands/plan.ts'),
  },
  {
    usage: 'apply [path] [stack]',
    about: 'Shows the plan, asks, carries it out, and plans again to prove that nothing is left',
    load: () => import('./commands/apply/command.ts'),
  },
  {
    usage: 'drift [path]',
    about:
      'Shows what somebody changed in the targets since the last apply; exits with 3 when there is something',
    load: () => import('./commands/drift/command.ts'),
  },
  {
    usage: 'show <plan>',
    about: 'Prints a plan that "plan --out" wrote',
    load: () => import('./commands/show.ts'),
  },
  {
    usage: 'diff <plan> <other>',
    about: 'Shows how two plans differ in what they would do; exits with 2 when they do',
    load: () => import('./commands/diff.ts'),
  },
  {
    usage: 'graph [path]',
    about: 'Draws which change of a plan depends on which, as Mermaid; writes nothing',
    load: () => import('./commands/graph.ts'),
  },
  {
    usage: 'comment',
    about: 'Shows a plan in its pull request: one comment a stack, updated in place; GitHub and GitLab',
    load: () => import('./commands/comment/command.ts'),
  },
  {
    usage: 'export [path]',
    about: 'Writes manifests for what is live and not managed yet, ready to be adopted; changes nothing',
    load: () => import('./commands/export/command.ts'),
  },
  {
    usage: 'accept [address...]',
    about: 'Writes live values into the manifests, in place, so that nothing is left to plan for them',
    load: () => import('./commands/accept/command.ts'),
  },
  {
    usage: 'recover [path]',
    about:
      'Rebuilds a lost or damaged ledger from the targets and the manifests; shows it and what follows from it, and asks',
    load: () => import('./commands/recover/command.ts'),
  },
  {
    usage: 'history [path]',
    about: 'Lists what was applied, newest first; "history show <id>" shows one',
    load: () => import('./commands/history/command.ts'),
  },
  {
    usage: 'audit',
    about: 'The audit trail: who did what in the organizations of a stack',
    load: () => import('./commands/audit/command.ts'),
  },
  {
    usage: 'unlock [path]',
    about: 'Removes the lock of a stack whose apply has ended but could not release it',
    load: () => import('./commands/unlock.ts'),
  },
  {
    usage: 'role',
    about: 'Roles by themselves; "role check <name>" checks whether a login would succeed',
    load: () => import('./commands/role-check/command.ts'),
  },
  {
    usage: 'schema [kind]',
    about:
      'Prints the JSON Schema of a kind, of the Stack, of any Manifest, or of what a command prints as JSON, such as a Plan; without a name lists them',
    load: () => import('./commands/schema.ts'),
  },
  {
    usage: 'serve',
    about: 'Runs the embedded service on loopback until it is stopped',
    load: () => import('./commands/serve/command.ts'),
  },
];

/** The name of the command that the arguments call, or ask help for. */
function calledIn(args: readonly string[]): string | undefined {
  return args.find((arg) => !arg.startsWith('-') && arg !== 'help');
}

/** With JSON, commander's errors are only in the JSON answer. */
async function buildProgram(args: readonly string[], host: CliHost, ends: CommandEnd): Promise<Command> {
  const { format } = formatIn(args);
  const called = calledIn(args);
  const program = new Command('trueup')
    .description(
      'Keeps live workspaces and cluster authentication roles in sync with the YAML in a git repository.',
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
  for (const { usage, about, load } of commands) {
    const [name = '', ...takes] = usage.split(' ');
    const listed = command(program, name, about);
    if (name === called) (await load()).defineCommand(listed, host, ends);
    else for (const argument of takes) listed.argument(argument);
  }
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
plan incomplete, and nothing is removed: write it as { pattern: …, optional: true }.
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
                                  all of them: what is not among them is no longer declared`;
