/**
 * How far trails were followed, in a file where a run that is begun again finds it. It is replaced after the events were printed: who
 * is killed in between prints those of the last look once more, and loses none.
 */
import { resolve } from 'node:path';
import { megabyte, readRegularText } from '../../files/read-regular.ts';
import type { TrailCursor } from '../../audit/trail/follow-trail.ts';
import { replaceFile } from '../../ledger/local/replace-file.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json/json.ts';
import { messageOf } from '../../model/message-of.ts';
import { quoted } from '../../model/quoted.ts';

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
