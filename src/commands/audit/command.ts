/**
 * `trueup audit`: arguments and flags of its commands, and `trueup audit list [path]`, which prints who did what, newest first,
 * from the services or from an archive.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Archive } from '../../audit-trail/archive.ts';
import { readTrail } from '../../audit-trail/read-trail.ts';
import { TrailError } from '../../model/audit-trail.ts';
import { quoted } from '../../model/quoted.ts';
import type { Target } from '../../model/stack.ts';
import {
  addExamples,
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  parseCount,
  parseTimeout,
  stackHelp,
  timeoutOption,
  traceOption,
  timeParser,
} from '../../run/command-options.ts';
import { connectToAudit } from '../../run/connect.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { namedArchive, openArchive } from '../../run/trail-events.ts';
import { beginRun, raceStop, type RunTime } from '../../run/stop-signals.ts';
import { type CommandContext, printJson, printWarnings } from '../../run/terminal.ts';
import { auditArchive, type AuditArchiveOptions } from './archive.ts';
import { type EventFilter, NewestEvents, oldestFirst } from './filter-events.ts';
import { auditFollow, type AuditFollowOptions } from './follow.ts';
import {
  gapWarning,
  renderEventLine,
  renderEvents,
  renderEventsJson,
  type TargetEvent,
  type TargetGap,
} from './render.ts';
import { type AuditContext, Organizations, trailOf, withTrails } from './trails.ts';

/** The options of a command whose `--format` can also be JSON lines. */
type WithLines<O> = Omit<O, 'lines'> & {
  readonly format: 'text' | 'json' | 'jsonl';
  readonly color?: CommonOptions['color'];
};

export function defineCommand(audit: Command, host: CliHost, ends: CommandEnd): void {
  addList(audit, host, ends);
  addFollow(audit, host, ends);
  addArchive(audit, host, ends);
  addExamples(
    audit,
    ['trueup audit list --since 2h', 'what happened in the last two hours'],
    ['trueup audit follow', 'print each event as it happens'],
    ['trueup audit archive --to audit.db', 'keep the trail for longer than the service does'],
  );
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
    .addOption(traceOption())
    .action(async (path: string | undefined, options: WithLines<AuditListOptions>) => {
      const asked = { ...options, lines: options.format === 'jsonl' };
      end(await auditList(path, asked, { host, terminal: terminalOf(withoutLines(options)) }));
    });
  addExamples(
    list,
    ['trueup audit list --since 2h', 'what happened in the last two hours'],
    ['trueup audit list --actor ann --action update', 'what ann has updated'],
    ['trueup audit list --archived --since 90d', 'from the archive that the stack names'],
  );
}

function addFollow(audit: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const follow = command(
    audit,
    'follow',
    'Prints each event as it happens, oldest first, until it is stopped',
  );
  filterOptions(follow, host)
    .option('--cursor <file>', 'keep in this file how far it came, and continue there the next time')
    .addOption(intervalOption())
    .addOption(durationOption())
    .addOption(linesOption(['text', 'jsonl']))
    .addOption(timeoutOption())
    .addOption(traceOption())
    .action(async (path: string | undefined, options: WithLines<AuditFollowOptions> & DurationOption) => {
      const asked = { ...options, duration: options.for, lines: options.format === 'jsonl' };
      end(await auditFollow(path, asked, { host, terminal: terminalOf(withoutLines(options)) }));
    });
  addExamples(
    follow,
    ['trueup audit follow', 'print each event as it happens'],
    [
      'trueup audit follow --cursor audit.cursor --format jsonl',
      'after a restart, go on after the last event',
    ],
  );
}

function addArchive(audit: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const archive = command(
    audit,
    'archive',
    'Keeps the audit trail for longer than the service does, which is 14 days',
  );
  archive
    .argument('[path]', stackHelp)
    .option(
      '--to <archive>',
      'a SQLite file, or postgres for the database whose address is in TRUEUP_AUDIT_URL (default: what the stack says)',
    )
    .option('--target <name>', 'only the organization of this target')
    .option('--follow', 'continue until it is stopped')
    .addOption(intervalOption())
    .addOption(durationOption())
    .addOption(formatOption().conflicts('follow'))
    .addOption(timeoutOption())
    .addOption(traceOption())
    .action(
      async (path: string | undefined, options: CommonOptions & AuditArchiveOptions & DurationOption) => {
        const asked = { ...options, duration: options.for };
        end(await auditArchive(path, asked, { host, terminal: terminalOf(options) }));
      },
    );
  addExamples(
    archive,
    ['trueup audit archive --to audit.db', 'in a nightly job: add what is new'],
    ['trueup audit archive --to postgres --follow', 'run all the time; several may run at once'],
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
  return new Option('--interval <duration>', 'how long to wait between two polls')
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
    'begin no further poll after this time; 0s polls once (default: without end)',
  ).argParser(parseTimeout);
}

