/** `trueup audit list [path]`: who did what, newest first, as the services tell it or as an archive has it. */
import type { Archive } from '../../audit/archive/archive.ts';
import { type EventFilter, oldestFirst } from '../../audit/trail/filter-events.ts';
import { NewestEvents } from '../../audit/trail/newest-events.ts';
import { readTrail } from '../../audit/trail/read-trail.ts';
import { TrailError } from '../../model/audit-trail.ts';
import type { Target } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import { renderEventLine, renderEventsJson, type TargetGap } from '../../report/audit/events-json.ts';
import { renderEvents, type TargetEvent } from '../../report/audit/events-text.ts';
import type { CommandContext } from '../command-context.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { connectToAudit } from '../run/connect-audit.ts';
import { beginRun, type RunTime } from '../run/run-time.ts';
import { raceStop } from '../stop/race-stop.ts';
import { printError, printJson, printWarnings } from '../terminal/terminal.ts';
import { trailOf } from './choose-trails.ts';
import { gapWarning } from './gap-warning.ts';
import { namedArchive, openArchive } from './open-archive.ts';
import { Organizations } from './organization-of.ts';
import { type AuditContext, withTrails } from './with-trails.ts';

export interface AuditListOptions extends EventFilter {
  readonly target?: string | undefined;
  readonly limit: number;
  /** an archive instead of the services, in the words of `--to` */
  readonly from?: string | undefined;
  /** the archive that the stack names, instead of the services */
  readonly archived?: boolean | undefined;
  /** JSON with a line for each event */
  readonly lines: boolean;
  /** seconds */
  readonly timeout?: number | undefined;
}

export async function auditList(
  path: string | undefined,
  options: AuditListOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const live = !options.archived && options.from === undefined;
  return withTrails(path, { ...options, live }, context, (opened) => list(options, opened));
}

async function list(options: AuditListOptions, context: AuditContext): Promise<ExitCode> {
  const { stack, terminal, stops, host, began } = context;
  const place = options.archived ? stack.audit?.archive : namedArchive(options.from, stack, host);
  if (options.archived && place === undefined) {
    printError(
      terminal,
      'no-archive',
      `stack ${quoted(stack.name)} names no archive in "spec.audit.archive"`,
    );
    return exitCodes.error;
  }
  const time = beginRun({ stack, began }, stops, host);
  try {
    const reading = { ...context, options, time };
    const found = await raceStop(
      place === undefined
        ? listLive(reading)
        : listArchived(reading, await openArchive(place, { directory: stack.directory, host, run: time })),
      stops.stop,
    );
    return found === 'stopped' ? exitCodes.interrupted : print(found, reading);
  } finally {
    time.deadline.clear();
  }
}

interface Reading extends AuditContext {
  readonly options: AuditListOptions;
  readonly time: RunTime;
}

interface Listed {
  /** one more than the limit, if there are so many */
  readonly events: readonly TargetEvent[];
  readonly gaps: readonly TargetGap[];
}

async function listLive({ stack, host, options, targets, time }: Reading): Promise<Listed> {
  const limits = { ...time, signal: time.over };
  const organizations = new Organizations({ stack, host });
  const { trails, close } = await connectToAudit(stack, targets, host, limits);
  try {
    const read = trails.map(async ({ target, channel }) => {
      const newest = new NewestEvents(options, options.limit + 1);
      const reading = readTrail(channel, { since: options.since });
      for (;;) {
        const { done, value } = await reading.next();
        if (!done) {
          await organizations.check(target, value, limits);
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
