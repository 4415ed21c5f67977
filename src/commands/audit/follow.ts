/**
 * `trueup audit follow [path]`: prints each event once, as it happens, until a signal ends the run. `audit archive --follow` uses its
 * polling.
 */
import { systemClock } from '../../api/transport/clock.ts';
import { ArchiveError } from '../../audit-trail/archive.ts';
import { type TrailChannel, TrailError, type TrailEvent, trailOverlap } from '../../model/audit-trail.ts';
import { formatDuration } from '../../model/duration.ts';
import { WireError } from '../../model/http.ts';
import { type ConnectionLimits, connectToAudit } from '../../run/connect.ts';
import { openDeadline } from '../../run/stop-signals.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import type { CommandContext } from '../../run/terminal.ts';
import { type EventFilter, matches, oldestFirst } from './filter-events.ts';
import { renderEvent, renderEventLine } from './render.ts';
import { type AuditContext, Organizations, trailOf, withTrails } from './trails.ts';
import { resolve } from 'node:path';
import { readFullTrail, readTrailPage } from '../../audit-trail/read-trail.ts';
import { megabyte, readRegularText } from '../../files/read-file.ts';
import { replaceFile } from '../../files/write-file.ts';
import { messageOf } from '../../model/error-message.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';

export interface AuditFollowOptions extends Omit<EventFilter, 'until'>, PollOptions {
  readonly target?: string | undefined;
  /** a file that keeps how far the trails were followed, so that a later run continues there */
  readonly cursor?: string | undefined;
  /** whether each event is printed as one line of JSON */
  readonly lines: boolean;
  /** seconds that a poll may take */
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
  // Ends the progress display: the command runs until it is stopped, and prints its events instead.
  host.progress.end();
  const several = { targets: targets.length > 1 };
  return poll(context, options, async (limits) => {
    const { trails, close } = await connectToAudit(stack, targets, host, limits);
    try {
      const polls = trails.map(async ({ target, channel }) => {
        const trail = trailOf(target);
        const known = cursors.of(trail) ?? (await firstCursor(options.since, channel, host));
        const { events, cursor } = await followTrail(channel, known, host.now());
        await organizations.check(target, events, limits);
        return { trail, cursor, events: events.map((event) => ({ target: target.name, event })) };
      });
      const found = await Promise.all(polls);
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

async function firstCursor(
  since: number | undefined,
  channel: TrailChannel,
  { now }: Pick<CliHost, 'now'>,
): Promise<TrailCursor> {
  return since === undefined ? cursorFromNow(channel, now()) : cursorAfter(since);
}

// Polls until a signal comes or the time is over. Each poll has its own deadline. If a poll fails, the error is printed and the next poll
// follows. If the first poll fails, the command ends, because the setup may be wrong.

export interface PollOptions {
  /** seconds between two polls */
  readonly interval: number;
  /** seconds after which no further poll begins; absent for no limit */
  readonly duration?: number | undefined;
}

/** @returns exit code 0 also after a signal, because a signal is the usual end of such a command */
export async function poll(
  context: AuditContext,
  { interval, duration = Number.POSITIVE_INFINITY }: PollOptions,
  runPoll: Poll,
): Promise<ExitCode> {
  const { host, stops } = context;
  const pause = interval * 1000;
  const end = host.now() + duration * 1000;
  const { runEnded: stopped } = stops;
  await pollOnce(context, runPoll).catch(unlessStopped(stopped));
  while (!stopped.aborted && host.now() + pause <= end) {
    await systemClock.wait(pause, stopped).catch(unlessStopped(stopped));
    if (stopped.aborted) break;
    await pollOnce(context, runPoll).catch((error: unknown) => {
      if (stopped.aborted) return;
      if (!isTemporary(error)) throw error;
      host.stderr.write(`${error.message}; the next poll is in ${formatDuration(interval)}\n`);
    });
  }
  return exitCodes.done;
}

type Poll = (limits: ConnectionLimits) => Promise<void>;

async function pollOnce({ stack, host, stops }: AuditContext, runPoll: Poll): Promise<void> {
  const deadline = openDeadline(stack.timeout, host);
  const runEnded = AbortSignal.any([stops.runEnded, deadline.passed]);
  try {
    await runPoll({ ...stops, deadline, runEnded });
  } finally {
    deadline.clear();
  }
}

/** Ignores an error if the run was stopped. */
function unlessStopped(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error;
  };
}

function isTemporary(error: unknown): error is Error {
  return (
    error instanceof WireError ||
    error instanceof ArchiveError ||
    (error instanceof TrailError && error.temporary)
  );
}

// Follows a trail. Each poll reads from some time before the last event, because `since` excludes events of its own time, several events
// may have the same time, and some appear late. Known events are dropped by their ids.

/** How far a trail was followed. */
export interface TrailCursor {
  /** milliseconds since 1970: earlier events are not printed */
  readonly from: number;
  /** milliseconds since 1970: time of the newest event, but not after the poll: an event with a wrong time would hide all later ones */
  readonly at: number;
  /** ids of events that were read and that the next poll will read again */
  readonly ids: readonly string[];
}

/** The result of one poll. */
interface Followed {
  /** the new events, oldest first */
  readonly events: readonly TrailEvent[];
  /** for the next poll */
  readonly cursor: TrailCursor;
}

/**
 * A cursor that begins now, by the clock of the service, because the clock of this machine may differ.
 * @param now the time of this machine, in milliseconds since 1970
 * @throws WireError, TrailError
 */
export async function cursorFromNow(channel: TrailChannel, now: number): Promise<TrailCursor> {
  await readTrailPage(channel, { since: now, page: 1, pageSize: 1 });
  return cursorAfter(now + (channel.clockAhead() ?? 0));
}

/** A cursor for events after `since`: times are in milliseconds, so the first new event is at least one millisecond later. */
function cursorAfter(since: number): TrailCursor {
  const from = since + 1;
  return { from, at: from, ids: [] };
}

/**
 * @param now the time of this machine, in milliseconds since 1970
 * @throws WireError, TrailError; then the next poll uses the same cursor
 */
export async function followTrail(
  channel: TrailChannel,
  cursor: TrailCursor,
  now: number,
): Promise<Followed> {
  const known = new Set(cursor.ids);
  const since = windowStart(cursor);
  const read = await readFullTrail(channel, { since: since - 1 });
  const found = read.filter((event) => event.at >= since).sort(oldestFirst);
  const at = Math.max(cursor.at, Math.min(found.at(-1)?.at ?? 0, now + (channel.clockAhead() ?? 0)));
  const next = windowStart({ from: cursor.from, at });
  const ids = found.flatMap((event) => (event.at >= next ? [event.id] : []));
  // While the cursor does not move, known ids are kept, also of events that the service did not return this time.
  return {
    events: found.filter(({ id }) => !known.has(id)),
    cursor: { from: cursor.from, at, ids: at === cursor.at ? [...new Set([...known, ...ids])] : ids },
  };
}

/** The earliest time of events that a poll reads, in milliseconds since 1970. */
function windowStart({ from, at }: Pick<TrailCursor, 'from' | 'at'>): number {
  return Math.max(from, at - trailOverlap);
}

// Keeps in a file how far trails were followed, for the next run. The file is replaced after the events were printed: if a run is killed in
// between, the next run prints the events of the last poll again, and loses none.

/** The cursors of all trails of one run. */
interface Cursors {
  of(trail: string): TrailCursor | undefined;
  keep(cursors: ReadonlyMap<string, TrailCursor>): Promise<void>;
}

/** In bytes; the file has the ids of the events of one minute. */
const maxFileSize = 16 * megabyte;

/** @param file absent to keep cursors only in memory. @throws CommandStop if the file cannot be read, or is no cursor file */
async function openCursors(file: string | undefined, cwd: string): Promise<Cursors> {
  const path = file === undefined ? undefined : resolve(cwd, file);
  const known = path === undefined ? new Map<string, TrailCursor>() : await readCursors(path);
  return {
    of: (trail) => known.get(trail),
    async keep(cursors) {
      const moved = [...cursors].filter(([trail, cursor]) => !isSame(known.get(trail), cursor));
      for (const [trail, cursor] of moved) known.set(trail, cursor);
      if (path === undefined || moved.length === 0) return;
      const text = JSON.stringify({ version: 1, trails: Object.fromEntries(known) }, null, 2);
      await replaceFile(path, `${text}\n`);
    },
  };
}

function isSame(one: TrailCursor | undefined, other: TrailCursor): boolean {
  return one?.at === other.at && one.ids.length === other.ids.length;
}

async function readCursors(path: string): Promise<Map<string, TrailCursor>> {
  const refused = (why: string) => new CommandStop('cursor-file', `the cursor file ${quoted(path)} ${why}`);
  const text = await readRegularText(path, maxFileSize).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw refused(`cannot be read: ${messageOf(error)}`);
  });
  if (text === '') return new Map();
  const trails = memberOf(parsed(text), 'trails');
  if (!isJsonObject(trails)) throw refused('has no cursors: name another file, or remove it to start over');
  return new Map(
    Object.entries(trails).map(([trail, cursor]) => {
      const [from, at, ids] = ['from', 'at', 'ids'].map((name) => memberOf(cursor, name));
      if (!isTime(from) || !isTime(at) || !Array.isArray(ids))
        throw refused('is damaged: remove it to start over');
      return [trail, { from, at, ids: ids.map(String) }];
    }),
  );
}

function isTime(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
