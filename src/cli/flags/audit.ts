/** The arguments and flags of `trueup audit`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { auditArchive, type AuditArchiveOptions } from '../audit/archive.ts';
import { auditFollow, type AuditFollowOptions } from '../audit/follow.ts';
import { auditList, type AuditListOptions } from '../audit/list.ts';
import type { CliHost } from '../cli-host.ts';
import {
  type CommonOptions,
  command,
  type CommandEnd,
  formatOption,
  parseTimeout,
  stackHelp,
  timeParser,
  timeoutOption,
} from '../command-options.ts';

/** The options of a command whose `--format` has JSON lines, too. */
type WithLines<O> = Omit<O, 'lines'> & {
  readonly format: 'text' | 'json' | 'jsonl';
  readonly color?: CommonOptions['color'];
};

export function defineCommand(audit: Command, host: CliHost, ends: CommandEnd): void {
  addList(audit, host, ends);
  addFollow(audit, host, ends);
  addArchive(audit, host, ends);
}

function addList(audit: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const list = command(audit, 'list', 'Lists who did what, newest first');
  filterOptions(list, host)
    .option('--until <time>', 'only events up to then, written like --since', timeParser(host))
    .option('--limit <number>', 'how many', parseCount, 50)
    .option('--from <archive>', 'ask an archive and no service: its file, or postgres')
    .addOption(
      new Option('--archived', 'ask the archive that the stack names, and no service').conflicts('from'),
    )
    .addOption(linesOption(['text', 'json', 'jsonl']))
    .addOption(timeoutOption())
    .addHelpText('after', `\n${listExamples}`)
    .action(async (path: string | undefined, options: WithLines<AuditListOptions>) => {
      const asked = { ...options, lines: options.format === 'jsonl' };
      end(await auditList(path, asked, { host, terminal: terminalOf(withoutLines(options)) }));
    });
}

function addFollow(audit: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const follow = command(
    audit,
    'follow',
    'Prints each event as it happens, oldest first, until it is told to stop',
  );
  filterOptions(follow, host)
    .option('--cursor <file>', 'keep in this file how far it came, and go on there the next time')
    .addOption(intervalOption())
    .addOption(durationOption())
    .addOption(linesOption(['text', 'jsonl']))
    .addOption(timeoutOption())
    .addHelpText('after', `\n${followExamples}`)
    .action(async (path: string | undefined, options: WithLines<AuditFollowOptions> & DurationOption) => {
      const asked = { ...options, duration: options.for, lines: options.format === 'jsonl' };
      end(await auditFollow(path, asked, { host, terminal: terminalOf(withoutLines(options)) }));
    });
}

function addArchive(audit: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  command(audit, 'archive', 'Keeps the audit trail for longer than the service does, which is 14 days')
    .argument('[path]', stackHelp)
    .option(
      '--to <archive>',
      'a SQLite file, or postgres for the database whose address is in TRUEUP_AUDIT_URL (default: what the stack says)',
    )
    .option('--target <name>', 'only the organization of this target')
    .option('--follow', 'go on with it until it is told to stop')
    .addOption(intervalOption())
    .addOption(durationOption())
    .addOption(formatOption().conflicts('follow'))
    .addOption(timeoutOption())
    .addHelpText('after', `\n${archiveExamples}`)
    .action(
      async (path: string | undefined, options: CommonOptions & AuditArchiveOptions & DurationOption) => {
        const asked = { ...options, duration: options.for };
        end(await auditArchive(path, asked, { host, terminal: terminalOf(options) }));
      },
    );
}

function filterOptions(command: Command, host: CliHost): Command {
  return command
    .argument('[path]', stackHelp)
    .option('--target <name>', 'only the organization of this target')
    .option('--actor <who>', 'only what this one did: a name or an id')
    .option('--resource <what>', 'only what was done to this: the id or the type of a resource')
    .option('--action <action>', 'only this, such as update or "workspace update"')
    .option(
      '--since <time>',
      'only events after then: a time such as 2026-11-20T12:00:00Z, or how long ago, such as 2h or 7d',
      timeParser(host),
    );
}

interface DurationOption {
  /** seconds */
  readonly for?: number;
}

function intervalOption(): Option {
  return new Option('--interval <duration>', 'how long to wait between two looks')
    .argParser((text) => {
      const seconds = parseTimeout(text);
      if (seconds === 0) throw new InvalidArgumentError('a service is asked once a second at most');
      return seconds;
    })
    .default(15, '15s');
}

function durationOption(): Option {
  return new Option(
    '--for <duration>',
    'begin no further look after this time; 0s looks once (default: without end)',
  ).argParser(parseTimeout);
}

function linesOption(choices: readonly string[]): Option {
  return new Option('--format <format>', 'how the events are printed; jsonl is one JSON value a line')
    .choices(choices)
    .default('text');
}

/** What is said besides the lines is text. */
function withoutLines({ format, color }: WithLines<object>): CommonOptions {
  return { format: format === 'json' ? 'json' : 'text', ...(color === undefined ? {} : { color }) };
}

function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('a number from 1 on');
  return count;
}

const listExamples = `Examples:
  trueup audit list --since 2h    what happened in the last two hours
  trueup audit list --actor ann --action update
                                  what ann has updated
  trueup audit list --archived --since 90d --format jsonl | jq .event.resource
                                  from the archive that the stack names`;

const followExamples = `Examples:
  trueup audit follow             what happens from now on
  trueup audit follow --cursor audit.cursor --format jsonl | ship-logs
                                  each event once, also when it is begun again`;

const archiveExamples = `Examples:
  trueup audit archive --to audit.db
                                  in a nightly job: what is new
  trueup audit archive --to postgres --follow
                                  all the time; any number of them may run at once`;
