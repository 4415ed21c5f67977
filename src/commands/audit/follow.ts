/**
 * `trueup audit follow [path]`: prints each event once, as it happens, until a signal ends it. Also polls for `audit archive
 * --follow`.
 */
import { systemClock } from '../../api/transport/clock.ts';
import { ArchiveError } from '../../audit-trail/archive.ts';
import { type TrailChannel, TrailError } from '../../model/audit-trail.ts';
import { formatDuration } from '../../model/duration.ts';
import { WireError } from '../../model/http.ts';
import { type ConnectionLimits, connectToAudit } from '../../run/connect.ts';
import { openDeadline } from '../../run/deadline.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import type { CommandContext } from '../../run/terminal.ts';
import { type EventFilter, matches, oldestFirst } from './filter-events.ts';
import { cursorAfter, cursorFromNow, followTrail, openCursors, type TrailCursor } from './follow-trail.ts';
import { renderEvent, renderEventLine } from './render.ts';
import { type AuditContext, Organizations, trailOf, withTrails } from './trails.ts';

export interface AuditFollowOptions extends Omit<EventFilter, 'until'>, PollOptions {
  readonly target?: string | undefined;
  /** a file that keeps how far the trails were followed, so that a later run goes on there */
  readonly cursor?: string | undefined;
  /** JSON with a line for each event */
  readonly lines: boolean;
  /** seconds that a look may take */
  readonly timeout?: number | undefined;
}

export async function auditFollow(
  path: string | undefined,
  options: AuditFollowOptions,
  context: CommandContext,
): Promise<ExitCode> {
  return withTrails(path, { ...options, live: true }, context, (opened) => follow(options, opened));
}

async function follow(options: AuditFollowOptions, context: AuditContext): Promise<ExitCode> {
  const { stack, host, targets } = context;
  const cursors = await openCursors(options.cursor, host.cwd);
  const { actor, resource, action } = options;
  const organizations = new Organizations(context);
  const several = { targets: targets.length > 1 };
  return poll(context, options, async (limits) => {
    const { trails, close } = await connectToAudit(stack, targets, host, limits);
    try {
      const looks = trails.map(async ({ target, channel }) => {
        const trail = trailOf(target);
        const known = cursors.of(trail) ?? (await beginAt(options.since, channel, host));
        const { events, cursor } = await followTrail(channel, known, host.now());
        await organizations.check(target, events, limits);
        return { trail, cursor, events: events.map((event) => ({ target: target.name, event })) };
      });
      const found = await Promise.all(looks);
      const events = found.flatMap((each) => each.events);
      for (const each of events.sort((one, other) => oldestFirst(one.event, other.event))) {
        if (!matches(each.event, { actor, resource, action })) continue;
        host.stdout.write(`${options.lines ? renderEventLine(each) : renderEvent(each, several)}\n`);
      }
      await cursors.keep(new Map(found.map(({ trail, cursor }) => [trail, cursor])));
    } finally {
      await close();
    }
  });
}

async function beginAt(
  since: number | undefined,
  channel: TrailChannel,
  { now }: Pick<CliHost, 'now'>,
): Promise<TrailCursor> {
  return since === undefined ? cursorFromNow(channel, now()) : cursorAfter(since);
}

// Looks again and again, until a signal comes or the time is over. Each look is a run with a deadline of its own. What fails once may
// go well the next time, and is told; but a first look that fails ends the command, for then something is set up wrongly.

export interface PollOptions {
  /** seconds between two looks */
  readonly interval: number;
  /** seconds after which no further look begins; without end when absent */
  readonly duration?: number | undefined;
}

/** @returns the exit code: to be stopped is how such a command ends */
export async function poll(
  context: AuditContext,
  { interval, duration = Number.POSITIVE_INFINITY }: PollOptions,
  look: Poll,
): Promise<ExitCode> {
  const { host, stops } = context;
  const pause = interval * 1000;
  const end = host.now() + duration * 1000;
  const { over: until } = stops;
  await pollOnce(context, look).catch(unlessStopped(until));
  while (!until.aborted && host.now() + pause <= end) {
    await systemClock.wait(pause, until).catch(unlessStopped(until));
    if (until.aborted) break;
    await pollOnce(context, look).catch((error: unknown) => {
      if (until.aborted) return;
      if (!isTemporary(error)) throw error;
      host.stderr.write(`${error.message}; the next look is in ${formatDuration(interval)}\n`);
    });
  }
  return exitCodes.done;
}

type Poll = (limits: ConnectionLimits) => Promise<void>;

async function pollOnce({ stack, host, stops }: AuditContext, look: Poll): Promise<void> {
  const deadline = openDeadline(stack.timeout, host);
  const signal = AbortSignal.any([stops.over, deadline.over]);
  try {
    await look({ deadline, signal, leave: stops.leave });
  } finally {
    deadline.clear();
  }
}

/** What fails because somebody has stopped it has not failed. */
function unlessStopped(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

function isTemporary(error: unknown): error is Error {
  return (
    error instanceof WireError ||
    error instanceof ArchiveError ||
    (error instanceof TrailError && error.passing)
  );
}
