/** What an archive needs of a database: one set of statements serves a file and a server. */

/** A value of a column. Numbers may come back as texts. */
export type Column = string | number | null;

export type Row = Readonly<Record<string, unknown>>;

/** Runs one statement with its values as `$1`, `$2`, … */
export type Query = (statement: string, values: readonly Column[]) => Promise<readonly Row[]>;

export interface ArchiveDatabase {
  /** for messages: `the archive "audit.db"` */
  readonly place: string;
  /** stands before the name of each table */
  readonly prefix: string;
  /** Reads, and creates nothing. `undefined` when there is no archive yet. */
  read<T>(work: (query: Query) => Promise<T>): Promise<T | undefined>;
  /** All of it or nothing, in one transaction that writes; may be done twice when a connection breaks. Creates the archive. */
  write<T>(work: (query: Query) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** The archive cannot be read or written, or is none. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/**
 * The tables, by version, from 1; migrations are only added. An event is kept as answered, and found by its time. `whole_from` and
 * the gaps say for which times nothing is missing. Times are milliseconds since 1970.
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
