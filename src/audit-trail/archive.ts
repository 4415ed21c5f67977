/**
 * An archive of audit trails, in SQL for both SQLite and PostgreSQL. Each addition is one transaction: events, how far the trail was
 * read, and a gap. Existing events are not changed and a cursor only moves forward, so any number of writers may run at once, and be
 * killed.
 */
import type { TrailEvent } from '../model/audit-trail.ts';
import { quoted } from '../model/quoted.ts';
import { parseEvent, refuseForeign } from './read-trail.ts';

/** A value of a column. Numbers may come back as texts. */
export type Column = string | number | null;

type Row = Readonly<Record<string, unknown>>;

/** Runs one statement with its values as `$1`, `$2`, … */
export type Query = (statement: string, values: readonly Column[]) => Promise<readonly Row[]>;

export interface ArchiveDatabase {
  /** for messages: `the archive "audit.db"` */
  readonly place: string;
  /** prefix of the name of each table */
  readonly prefix: string;
  /** Reads, and creates nothing. Returns undefined if there is no archive yet. */
  read<T>(work: (query: Query) => Promise<T>): Promise<T | undefined>;
  /** Runs `work` in one write transaction, which may be repeated if a connection breaks. Creates the archive. */
  write<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The archive cannot be read or written, or the database is not an archive. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/**
 * The tables, by version, from 1; migrations are only added. An event is stored as the service returned it, and found by its time.
 * Events are complete from `whole_from` on, except for the gaps. Times are milliseconds since 1970.
 */
export function archiveMigrations(types: {
  readonly id: string;
  readonly content: string;
}): readonly string[] {
  return [
    `create table events (
       trail text not null,
       id ${types.id} not null,
       at bigint not null,
       content ${types.content} not null,
       primary key (trail, id)
     );
     create index events_by_time on events (trail, at, id);
     create table trails (
       trail text primary key,
       organization_id text,
       cursor_at bigint,
       cursor_id text,
       looked_at bigint not null,
       whole_from bigint not null
     );
     create table gaps (
       trail text not null,
       from_at bigint not null,
       to_at bigint not null,
       noticed_at bigint not null,
       why text not null,
       primary key (trail, from_at, to_at)
     );`,
  ];
}

/** How far a trail was read. Times are milliseconds since 1970. */
export interface ArchiveHead {
  /** the newest event of the last complete read; absent when the trail had none */
  readonly cursor?: { readonly at: number; readonly id: string };
  /** the organization that answered; absent when the trail had no event */
  readonly organizationId?: string;
  /** when that read began */
  readonly readAt: number;
  /** the time since which events are complete, except for the gaps */
  readonly completeFrom: number;
}

/** A period in which events may be permanently missing. Times are milliseconds since 1970. */
export interface TrailGap {
  readonly from: number;
  readonly to: number;
  readonly noticedAt: number;
  readonly why: string;
}

/** One addition to a trail. */
interface Addition {
  readonly events: readonly TrailEvent[];
  readonly head?: ArchiveHead;
  readonly gap?: TrailGap | undefined;
}

interface TimeWindow {
  /** milliseconds since 1970, exclusive */
  readonly since?: number | undefined;
  /** the same, inclusive */
  readonly until?: number | undefined;
}

/** The number of events that are read at once. */
const chunk = 1000;
/** The number of events that one statement writes. */
const batch = 100;

export class Archive {
  readonly #database: ArchiveDatabase;

  constructor(database: ArchiveDatabase) {
    this.#database = database;
  }

  get place(): string {
    return this.#database.place;
  }

  /**
   * Stores an addition in one transaction. @returns how many of the events are new
   * @throws ArchiveError, TrailError when the trail has events of another organization
   */
  keep(trail: string, { events, head, gap }: Addition): Promise<number> {
    const { prefix } = this.#database;
    return this.#database.write(async (query) => {
      const [first] = events;
      const kept = first && (await this.#anyEvent(query, trail));
      // A killed run may have stored events without a head.
      if (kept !== undefined) for (const event of events) refuseForeign(event, kept.organizationId);
      let added = 0;
      for (let from = 0; from < events.length; from += batch)
        added += await insertEvents(query, `${prefix}events`, {
          trail,
          events: events.slice(from, from + batch),
        });
      if (gap !== undefined)
        await query(
          `insert into ${prefix}gaps (trail, from_at, to_at, noticed_at, why) values ($1, $2, $3, $4, $5)
           on conflict (trail, from_at, to_at) do nothing`,
          [trail, gap.from, gap.to, gap.noticedAt, gap.why],
        );
      if (head !== undefined) await keepHead(query, `${prefix}trails`, { trail, head });
      return added;
    });
  }

  /** How far a trail was read; undefined if it was never read completely. @throws ArchiveError */
  async head(trail: string): Promise<ArchiveHead | undefined> {
    const statement = `select organization_id, cursor_at, cursor_id, looked_at, whole_from
      from ${this.#database.prefix}trails where trail = $1`;
    const [row] = (await this.#database.read((query) => query(statement, [trail]))) ?? [];
    return row && headOf(row);
  }

  /** The trails in the archive. @throws ArchiveError when there is no archive */
  async trails(): Promise<readonly string[]> {
    const { prefix } = this.#database;
    const rows = await this.#database.read((query) =>
      query(`select distinct trail from ${prefix}events union select trail from ${prefix}trails`, []),
    );
    if (rows === undefined)
      throw new ArchiveError(`${this.place} does not exist: "trueup audit archive" creates it`);
    return rows.map((row) => String(row['trail'])).sort();
  }

