/**
 * When each stack of a fleet is checked next. One row for each stack, by repository and path. Workers take due rows with `for update skip
 * locked`, so that no two take the same one, and no worker has to lead.
 */
import { createHash } from 'node:crypto';
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { endRemovedApplies } from './apply/apply-records.ts';
import { closeRemoved } from './drift-records.ts';
import type { Labels } from '../../manifest/schema/label-schema.ts';
import type { StackId } from './stack-id.ts';
import { type Standing, standingSql } from './apply/standing.ts';
import { isPausedSql, takeProbes } from './target-pauses.ts';

interface ScheduledStack extends StackId {
  /** time between two checks */
  readonly seconds: number;
  /** id of the git tree of its files: when it changes, the stack is due and its back-off ends */
  readonly tree: string;
  readonly labels?: Labels | undefined;
}

/** Part of the interval by which a check may be earlier or later, so that stacks with the same phase do not stay together. */
const jitter = 0.05;

/** After failures, a stack is checked less and less often: at the latest after this many of its intervals. */
const longestBackOff = 16;

/** Seconds after which a stack that was taken and not reported is due again: longer than any check. */
const longestCheck = 3600;

/** At which part of its interval a stack is checked, from 0 to 1: the same after a restart, and evenly spread over all stacks. */
export function phaseOf({ repository, path }: StackId): number {
  const hash = createHash('sha256')
    .update(JSON.stringify([repository, path]))
    .digest();
  return hash.readUInt32BE(0) / 2 ** 32;
}

/** SQL that locks rows of stacks in the same order as all other statements that lock several, so that no two wait for each other. */
const inOneOrder = `order by repository collate "C", path collate "C" for update`;

/** Makes the schedule equal to the stacks of one repository. New stacks are due at once. Removed ones keep their row without checks. */
export async function scheduleStacks(
  client: PostgresClient,
  repository: string,
  stacks: readonly ScheduledStack[],
): Promise<void> {
  await client.query(`select 1 from trueup_fleet.stacks where repository = $1 ${inOneOrder}`, [repository]);
  await client.query(
    `insert into trueup_fleet.stacks (repository, path, seconds_between_checks, phase, tree, labels, next_due, first_seen)
     select $1, path, seconds, phase, tree, labels, trueup_fleet.now(), trueup_fleet.now()
     from unnest($2::text[], $3::double precision[], $4::double precision[], $5::text[], $6::jsonb[])
       as given (path, seconds, phase, tree, labels)
     on conflict (repository, path) do update set
       forced = stacks.forced or stacks.tree <> excluded.tree,
       failures = case when stacks.tree <> excluded.tree then 0 else stacks.failures end,
       tree = excluded.tree,
       labels = excluded.labels,
       seconds_between_checks = excluded.seconds_between_checks,
       next_due = case
         when stacks.removed is not null then excluded.next_due
         when stacks.seconds_between_checks <> excluded.seconds_between_checks
           then least(stacks.next_due, trueup_fleet.now() + make_interval(secs => excluded.seconds_between_checks))
         else stacks.next_due end,
       queued_until = case when stacks.removed is null then stacks.queued_until end,
       removed = null`,
    [
      repository,
      stacks.map(({ path }) => path),
      stacks.map(({ seconds }) => seconds),
      stacks.map(phaseOf),
      stacks.map(({ tree }) => tree),
      stacks.map(({ labels = {} }) => JSON.stringify(labels)),
    ],
  );
  await client.query(
    `update trueup_fleet.stacks set removed = trueup_fleet.now()
     where repository = $1 and removed is null and not (path = any($2::text[]))`,
    [repository, stacks.map(({ path }) => path)],
  );
  await closeRemoved(client, repository);
  await endRemovedApplies(client, repository);
}

/** One of several equal parts of all stacks: the one with this index, from 0. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

/** What a worker takes. */
interface Taking {
  /** names of the repositories that it knows */
  readonly repositories: readonly string[];
  readonly shard?: Shard | undefined;
  /** only what was due then; what is due now if absent */
  readonly dueBy?: Date | undefined;
}

