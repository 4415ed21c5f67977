/**
 * Follows a trail: each poll asks from some time before the last event, because `since` excludes its own time, events may share
 * one, and some appear late. Known events are dropped by their ids.
 */
import { resolve } from 'node:path';
import { readFullTrail, readTrailPage } from '../../audit-trail/read-trail.ts';
import { megabyte, readRegularText } from '../../files/read-file.ts';
import { replaceFile } from '../../files/write-file.ts';
import { type TrailChannel, type TrailEvent, trailOverlap } from '../../model/audit-trail.ts';
import { messageOf } from '../../model/error-message.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import { quoted } from '../../model/quoted.ts';
import { oldestFirst } from './filter-events.ts';

/** How far a trail was followed. */
export interface TrailCursor {
  /** milliseconds since 1970: when the following began; nothing earlier is told */
  readonly from: number;
  /** the same: the time of the newest event, but never later than the look, for one event with a wrong time would stop it all */
  readonly at: number;
  /** the events that were met and that the next look will meet again */
  readonly ids: readonly string[];
}

/** One look. */
interface Followed {
  /** those that are new, oldest first */
  readonly events: readonly TrailEvent[];
  /** for the next look */
  readonly cursor: TrailCursor;
}

/**
 * A cursor that begins now, by the clock of the service: that of this machine may be another one.
 * @param now the time here, in milliseconds since 1970
 * @throws WireError, TrailError
 */
export async function cursorFromNow(channel: TrailChannel, now: number): Promise<TrailCursor> {
  await readTrailPage(channel, { since: now, page: 1, pageSize: 1 });
  return cursorAfter(now + (channel.clockAhead() ?? 0));
}

/** A cursor stands at a time before which all was seen: what is new begins a millisecond later. */
export function cursorAfter(since: number): TrailCursor {
  const from = since + 1;
  return { from, at: from, ids: [] };
}

/**
 * @param now the time here, in milliseconds since 1970
 * @throws WireError, TrailError; then the same cursor goes for the next look
 */
export async function followTrail(
  channel: TrailChannel,
  cursor: TrailCursor,
  now: number,
): Promise<Followed> {
  const known = new Set(cursor.ids);
  const since = windowOf(cursor);
  const read = await readFullTrail(channel, { since: since - 1 });
  const found = read.filter((event) => event.at >= since).sort(oldestFirst);
  const at = Math.max(cursor.at, Math.min(found.at(-1)?.at ?? 0, now + (channel.clockAhead() ?? 0)));
  const next = windowOf({ from: cursor.from, at });
  const met = found.flatMap((event) => (event.at >= next ? [event.id] : []));
  return {
    events: found.filter(({ id }) => !known.has(id)),
    cursor: { from: cursor.from, at, ids: at === cursor.at ? [...new Set([...known, ...met])] : met },
  };
}

/** From when on a look meets events, in milliseconds since 1970. */
function windowOf({ from, at }: Pick<TrailCursor, 'from' | 'at'>): number {
  return Math.max(from, at - trailOverlap);
}

// How far trails were followed, in a file where a run that is begun again finds it. It is replaced after the events were printed: who
// is killed in between prints those of the last look once more, and loses none.

/** The cursors of all trails of one run. */
interface Cursors {
  of(trail: string): TrailCursor | undefined;
  keep(cursors: ReadonlyMap<string, TrailCursor>): Promise<void>;
}

/** The file cannot be read, or is something else. */
export class CursorFileError extends Error {
  override readonly name = 'CursorFileError';
}

/** A file of many megabytes would be that of a trail with so many events in one minute. */
const largest = 16 * megabyte;

/** @param file kept in memory alone when absent. @throws CursorFileError */
export async function openCursors(file: string | undefined, cwd: string): Promise<Cursors> {
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
  const refused = (why: string) => new CursorFileError(`the cursor file ${quoted(path)} ${why}`);
  const text = await readRegularText(path, largest).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw refused(`cannot be read: ${messageOf(error)}`);
  });
  if (text === '') return new Map();
  const trails = memberOf(parsed(text), 'trails');
  if (!isJsonObject(trails)) throw refused('is none: name another file, or remove it to begin anew');
  return new Map(
    Object.entries(trails).map(([trail, cursor]) => {
      const [from, at, ids] = ['from', 'at', 'ids'].map((name) => memberOf(cursor, name));
      if (!isTime(from) || !isTime(at) || !Array.isArray(ids))
        throw refused('is damaged: remove it to begin anew');
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
