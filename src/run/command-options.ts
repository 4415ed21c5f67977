/** What all commands share: how a command is declared, common options, and help texts. */
import { type Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { parseTimestamp } from '../audit-trail/read-trail.ts';
import { wrap } from '../report/text/layout.ts';
import { parseDuration } from '../model/duration.ts';
import { quoted } from '../model/quoted.ts';
import type { CliHost } from './host.ts';
import type { ExitCode } from './exit-codes.ts';
import { codeHosts } from './pull-request.ts';
import type { ColorChoice, Format, Terminal } from './terminal.ts';

/** Options that several commands take. */
export interface CommonOptions {
  readonly format?: Format;
  readonly color?: ColorChoice;
  /** seconds that the run may take */
  readonly timeout?: number;
  /** the manifests on standard input are the whole stack */
  readonly complete?: boolean;
  /** the selectors of a part of the stack, as given */
  readonly select?: readonly string[];
}

export interface CommandEnd {
  end(code: ExitCode): void;
  terminalOf(options: CommonOptions): Terminal;
}

/** Adds arguments, options, subcommands and the action to a command, which has its name and description. */
type DefineCommand = (command: Command, host: CliHost, ends: CommandEnd) => void;

/** What the module of a command exports. */
export interface CommandModule {
  readonly defineCommand: DefineCommand;
}

const here = '(default: trueup.yaml here or in a parent)';

export const pathHelp = `a directory with a trueup.yaml, a stack file, or - for manifests on standard input; if the stack has files of its own, only the resources on standard input are changed ${here}`;

/** For commands that read no manifest, or that need all of them. */
export const stackHelp = `a directory with a trueup.yaml, a stack file, or - for a stack on standard input ${here}`;

/** The option `--complete`, for commands that take manifests from standard input. */
export function completeOption(): Option {
  return new Option(
    '--complete',
    'with -: the input is the whole stack; what is not in it is no longer declared',
  );
}

/** The option `--select`, for commands that can be about a part of a stack. */
export function selectOption(
  help = 'only this part of the stack, and what it needs: an address, a pattern such as "Workspace/acme/net-*", tag:KEY=VALUE, project:NAME, file:PATTERN or changed-since:REF; !… excludes; may be repeated',
): Option {
  return new Option('--select <selector>', help).argParser(
    (selector: string, before: readonly string[] | undefined) => [...(before ?? []), selector],
  );
}

/** A command below `program`, with the options that every command takes. */
export function command(program: Command, name: string, description: string): Command {
  const path = [program.parent?.name(), program.name(), name].filter(Boolean).join(' ');
  return program
    .command(name)
    .description(description)
    .showHelpAfterError(`run ${quoted(`${path} --help`)} to see what it takes`)
    .addOption(
      new Option('--color <when>', 'whether to use colours')
        .choices(['auto', 'always', 'never'])
        .default('auto'),
    )
    .addOption(new Option('--no-color', 'the same as --color never').implies({ color: 'never' }).hideHelp());
}

/** A command line, and what it does: a clause without a full stop. */
type Example = readonly [line: string, does: string];

/** Ends the help of a command with examples. */
export function addExamples(command: Command, ...examples: readonly Example[]): Command {
  return command.addHelpText('after', `\n${exampleText(examples)}`);
}

const exampleColumn = 34;

/** Two columns that fit into 80 characters; what does not fit beside its command line begins below it. */
export function exampleText(examples: readonly Example[]): string {
  const lines = examples.flatMap(([line, does]) => {
    const left = `  ${line}`;
    const right = wrap(does, 80 - exampleColumn).map((part) => ' '.repeat(exampleColumn) + part);
    if (left.length > exampleColumn - 2) return [left, ...right];
    return [left.padEnd(exampleColumn) + (right[0] ?? '').trimStart(), ...right.slice(1)];
  });
  return ['Examples:', ...lines].join('\n');
}

/** Options for the code host, where the variables of the CI job do not name it. */
export function addHostOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--service <name>', 'the code host (default: that of the CI job)').choices(codeHosts),
    )
    .option('--url <url>', 'the address of its API (default: GITHUB_API_URL or CI_API_V4_URL)')
    .option('--repository <owner/name>', 'on GitHub (default: GITHUB_REPOSITORY)')
    .option('--project <id>', 'on GitLab, an id or a path (default: that of the CI job)')
    .option(
      '--token-env <variable>',
      'the environment variable that holds the token of the code host (default: GITHUB_TOKEN or GITLAB_TOKEN)',
    );
}