  /** The gaps of a trail, in order of their start. @throws ArchiveError */
  async gaps(trail: string): Promise<readonly TrailGap[]> {
    const statement = `select from_at, to_at, noticed_at, why from ${this.#database.prefix}gaps
      where trail = $1 order by from_at, to_at`;
    const rows = (await this.#database.read((query) => query(statement, [trail]))) ?? [];
    return rows.map((row) => ({
      from: Number(row['from_at']),
      to: Number(row['to_at']),
      noticedAt: Number(row['noticed_at']),
      why: String(row['why']),
    }));
  }

  /** The events, newest first, in chunks, so that the caller can stop early. @throws ArchiveError, TrailError for a damaged event */
  async *newestFirst(
    trail: string,
    { since, until }: TimeWindow = {},
  ): AsyncGenerator<readonly TrailEvent[]> {
    const statement = `select id, at, content from ${this.#database.prefix}events
      where trail = $1 and at > $2 and (at, id) < ($3, $4) order by at desc, id desc limit ${chunk}`;
    let before: readonly [Column, Column] = [(until ?? Number.MAX_SAFE_INTEGER - 1) + 1, ''];
    for (;;) {
      const values = [trail, since ?? -1, ...before];
      const rows = (await this.#database.read((query) => query(statement, values))) ?? [];
      if (rows.length > 0) yield rows.map((row) => this.#eventIn(row));
      const last = rows.at(-1);
      if (last === undefined || rows.length < chunk) return;
      before = [Number(last['at']), String(last['id'])];
    }
  }

  async #anyEvent(query: Query, trail: string): Promise<TrailEvent | undefined> {
    const statement = `select id, content from ${this.#database.prefix}events
      where trail = $1 order by at limit 1`;
    const [row] = await query(statement, [trail]);
    return row && this.#eventIn(row);
  }

  #eventIn({ id, content }: Row): TrailEvent {
    const value = typeof content === 'string' ? JSON.parse(content) : content;
    return parseEvent(value, `event ${quoted(String(id))} in ${this.place}`);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

/** @returns the number of new events */
async function insertEvents(
  query: Query,
  table: string,
  { trail, events }: { readonly trail: string; readonly events: readonly TrailEvent[] },
): Promise<number> {
  const rows = events.map((_, row) => `($1, $${3 * row + 2}, $${3 * row + 3}, $${3 * row + 4})`);
  const values = events.flatMap(({ id, at, raw }) => [id, at, JSON.stringify(raw)]);
  const statement = `insert into ${table} (trail, id, at, content) values ${rows.join(', ')}
    on conflict (trail, id) do nothing returning id`;
  return (await query(statement, [trail, ...values])).length;
}

/** The first read sets the time from which events are complete; later reads only move the cursor forward. */
async function keepHead(
  query: Query,
  table: string,
  { trail, head }: { readonly trail: string; readonly head: ArchiveHead },
): Promise<void> {
  const { organizationId = null, cursor, readAt, completeFrom } = head;
  const isFurther = 'excluded.cursor_at > coalesce(kept.cursor_at, -1)';
  await query(
    `insert into ${table} as kept (trail, organization_id, cursor_at, cursor_id, looked_at, whole_from)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (trail) do update set
       organization_id = coalesce(kept.organization_id, excluded.organization_id),
       cursor_id = case when ${isFurther} then excluded.cursor_id else kept.cursor_id end,
       cursor_at = case when ${isFurther} then excluded.cursor_at else kept.cursor_at end,
       looked_at = case when excluded.looked_at > kept.looked_at then excluded.looked_at else kept.looked_at end`,
    [trail, organizationId, cursor?.at ?? null, cursor?.id ?? null, readAt, completeFrom],
  );
}

function headOf(row: Row): ArchiveHead {
  const { organization_id: organizationId, cursor_at: at, cursor_id: id } = row;
  return {
    ...(id === null ? {} : { cursor: { at: Number(at), id: String(id) } }),
    ...(organizationId === null ? {} : { organizationId: String(organizationId) }),
    readAt: Number(row['looked_at']),
    completeFrom: Number(row['whole_from']),
  };
}

// The archived events of one trail since a time, and whether they are complete.

export interface ArchivedEvents {
  /** oldest first */
  readonly events: readonly TrailEvent[];
  /** milliseconds since 1970: later events are not archived yet; undefined for a trail without a complete read, or without events */
  readonly until?: number;
  /** the newest event, with its time by the service's clock */
  readonly newest?: { readonly at: number; readonly id: string };
  /** whether no event is missing between the requested time and `until` */
  readonly isComplete: boolean;
  /** the gaps in that time */
  readonly gaps: readonly TrailGap[];
}

/**
 * @param trail the name of the trail: the identity of its target
 * @param since milliseconds since 1970; events of this very time are left out
 * @throws ArchiveError, TrailError for a damaged event
 */
export async function eventsSince(archive: Archive, trail: string, since: number): Promise<ArchivedEvents> {
  const head = await archive.head(trail);
  const events: TrailEvent[] = [];
  for await (const some of archive.newestFirst(trail, { since })) events.push(...some);
  const gaps = (await archive.gaps(trail)).filter(({ to }) => to > since);
  const isComplete = head !== undefined && head.completeFrom <= since && gaps.length === 0;
  const newest = head?.cursor && { newest: head.cursor };
  // A trail without events may belong to another organization.
  const until = head?.organizationId === undefined ? undefined : { until: head.readAt };
  return { events: events.reverse(), ...until, ...newest, isComplete, gaps };
}
