/**
 * Reads the events of an organization: from the stack's archive if it has one, and later events from the trail itself. Reports from
 * when on the events are known, and why no earlier ones are.
 */
import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { type Archive, type ArchivedEvents, ArchiveError, eventsSince } from '../audit-trail/archive.ts';
import { postgresArchive } from '../audit-trail/postgres-archive.ts';
import { readTrail } from '../audit-trail/read-trail.ts';
import { sqliteArchive } from '../audit-trail/sqlite-archive.ts';
import { findRepository, liesIn } from '../manifest/files/find-stack.ts';
import { type TrailChannel, TrailError, type TrailEvent, trailRetention } from '../model/audit-trail.ts';
import { formatDuration } from '../model/duration.ts';
import { counted, quoted } from '../model/quoted.ts';
import {
  type ArchivePlace,
  archiveUrl,
  formatIdentity,
  identityOf,
  type Stack,
  type Target,
} from '../model/stack.ts';
import { clockSkew, type TrailReading } from '../plan/attribute-drift.ts';
import { CommandStop } from './command-stop.ts';
import { auditedTargets, type Connected, connectToAudit } from './connect.ts';
import { exitCodes } from './exit-codes.ts';
import type { CliHost } from './host.ts';
import { readDatabaseAddress } from './read-secret.ts';
import type { RunTime } from './stop-signals.ts';

/** How many pages are read: a longer trail needs an archive. */
const mostPages = 20;

/** How long a report waits for a trail and its archive, in milliseconds, and never longer than half of what the run has left. */
const maxWait = 15_000;

/** A report is useful without a trail, so there is one retry only. */
const retryPolicy = { attempts: 2, attemptsUnanswered: 2, throttled: 2 };

export type TrailBound = Pick<TrailReading, 'from' | 'why'>;

export interface EventsContext {
  readonly stack: Stack;
  readonly host: CliHost;
  readonly time: RunTime;
  readonly connected: Connected;
  /** milliseconds by which the clock of the service is ahead of ours; undefined where it is not known */
  readonly clockAhead?: number | undefined;
}

/** Ends the reading before the run ends. */
interface ReadingLimit {
  readonly signal: AbortSignal;
  /** milliseconds since 1970 */
  readonly until: number;
  /** how long the reading may take, in words */
  readonly spanText: string;
}

interface ReadingContext extends EventsContext {
  readonly readingLimit: ReadingLimit;
}

/** What was read, and how, for the coverage. */
interface EventsReading extends TrailReading {
  readonly how: string;
}

