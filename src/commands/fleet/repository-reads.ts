/**
 * The order in which workers read a repository, and the repositories that they cannot read. A slow read may end after one that began
 * later. Its commit may be older, and must not end stacks that were added since.
 */
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { FleetRepository } from './fleet-file.ts';

type Patterns = Pick<FleetRepository, 'name' | 'stacks'>;

export function noStackFile({ name, stacks }: Patterns): string {
  return `repository ${quoted(name)} has no stack file: none of its files matches ${stacks.map(quoted).join(' or ')}`;
}

/**
 * Refuses a read without stacks: a wrong pattern or an empty branch would end all stacks, with their drift.
 * @throws CommandStop when the schedule still has stacks of the repository
 */
export async function refuseAllGone(client: PostgresClient, repository: Patterns): Promise<void> {
  const { rows } = await client.query(
    'select 1 from trueup_fleet.stacks where repository = $1 and removed is null limit 1',
    [repository.name],
  );
  if (rows.length > 0) throw allGone(repository);
}

export function allGone(repository: Patterns): CommandStop {
  return new CommandStop(
    'usage',
    `${noStackFile(repository)}. Its stacks stay as they are: correct "stacks" or the branch, or remove the repository from fleet.yaml to end its stacks`,
  );
}

/** The time of the database, as text with all of its digits. */
export async function readTime(client: PostgresClient): Promise<string> {
  const { rows } = await client.query('select trueup_fleet.now()::text as time');
  return String(rows[0]?.time);
}

/**
 * Records when a read of a repository began. Call it in the transaction that changes the schedule.
 * @param began by `readTime`, before git was asked
 * @returns false if a read that began later was recorded already
 */
export async function recordRepositoryRead(
  client: PostgresClient,
  repository: string,
  began: string,
): Promise<boolean> {
  const { rows } = await client.query(
    `insert into trueup_fleet.repository_reads (repository, began) values ($1, $2::timestamptz)
     on conflict (repository) do update set began = excluded.began where repository_reads.began <= excluded.began
     returning repository`,
    [repository, began],
  );
  return rows.length > 0;
}

/** A repository that cannot be read: its stacks stay as they were. Times are in milliseconds since 1970. */
export interface UnreadRepository {
  readonly name: string;
  readonly reason: string;
  readonly lastTry: number;
  /** undefined: it was never read */
  readonly lastRead: number | undefined;
}

export async function readUnread(client: PostgresClient): Promise<UnreadRepository[]> {
  const { rows } = await client.query(
    `select distinct on (given.name) given.name, given.problem, given.named, reads.began
     from trueup_fleet.repositories as given left join trueup_fleet.repository_reads as reads on reads.repository = given.name
     where given.problem is not null order by given.name, given.named desc`,
  );
  return rows.map(({ name, problem, named, began }) => ({
    ...{ name, reason: problem, lastTry: named.getTime() },
    lastRead: began?.getTime(),
  }));
}