function linesOption(choices: readonly string[]): Option {
  return new Option('--format <format>', 'how the events are printed; jsonl is one JSON value a line')
    .choices(choices)
    .default('text');
}

/** The options for the terminal: with JSON lines, all output except the events is text. */
function withoutLines({ format, color }: WithLines<object>): CommonOptions {
  return { format: format === 'json' ? 'json' : 'text', ...(color === undefined ? {} : { color }) };
}

interface AuditListOptions extends EventFilter {
  readonly target?: string | undefined;
  readonly limit: number;
  /** an archive to read instead of the services, written like `--to` */
  readonly from?: string | undefined;
  /** whether to read the archive that the stack names, instead of the services */
  readonly archived?: boolean | undefined;
  /** whether each event is printed as one line of JSON */
  readonly lines: boolean;
  /** seconds */
  readonly timeout?: number | undefined;
}

async function auditList(
  path: string | undefined,
  options: AuditListOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const live = !options.archived && options.from === undefined;
  return withTrails(path, { ...options, live }, context, (opened) => list(options, opened));
}

async function list(options: AuditListOptions, context: AuditContext): Promise<ExitCode> {
  const { stack, stops, host, began } = context;
  const place = options.archived ? stack.audit?.archive : namedArchive(options.from, stack, host);
  if (options.archived && place === undefined)
    throw new CommandStop(
      'no-archive',
      `stack ${quoted(stack.name)} names no archive in "spec.audit.archive"`,
    );
  const time = beginRun({ stack, began }, stops, host);
  try {
    const reading = { ...context, options, time };
    const found = await raceStop(
      place === undefined
        ? listLive(reading)
        : listArchived(reading, await openArchive(place, { directory: stack.directory, host, run: time })),
      stops.stopStarting,
    );
    return print(found, reading);
  } finally {
    time.deadline.clear();
  }
}

interface Reading extends AuditContext {
  readonly options: AuditListOptions;
  readonly time: RunTime;
}

interface Listed {
  /** of each target at most one more than the limit, to know whether there are older ones */
  readonly events: readonly TargetEvent[];
  readonly gaps: readonly TargetGap[];
}

async function listLive({ stack, host, options, targets, time }: Reading): Promise<Listed> {
  const organizations = new Organizations({ stack, host });
  const { trails, close } = await connectToAudit(stack, targets, host, time);
  try {
    const read = trails.map(async ({ target, channel }) => {
      const newest = new NewestEvents(options, options.limit + 1);
      const reading = readTrail(channel, { since: options.since });
      for (;;) {
        const { done, value } = await reading.next();
        if (!done) {
          await organizations.check(target, value, time);
          newest.add(value);
        } else if (value.sawAll) return ofTarget(target, newest);
        else
          throw new TrailError(
            `target ${quoted(target.name)}: the audit trail kept changing while it was read`,
          );
      }
    });
    return { events: (await Promise.all(read)).flat(), gaps: [] };
  } finally {
    await close();
  }
}

async function listArchived({ options, targets }: Reading, archive: Archive): Promise<Listed> {
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, limit } = options;
  try {
    await archive.trails();
    const events: TargetEvent[] = [];
    const gaps: TargetGap[] = [];
    for (const target of targets) {
      const newest = new NewestEvents(options, limit + 1);
      for await (const some of archive.newestFirst(trailOf(target), options)) {
        newest.add(some);
        if (newest.size > limit) break;
      }
      events.push(...ofTarget(target, newest));
      const missing = await archive.gaps(trailOf(target));
      gaps.push(
        ...missing
          .filter(({ from, to }) => to > since && from <= until)
          .map((gap) => ({ ...gap, target: target.name })),
      );
    }
    return { events, gaps };
  } finally {
    await archive.close();
  }
}

function ofTarget({ name }: Target, newest: NewestEvents): TargetEvent[] {
  return newest.newestFirst().map((event) => ({ target: name, event }));
}

function print({ events: found, gaps }: Listed, { options, stack, terminal, targets }: Reading): ExitCode {
  const { host, paint } = terminal;
  const sorted = found.toSorted((one, other) => oldestFirst(other.event, one.event));
  const events = sorted.slice(0, options.limit);
  const more = sorted.length > events.length;
  printWarnings(terminal, gaps.map(gapWarning));
  if (options.lines) for (const event of events) host.stdout.write(`${renderEventLine(event)}\n`);
  else if (terminal.format === 'json')
    printJson(terminal, (reported) => renderEventsJson({ stack: stack.name, events, more, gaps }, reported));
  else {
    host.stdout.write(`${renderEvents(events, { paint, targets: targets.length > 1 })}\n`);
    if (more) host.stdout.write(`${paint.dim('There are older ones: --limit shows more of them')}\n`);
  }
  return exitCodes.done;
}
