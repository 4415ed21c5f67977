/**
 * The workers, and the repositories of their fleet files. These rows have only two uses: to forget workers that are gone, and to end the
 * stacks of repositories that left the fleet.
 */
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { endRemovedApplies } from './apply/apply-records.ts';
import { closeRemoved } from './drift-records.ts';

/** Seconds between two heartbeats of a worker. */
export const heartbeatSeconds = 10;

/** Seconds after which a worker without a heartbeat is shown as silent, and after which its row is removed. */
const silentAfterSeconds = 60;
const forgottenAfterSeconds = 3600;

/** A repository that no worker has named for this many seconds has left the fleet. */
const leftAfterSeconds = 600;

/** A fleet whose name no worker has used for this many seconds is gone. This is longer than the time between two runs of `fleet run`. */
const unusedAfterSeconds = 7 * 86_400;

interface WorkerRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** the name of its fleet */
  readonly fleet: string;
  readonly version: string;
  readonly concurrency: number;
  /** such as 2/8 */
  readonly shard: string | undefined;
  /** checks at this moment */
  readonly running: number;
  /** why its newest fleet file is not used */
  readonly problem: string | undefined;
}

/** Records a heartbeat. Rows of workers that have been gone for an hour are removed. */
export async function noteWorker(client: PostgresClient, worker: WorkerRow): Promise<void> {
  const { id, host, pid, fleet, version, concurrency, shard, running, problem } = worker;
  await client.query(
    `insert into trueup_fleet.workers (id, host, pid, fleet, version, concurrency, shard, running, problem, started, last_seen)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, trueup_fleet.now(), trueup_fleet.now())
     on conflict (id) do update set fleet = excluded.fleet, running = excluded.running, problem = excluded.problem, last_seen = excluded.last_seen`,
    [id, host, pid, fleet, version, concurrency, shard ?? null, running, problem ?? null],
  );
  await client.query(
    `delete from trueup_fleet.workers where last_seen < trueup_fleet.now() - make_interval(secs => ${forgottenAfterSeconds})`,
  );
}

/** Removes the row of a worker that ends in an orderly way. */
export async function forgetWorker(client: PostgresClient, id: string): Promise<void> {
  await client.query('delete from trueup_fleet.workers where id = $1', [id]);
}

/** The key of an advisory lock: one worker at a time changes which repositories fleets have. */
const repositoriesLock = 7_278_784;

/** Waits for the lock, and holds it until the end of the transaction. */
export async function lockRepositories(client: PostgresClient): Promise<void> {
  await client.query('select pg_advisory_xact_lock($1)', [repositoriesLock]);
}

/** The repositories of one fleet file, after they were read. */
interface NamedRepositories {
  /** the name of the fleet */
  readonly fleet: string;
  readonly names: readonly string[];
  /** why some could not be read, by name */
  readonly unread: ReadonlyMap<string, string>;
}

/**
 * Records which repositories the fleet has. A repository leaves the fleet when no worker of a fleet of this name has named it for ten
 * minutes. So workers with the old file, which still name it, and those with the new file do not undo each other's work. A repository of a
 * fleet with another name stays, unless no worker uses that name any more: that fleet may have been renamed. The stacks of a repository
 * that left end as removed, and their drift ends; their history stays. When the repository comes back, its stacks are due at once.
 */
export async function nameRepositories(
  client: PostgresClient,
  { fleet, names, unread }: NamedRepositories,
): Promise<void> {
  await lockRepositories(client);
  await client.query(
    `insert into trueup_fleet.repositories (fleet, name, named, problem)
     select $1, name, trueup_fleet.now(), problem from unnest($2::text[], $3::text[]) as given (name, problem)
     on conflict (fleet, name) do update set named = excluded.named, problem = excluded.problem`,
    [fleet, names, names.map((name) => unread.get(name) ?? null)],
  );
  const { rows: left } = await client.query(
    `delete from trueup_fleet.repositories
     where fleet = $1 and not (name = any($2::text[])) and named < trueup_fleet.now() - make_interval(secs => ${leftAfterSeconds})
     returning name`,
    [fleet, names],
  );
  const { rows: unused } = await client.query(
    `delete from trueup_fleet.repositories
     where named < trueup_fleet.now() - make_interval(secs => ${leftAfterSeconds})
       and (name = any($1::text[]) and not (fleet = any(${usedWithin(leftAfterSeconds)}))
         or not (fleet = any(${usedWithin(unusedAfterSeconds)})))
     returning name`,
    [left.map(({ name }) => name)],
  );
  const { rows } = await client.query(
    `update trueup_fleet.stacks as stack set removed = trueup_fleet.now()
     where stack.repository = any($1::text[]) and stack.removed is null
       and not exists (select from trueup_fleet.repositories as other where other.name = stack.repository)
     returning stack.repository`,
    [[...left, ...unused].map(({ name }) => name)],
  );
  for (const repository of new Set<string>(rows.map((row) => row.repository))) {
    await closeRemoved(client, repository);
    await endRemovedApplies(client, repository);
  }
}

/** SQL: the names of the fleets that a worker has used within the last `seconds`. */
function usedWithin(seconds: number): string {
  return `array(
    select used.fleet from (
      select fleet, last_seen as at from trueup_fleet.workers union all select fleet, named from trueup_fleet.repositories) as used
    where used.at >= trueup_fleet.now() - make_interval(secs => ${seconds}))`;
}

/** The problems of fleet files that workers reported: each once, with the hosts of these workers. */
export async function readFleetProblems(
  client: PostgresClient,
): Promise<readonly { readonly message: string; readonly hosts: readonly string[] }[]> {
  const { rows } = await client.query(
    `select problem, array_agg(distinct host order by host) as hosts from trueup_fleet.workers
     where problem is not null and last_seen > trueup_fleet.now() - make_interval(secs => ${silentAfterSeconds})
     group by problem order by problem`,
  );
  return rows.map(({ problem, hosts }) => ({ message: problem, hosts }));
}