/** The time of the database. */
export async function databaseTime(client: PostgresClient): Promise<Date> {
  const { rows } = await client.query('select trueup_fleet.now() as time');
  return rows[0]?.time;
}

/**
 * Takes at most `limit` stacks that are due: those of the shard first, then those that have been due the longest. They count as taken until
 * they are reported, or for an hour. Of the stacks of a target that is paused, at most one is taken, to see whether the target is back.
 */
export async function takeDue(
  client: PostgresClient,
  limit: number,
  { repositories, shard: { index, of } = { index: 0, of: 1 }, dueBy }: Taking,
): Promise<StackId[]> {
  const probes = await takeProbes(client, { repositories, seconds: longestCheck });
  const { rows } = await client.query(
    `with due as (
       select repository, path from trueup_fleet.stacks
       where removed is null and repository = any($4) and (next_due <= least(trueup_fleet.now(), $5::timestamptz) or forced)
         and (queued_until is null or queued_until < trueup_fleet.now())
         and not ${isPausedSql('stacks')}
       order by floor(phase * $3) <> $2, ${waitingSince} nulls last, next_due for update skip locked limit $1
     )
     update trueup_fleet.stacks as taken
     set queued_until = trueup_fleet.now() + make_interval(secs => ${longestCheck}), forced = false
     from due where taken.repository = due.repository and taken.path = due.path
     returning taken.repository, taken.path`,
    [limit, index, of, repositories, dueBy ?? null],
  );
  return [...probes, ...rows.map(({ repository, path }) => ({ repository, path }))];
}

/** SQL: since when the apply of a stack has waited for a freeze that is over; null for other stacks. The longest waiting come first. */
const waitingSince = `(select since from trueup_fleet.waiting_applies as waiting
  where waiting.repository = stacks.repository and waiting.path = stacks.path and because = 'freeze' and until <= trueup_fleet.now())`;

/** Makes the stacks of a shard due at once, without regard to their phases. */
export async function makeDue(
  client: PostgresClient,
  { repositories, shard: { index, of } = { index: 0, of: 1 } }: Taking,
): Promise<void> {
  await client.query(
    `with held as (
       select repository, path from trueup_fleet.stacks
       where removed is null and repository = any($1) and floor(phase * $2) = $3 ${inOneOrder}
     )
     update trueup_fleet.stacks set forced = true from held
     where stacks.repository = held.repository and stacks.path = held.path`,
    [repositories, of, index],
  );
  // A user who runs all checks has usually removed the cause of a failure.
  await client.query('update trueup_fleet.waiting_applies set next_try = null where repository = any($1)', [
    repositories,
  ]);
}

/** Makes one stack due at once. */
export async function makeStackDue(client: PostgresClient, { repository, path }: StackId): Promise<void> {
  await client.query('update trueup_fleet.stacks set forced = true where repository = $1 and path = $2', [
    repository,
    path,
  ]);
}

interface Started {
  /** the number of this attempt, for its end */
  readonly attempt: string;
  /** of the files to check: the worker may have older ones */
  readonly tree: string;
}

/** Records that a check begins. @returns undefined if the stack is gone, or if one of its targets was paused meanwhile */
export async function noteStart(
  client: PostgresClient,
  { repository, path }: StackId,
): Promise<Started | undefined> {
  const { rows } = await client.query(
    `update trueup_fleet.stacks set last_started = trueup_fleet.now(), attempt = attempt + 1, started_tree = tree, applying = false
     where repository = $1 and path = $2 and removed is null and not ${isPausedSql('stacks')}
     returning attempt::text, tree`,
    [repository, path],
  );
  if (rows.length === 0) await giveBack(client, { repository, path });
  return rows[0] as Started | undefined;
}

/** Gives back a stack whose check did not begin: it stays due. */
export async function giveBack(client: PostgresClient, { repository, path }: StackId): Promise<void> {
  await client.query(
    'update trueup_fleet.stacks set queued_until = null, forced = true where repository = $1 and path = $2',
    [repository, path],
  );
}

/** Gives back a stack whose check was stopped: it is due at once, for any worker. */
export async function release(
  client: PostgresClient,
  { repository, path }: StackId,
  attempt: string,
): Promise<void> {
  await client.query(
    `update trueup_fleet.stacks set queued_until = null, forced = true
     where repository = $1 and path = $2 and attempt = $3`,
    [repository, path, attempt],
  );
}