/** @returns undefined when there is neither an archive nor a token. @throws TrailError, WireError, CommandStop */
export async function readEvents(
  target: Target,
  wanted: TrailBound,
  context: EventsContext,
): Promise<EventsReading | undefined> {
  const { host, time } = context;
  const now = host.now();
  const span = Math.max(1, Math.min(maxWait, (time.deadline.until - now) / 2));
  const ending = new AbortController();
  const spanText = formatDuration(Math.max(1, Math.round(span / 1000)));
  const why = new TrailError(
    `the audit trail of target ${quoted(target.name)} was not answered within ${spanText}`,
  );
  const timer = setTimeout(() => ending.abort(why), span);
  const readingLimit = { signal: ending.signal, until: now + span, spanText };
  try {
    return await readAll(target, wanted, { ...context, readingLimit });
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(
  target: Target,
  wanted: TrailBound,
  context: ReadingContext,
): Promise<EventsReading | undefined> {
  const { found, failed } = await readArchive(target, wanted, context);
  const hasToken = auditedTargets({ targets: [target] }).includes(target);
  const live = async (from: number) =>
    hasToken ? readLive(target, withinRetention({ ...wanted, from }, context), context) : undefined;
  if (found !== undefined) {
    // The clock of the machine that wrote the archive may have been ahead of the service's clock, which dates the events.
    const knownUntil = Math.min(found.until, found.newest?.at ?? found.until);
    const later = await live(Math.max(knownUntil - clockSkew, wanted.from));
    return joined(wanted, found, later);
  }
  const all = await live(wanted.from);
  if (failed === undefined) return all;
  if (all === undefined) throw new TrailError(failed);
  return { ...all, how: `${all.how}; ${failed}` };
}

/** The events of the archive, and later ones of the trail. */
function joined(wanted: TrailBound, archived: KnownArchive, later: EventsReading | undefined): EventsReading {
  const known = new Set(archived.events.map(({ id }) => id));
  const isWhole = archived.isComplete && (later === undefined || later.from <= archived.until);
  const cut = !isWhole
    ? lacking
    : later === undefined
      ? archiveEnd(archived.until)
      : (later.cut ?? (hasForgotten(later, archived) ? forgotten : undefined));
  const how = 'archive of the audit trail';
  return {
    ...wanted,
    events: [...archived.events, ...(later?.events ?? []).filter(({ id }) => !known.has(id))],
    ...(cut === undefined ? {} : { cut }),
    how: later === undefined ? how : `${how}, then ${later.how}`,
  };
}

/** Whether the trail lacks an event that it had before: then it may also lack events that were never archived. */
function hasForgotten({ events, from }: EventsReading, { newest }: KnownArchive): boolean {
  return newest !== undefined && newest.at >= from && !events.some(({ id }) => id === newest.id);
}

const forgotten =
  'the audit trail no longer has the last event of its archive, so that others since then may be gone from it, too';

const lacking = 'the archive of the audit trail lacks events of that time';

function archiveEnd(until: number): string {
  return `the archive of the audit trail was read last at ${new Date(until).toISOString()}, and there is no "auditToken" for what came later`;
}

/** The events of an archive that has been written to. */
type KnownArchive = ArchivedEvents & { readonly until: number };

interface ReadArchive {
  /** absent when the stack has no archive, or none of this trail */
  readonly found?: KnownArchive;
  /** why the archive could not be read */
  readonly failed?: string;
}

async function readArchive(
  target: Target,
  { from }: TrailBound,
  { stack, host, time, readingLimit: { signal } }: ReadingContext,
): Promise<ReadArchive> {
  const place = stack.audit?.archive;
  if (place === undefined) return {};
  try {
    const run = {
      runEnded: AbortSignal.any([time.runEnded, signal]),
      abandonWaits: AbortSignal.any([time.abandonWaits, signal]),
    };
    const archive = await openArchive(place, { directory: stack.directory, host, run });
    try {
      const { until, ...found } = await eventsSince(archive, formatIdentity(identityOf(target)), from - 1);
      return until === undefined ? {} : { found: { ...found, until } };
    } finally {
      await archive.close();
    }
  } catch (error) {
    if (!isOfArchive(error)) throw error;
    return { failed: `the archive of the audit trail was not read: ${error.message}` };
  }
}

function isOfArchive(error: unknown): error is Error {
  return [ArchiveError, CommandStop, TrailError].some((type) => error instanceof type);
}

function withinRetention(wanted: TrailBound, { host, clockAhead = 0 }: EventsContext): TrailBound {
  const from = host.now() + clockAhead - trailRetention + clockSkew;
  if (wanted.from >= from) return wanted;
  return { from, why: `the service keeps its trail for ${trailRetention / 86_400_000} days` };
}

async function readLive(
  target: Target,
  bound: TrailBound,
  { stack, host, time, connected: { embedded }, readingLimit }: ReadingContext,
): Promise<EventsReading> {
  const runEnded = AbortSignal.any([time.runEnded, readingLimit.signal]);
  const limits = { ...time, deadline: readingLimit, runEnded, embedded, retryPolicy };
  const { trails, close } = await connectToAudit(stack, [target], host, limits);
  try {
    const [channel] = trails.map((trail) => trail.channel);
    if (channel === undefined) throw new Error(`no way to the audit trail of target ${target.name}`);
    const read = await readPages(channel, bound.from, readingLimit);
    const how = `audit trail since ${new Date(bound.from).toISOString()}: ${counted(channel.requests(), 'request')}`;
    return { ...bound, ...read, how };
  } finally {
    await close();
  }
}

/** @param from also events of exactly this time; the service leaves out those of the time that it is given (wire/audit-trails 1.1) */
async function readPages(
  channel: TrailChannel,
  from: number,
  { signal, spanText }: ReadingLimit,
): Promise<Pick<TrailReading, 'events' | 'cut'>> {
  const events: TrailEvent[] = [];
  const pages = readTrail(channel, { since: from - 1, maxPages: mostPages });
  for (;;) {
    const next = await pages.next().catch((error: unknown) => {
      if (events.length === 0 || !signal.aborted) throw error;
    });
    if (next === undefined)
      return { events, cut: `the audit trail was not read to its end within ${spanText}` };
    const { done, value } = next;
    if (!done) events.push(...value);
    else if (value.sawAll) return { events };
    else {
      const cut = `the audit trail was read no further than ${counted(value.pages, 'page')}: use an archive of it ("trueup audit archive")`;
      return { events, cut };
    }
  }
}

// Opens the archive of audit trails that is named on the command line, or by the stack. Nothing is read or written yet.

/**
 * The archive that `--to` names: a file relative to the current directory, or `postgres`, whose address comes from the stack, or else
 * from TRUEUP_AUDIT_URL.
 */
export function namedArchive(
  name: string | undefined,
  stack: Pick<Stack, 'audit'>,
  { cwd }: Pick<CliHost, 'cwd'>,
): ArchivePlace | undefined {
  if (name === undefined) return undefined;
  if (name !== 'postgres') return { in: 'file', file: resolve(cwd, name) };
  const own = stack.audit?.archive;
  return own?.in === 'postgres' ? own : { in: 'postgres', url: archiveUrl };
}

/** How long a database may take to answer: a read ends with the run, a write when the user no longer waits. */
interface RunEnd {
  readonly runEnded: AbortSignal;
  readonly abandonWaits: AbortSignal;
}

/**
 * Opens an archive, which the caller closes.
 * @param directory what a file of the stack is relative to. @param run how the run ends
 * @throws CommandStop when the address of the database cannot be read, or the place is not valid
 */
export async function openArchive(
  place: ArchivePlace,
  {
    directory,
    host,
    run,
  }: {
    readonly directory: string;
    readonly host: Pick<CliHost, 'env' | 'secrets'>;
    readonly run: RunEnd;
  },
): Promise<Archive> {
  if (place.in === 'file')
    return sqliteArchive(isAbsolute(place.file) ? place.file : await fileBelow(directory, place.file));
  const what = "the address of the archive's database";
  const { address, problem } = await readDatabaseAddress(place.url, directory, { ...host, what });
  if (problem !== undefined) throw invalidAddress(problem);
  return postgresArchive(address, { read: run.runEnded, write: run.abandonWaits });
}

function invalidAddress(message: string): CommandStop {
  return new CommandStop('archive-address', message, { exit: exitCodes.invalid });
}

/** The absolute path of an archive. A link in a repository must not lead to a file elsewhere: it would be written. @throws CommandStop */
async function fileBelow(directory: string, file: string): Promise<string> {
  const path = resolve(directory, file);
  const real = await realPlace(path);
  if (real !== undefined && liesIn(await findRepository(directory), real)) return path;
  throw invalidAddress(
    `the archive ${quoted(file)} of "spec.audit.archive" leads through a link to a file outside of the repository: name one in the repository`,
  );
}

/** The real path, or that of the nearest existing folder if the path does not exist yet; undefined for a broken link. */
async function realPlace(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined) return real;
  const isLink = await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
  return isLink || dirname(path) === path ? undefined : realPlace(dirname(path));
}