/** The same options, and one for the pull request or merge request. */
export function addPlaceOptions(command: Command): Command {
  return addHostOptions(command).addOption(
    new Option(
      '--number <number>',
      'of the pull request or merge request (default: that of the CI job)',
    ).argParser(parseNumber),
  );
}

function parseNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('a number such as 12');
  return Number(text);
}

export function ackOption(help: string): Option {
  return new Option('--ack <guards>', help).argParser((ids: string, before: string | undefined) =>
    before === undefined ? ids : `${before},${ids}`,
  );
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('a number from 1 on');
  return count;
}

/** The option `--timeout`, for commands that use a service or a ledger. */
export function timeoutOption(
  help = 'how long the run may take, its ledger included (default: what the stack says, or 1h)',
): Option {
  return new Option('--timeout <duration>', help).argParser((text) => {
    const seconds = parseTimeout(text);
    if (seconds === 0) throw new InvalidArgumentError('a run needs some time, such as 30m');
    return seconds;
  });
}

/** The option `--trace`, for commands that send requests. It is read before the arguments are parsed. */
export function traceOption(): Option {
  return new Option('--trace', 'print each request and its answer to stderr, without secrets');
}

/** Parses a duration to seconds. As in a stack, a number needs a unit; only 0 may be without. */
export function parseTimeout(text: string): number {
  const isBare = text.trim() === '' || /^\s*0*[1-9]\d*\s*$/.test(text);
  const seconds = isBare ? undefined : parseDuration(text);
  if (seconds === undefined) throw new InvalidArgumentError('a time to wait is written like 30s, 5m or 1h');
  return seconds;
}

/** Parses the digest of a plan. @returns it in lower case */
export function parseDigest(text: string): string {
  if (!/^[0-9a-f]{32}$/i.test(text))
    throw new InvalidArgumentError('a digest is the 32 hexadecimal characters at the end of a plan');
  return text.toLowerCase();
}

/** Parses a moment, or how long ago something was, to milliseconds since 1970. */
export function timeParser({ now }: Pick<CliHost, 'now'>): (text: string) => number {
  return (text) => {
    const at = parseTimestamp(text);
    if (at !== undefined) return at;
    const ago = /^\d+$/.test(text.trim()) || text.trim() === '' ? undefined : parseDuration(text);
    if (ago === undefined)
      throw new InvalidArgumentError(
        'a time such as 2026-11-20T12:00:00Z, or how long ago, such as 2h or 7d',
      );
    return now() - ago * 1000;
  };
}

/** @param more formats besides text and JSON */
export function formatOption(...more: readonly Format[]): Option {
  return new Option('--format <format>', 'how the result is printed')
    .choices(['text', 'json', ...more])
    .default('text');
}

/** A value that a shell may complete. */
export interface Candidate {
  readonly value: string;
  readonly about?: string;
}

/** @param current the part of the value that has been typed */
type Offer = (current: string) => readonly Candidate[] | undefined;

const offers = new WeakMap<Argument, Offer>();

/** Gives an argument the values with which a shell completes it. */
export function withCandidates(argument: Argument, offer: Offer): Argument {
  offers.set(argument, offer);
  return argument;
}

export function candidatesOf(argument: Argument): Offer | undefined {
  return offers.get(argument);
}