/** How a check ended. */
interface CheckEnd {
  /** why it is not complete: what it read does not show whether there is drift */
  readonly error?: string | undefined;
  /** of the repository */
  readonly commit?: string | undefined;
  /** what the check found */
  readonly summary?: object | undefined;
}

/**
 * Records the end of a check, and when the next one is due: at the phase of the stack, and later after each error in a row. The end of an
 * attempt is ignored if another attempt began since, because the worker of the first one was considered dead.
 * @returns whether it was recorded
 */
export async function noteEnd(
  client: PostgresClient,
  { repository, path }: StackId,
  attempt: string,
  { error, commit, summary }: CheckEnd,
): Promise<boolean> {
  const { rows } = await client.query(
    `update trueup_fleet.stacks set
       queued_until = null,
       apply_queued = null,
       failures = case when $3::text is null then 0 else failures + 1 end,
       last_error = $3,
       last_complete = case when $3::text is null then trueup_fleet.now() else last_complete end,
       last_commit = coalesce($4, last_commit),
       last_summary = case when $3::text is null then $5::json else last_summary end,
       next_due = ${nextDue('case when $3::text is null then 0 else failures + 1 end')}
     where repository = $1 and path = $2 and attempt = $6 returning path`,
    [
      ...[repository, path, error ?? null, commit ?? null],
      summary === undefined ? null : JSON.stringify(summary),
      attempt,
    ],
  );
  return rows.length > 0;
}

/**
 * SQL: the first time with the stack's phase that is at least half an interval away; after failures, some intervals later.
 * @param failures in a row, as SQL
 */
function nextDue(failures: string): string {
  const interval = 'seconds_between_checks';
  const earliest = `extract(epoch from trueup_fleet.now()) + ${interval} / 2`;
  const inPhase = `ceil((${earliest}) / ${interval} - phase) * ${interval} + phase * ${interval}`;
  const later = `(least(power(2, least(greatest((${failures}) - 1, 0), 10)), ${longestBackOff}) - 1) * ${interval}`;
  return `to_timestamp(${inPhase} + ${later} + (random() * 2 - 1) * ${jitter} * ${interval})`;
}

/** One stack as `fleet status` shows it. Times are in milliseconds since 1970. */
export interface StackStatus extends StackId {
  readonly standing: Standing;
  readonly isRunning: boolean;
  /** whether an apply runs, not a check */
  readonly isApplying: boolean;
  /** whether its apply waits for a worker */
  readonly isApplyQueued: boolean;
  readonly failures: number;
  readonly lastComplete: number | undefined;
  readonly nextDue: number;
  readonly commit: string | undefined;
  readonly error: string | undefined;
  readonly summary: unknown;
  readonly labels: Labels;
}

/** All stacks that are in their repositories, and the time of the database. */
export async function readStatus(
  client: PostgresClient,
): Promise<{ readonly now: number; readonly stacks: readonly StackStatus[] }> {
  const { rows } = await client.query(
    `with clock as materialized (select trueup_fleet.now() as time)
     select stack.*, clock.time, ${standingSql({ stack: 'stack', wait: 'wait', time: 'clock.time' })} as standing
     from trueup_fleet.stacks as stack left join trueup_fleet.waiting_applies as wait using (repository, path), clock
     where removed is null order by repository, path`,
  );
  const stacks = rows.map((row) => ({
    repository: String(row.repository),
    path: String(row.path),
    standing: row.standing,
    isRunning: row.queued_until !== null && row.queued_until > row.time,
    isApplying: row.queued_until !== null && row.queued_until > row.time && row.applying,
    isApplyQueued: row.apply_queued !== null,
    failures: Number(row.failures),
    lastComplete: row.last_complete?.getTime(),
    nextDue: row.next_due.getTime(),
    commit: row.last_commit ?? undefined,
    error: row.last_error ?? undefined,
    summary: row.last_summary ?? undefined,
    labels: row.labels,
  }));
  return { now: rows[0]?.time.getTime() ?? 0, stacks };
}
