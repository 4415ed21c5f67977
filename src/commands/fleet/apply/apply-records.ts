/**
 * The applies of each stack, and why an apply waits. At most one attempt of a stack has an open row, with a lease. It writes only while it
 * can renew the lease, and a later attempt begins only when the lease is over and the row is closed. All times are those of the database.
 */
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';

/** A stack, as in the schedule. */
interface StackId {
  readonly repository: string;
  readonly path: string;
}

/** How an apply ended that wrote something, or may have written something. */
type Outcome = 'applied' | 'partial' | 'failed' | 'interrupted' | 'lost';

/** Why nothing is applied now. */
type WaitingFor = 'freeze' | 'approval' | 'guard' | 'lock' | 'retry' | 'target';

/**
 * Seconds for which a lease is valid without a renewal: longer than the process of the apply assumes (`validity` in `fleet-process.ts`).
 */
const leaseSeconds = 30;

/** Days for which an apply is kept. */
const daysKept = 365;

interface Attempt {
  /** number of the turn (`takeTurn`) */
  readonly attempt: string;
  readonly commit: string;
}

type Begun =
  | { readonly is: 'begun'; readonly id: string }
  /** an earlier attempt may still write */
  | { readonly is: 'leased' }
  /** a later attempt has begun, or the stack was removed */
  | { readonly is: 'replaced' };

/** Begins an apply. Call it in a transaction. */
export async function beginApply(
  client: PostgresClient,
  { repository, path }: StackId,
  { attempt, commit }: Attempt,
): Promise<Begun> {
  const { rows: stacks } = await client.query(
    'select attempt::text from trueup_fleet.stacks where repository = $1 and path = $2 and removed is null for update',
    [repository, path],
  );
  if (stacks[0]?.attempt !== attempt) return { is: 'replaced' };
  const { rows: open } = await client.query(
    `select id::text, attempt::text, leased_until > trueup_fleet.now() as leased from trueup_fleet.applies
     where repository = $1 and path = $2 and ended is null for update`,
    [repository, path],
  );
  // This attempt has begun the apply already, but its connection broke at the commit, so it does not know that the commit succeeded.
  if (open[0]?.attempt === attempt) return { is: 'begun', id: open[0].id };
  if (open[0]?.leased === true) return { is: 'leased' };
  if (open[0] !== undefined) await closeLost(client, { repository, path });
  const { rows } = await client.query(
    `insert into trueup_fleet.applies (repository, path, attempt, commit, tree, started, leased_until)
     select $1, $2, $3::bigint, $4, started_tree, trueup_fleet.now(), trueup_fleet.now() + make_interval(secs => ${leaseSeconds})
     from trueup_fleet.stacks where repository = $1 and path = $2
     returning id::text`,
    [repository, path, attempt, commit],
  );
  return { is: 'begun', id: String(rows[0]?.id) };
}

/** Closes the row of an attempt whose worker ended. What it wrote is in the history of the stack. */
async function closeLost(client: PostgresClient, { repository, path }: StackId): Promise<void> {
  await client.query(
    `update trueup_fleet.applies set ended = trueup_fleet.now(), outcome = 'lost', reason = 'its worker ended'
     where repository = $1 and path = $2 and ended is null and leased_until <= trueup_fleet.now()`,
    [repository, path],
  );
}

/** Ends the waits and the lost applies of stacks that are no longer in their repository. An attempt that may still write keeps its row. */
export async function endRemovedApplies(client: PostgresClient, repository: string): Promise<void> {
  await client.query(
    `delete from trueup_fleet.waiting_applies as waiting using trueup_fleet.stacks
     where waiting.repository = $1 and removed is not null
       and stacks.repository = waiting.repository and stacks.path = waiting.path`,
    [repository],
  );
  await client.query(
    `update trueup_fleet.applies set ended = trueup_fleet.now(), outcome = 'lost', reason = 'its worker ended'
     from trueup_fleet.stacks
     where applies.repository = $1 and ended is null and leased_until <= trueup_fleet.now() and removed is not null
       and stacks.repository = applies.repository and stacks.path = applies.path`,
    [repository],
  );
}

/**
 * The id of this database, for the locks of ledgers. Attempts of another database, such as that of a test fleet, may have the same numbers.
 */
export async function databaseId(client: PostgresClient): Promise<string> {
  await client.query(
    `insert into trueup_fleet.keys (name, content) values ('database', decode(replace(gen_random_uuid()::text, '-', ''), 'hex'))
     on conflict do nothing`,
  );
  const { rows } = await client.query(
    // A restored copy has the same key, but is another database.
    `select encode(content, 'hex') || '-' || (select oid from pg_database where datname = current_database()) as id
     from trueup_fleet.keys where name = 'database'`,
  );
  return String(rows[0]?.id);
}

/** Renews the lease of an apply. @returns false when another attempt has begun */
export async function renewLease(client: PostgresClient, id: string): Promise<boolean> {
  const { rows } = await client.query(
    `update trueup_fleet.applies set leased_until = trueup_fleet.now() + make_interval(secs => ${leaseSeconds})
     where id = $1::bigint and ended is null returning id`,
    [id],
  );
  return rows.length > 0;
}

/**
 * Locks the stack of an apply until the end of the transaction. Every transaction that changes a stack and its applies locks the stack
 * first: in another order, two of them could wait for each other.
 */
async function lockStackOf(client: PostgresClient, id: string): Promise<void> {
  await client.query(
    `select 1 from trueup_fleet.stacks join trueup_fleet.applies using (repository, path)
     where id = $1::bigint for update of stacks`,
    [id],
  );
}

export interface ApplyEnd {
  readonly outcome: Outcome;
  readonly reason?: string | undefined;
  /** of the error */
  readonly code?: string | undefined;
  readonly changes?: number | undefined;
  /** who approved it */
  readonly people: readonly string[];
}

/** Records the end of an apply. Call it in a transaction. @returns false when another attempt has begun */
export async function endApply(client: PostgresClient, id: string, end: ApplyEnd): Promise<boolean> {
  const { outcome, reason = null, code = null, changes = null, people } = end;
  await lockStackOf(client, id);
  const { rows } = await client.query(
    `update trueup_fleet.applies set ended = trueup_fleet.now(), outcome = $2, reason = $3, code = $4,
       changes = $5::integer, people = $6::text[]
     where id = $1::bigint and ended is null returning id`,
    [id, outcome, reason, code, changes, people],
  );
  await client.query(
    `delete from trueup_fleet.applies where started < (select trueup_fleet.now() - make_interval(days => ${daysKept}))`,
  );
  return rows.length > 0;
}

/** Removes an apply that was refused before it wrote: its stack waits. @returns false when another attempt has begun */
export async function dropApply(client: PostgresClient, id: string): Promise<boolean> {
  await lockStackOf(client, id);
  const { rows } = await client.query(
    'delete from trueup_fleet.applies where id = $1::bigint and ended is null returning id',
    [id],
  );
  return rows.length > 0;
}

/** Records that the writes of an approved plan begin. */
export async function noteBegun(client: PostgresClient, id: string): Promise<void> {
  await client.query('update trueup_fleet.applies set begun = true where id = $1::bigint and ended is null', [
    id,
  ]);
}

/** An apply that was cut short at most this many minutes before a freeze may end during it: workers may have been stopped that long. */
const cutShortMinutes = 60;

/**
 * Whether an apply of the same files began to write before a freeze and was cut short: it may be finished during the freeze, in one or more
 * attempts. An apply that failed because a service refused it was not cut short.
 * @param given `attempt`: the attempt that asks, which does not count; `since`: when the freeze began, in milliseconds since 1970
 */
export async function wasCutShort(
  client: PostgresClient,
  { repository, path }: StackId,
  { attempt, since }: { readonly attempt: string; readonly since: number },
): Promise<boolean> {
  const { rows } = await client.query(
    `with earlier as (
       select id, applies.started, coalesce(ended, leased_until) as ended,
         coalesce(begun and applies.tree = stacks.started_tree, false) and coalesce(outcome, 'lost') in ('lost', 'interrupted') as cut
       from trueup_fleet.applies join trueup_fleet.stacks using (repository, path)
       where repository = $1 and path = $2 and applies.attempt <> $3::bigint
     )
     select min(started) < begin_of_freeze.since and max(ended) > begin_of_freeze.since - make_interval(mins => ${cutShortMinutes}) as cut
     from earlier, (select to_timestamp($4::double precision / 1000) as since) as begin_of_freeze
     where id > coalesce((select max(id) from earlier where not cut), 0)
     group by begin_of_freeze.since`,
    [repository, path, attempt, since],
  );
  return rows[0]?.cut === true;
}

/** A plan that waits, shortened for a page. */
export interface OpenPlan {
  readonly digest: string;
  /** how many changes it has */
  readonly count: number;
  /** the first ones */
  readonly changes: readonly { readonly action: string; readonly address: string }[];
  /** the first ones */
  readonly guards: readonly { readonly id: string; readonly effect: string; readonly message: string }[];
}

export interface Wait {
  readonly for: WaitingFor;
  /** a sentence without a full stop */
  readonly reason: string;
  readonly commit: string;
  /** milliseconds since 1970: when the stack is checked at the latest, after stacks that have waited longer */
  readonly until?: number | undefined;
  /** of the last attempt, if it made one */
  readonly plan?: OpenPlan | undefined;
}

/** The longest time until a failed apply is tried again, in intervals of its checks. */
const longestBackOff = 16;

/** Records why nothing is applied. `since` is kept until something was applied, or nothing is left to apply. */
export async function noteWait(
  client: PostgresClient,
  { repository, path }: StackId,
  wait: Wait,
): Promise<void> {
  const { for: because, reason, commit, until, plan } = wait;
  const failures = `case when $4 <> 'retry' then 0 when waiting_applies.tree = excluded.tree then waiting_applies.failures + 1 else 1 end`;
  await client.query(
    `insert into trueup_fleet.waiting_applies (repository, path, since, because, reason, commit, until, plan, failures, tree)
     values ($1, $2, trueup_fleet.now(), $4, $5, $6, to_timestamp($3::double precision / 1000), $7::json, case when $4 = 'retry' then 1 else 0 end,
       (select started_tree from trueup_fleet.stacks where repository = $1 and path = $2))
     on conflict (repository, path) do update set
       because = excluded.because, reason = excluded.reason, commit = excluded.commit, until = excluded.until,
       plan = excluded.plan, tree = excluded.tree, failures = ${failures}`,
    [
      repository,
      path,
      until ?? null,
      because,
      reason,
      commit,
      plan === undefined ? null : JSON.stringify(plan),
    ],
  );
  await client.query(
    `update trueup_fleet.waiting_applies as waiting set next_try = case when waiting.failures > 0 then trueup_fleet.now()
       + make_interval(secs => seconds_between_checks * (least(power(2, least(waiting.failures, 10) - 1), ${longestBackOff}) - 0.5)) end
     from trueup_fleet.stacks where waiting.repository = $1 and waiting.path = $2
       and stacks.repository = waiting.repository and stacks.path = waiting.path`,
    [repository, path],
  );
  if (until !== undefined)
    await client.query(
      `update trueup_fleet.stacks set next_due = least(next_due, to_timestamp($3::double precision / 1000))
       where repository = $1 and path = $2`,
      [repository, path, until],
    );
}

/** Ends the wait of a stack: nothing is left to apply. */
export async function endWait(client: PostgresClient, { repository, path }: StackId): Promise<void> {
  await closeLost(client, { repository, path });
  // Nothing is left of an apply that was cut short, so a later one does not continue it (`wasCutShort`).
  await client.query(
    'update trueup_fleet.applies set begun = false where repository = $1 and path = $2 and begun and ended is not null',
    [repository, path],
  );
  await client.query('delete from trueup_fleet.waiting_applies where repository = $1 and path = $2', [
    repository,
    path,
  ]);
}

/** Whether a failed apply of the same files must not be tried again yet. Commits that do not change the files do not matter. */
export async function isBackingOff(client: PostgresClient, { repository, path }: StackId): Promise<boolean> {
  const { rows } = await client.query(
    `select 1 from trueup_fleet.waiting_applies as waiting join trueup_fleet.stacks using (repository, path)
     where repository = $1 and path = $2 and waiting.tree = started_tree and next_try > trueup_fleet.now()`,
    [repository, path],
  );
  return rows.length > 0;
}

/** Part of an interval in which a check counts as the one right after an apply. Regular checks are further apart. */
const soonAfter = 0.4;

/**
 * Whether the same files were applied just before this check. Drift that is back so soon would come back after each apply, for example
 * because the service changes the values that it gets. Reverting it would never end.
 */
export async function wasJustApplied(
  client: PostgresClient,
  { repository, path }: StackId,
): Promise<boolean> {
  const { rows } = await client.query(
    `select 1 from trueup_fleet.applies join trueup_fleet.stacks using (repository, path)
     where repository = $1 and path = $2 and outcome = 'applied' and applies.tree = stacks.started_tree
       and ended > trueup_fleet.now() - make_interval(secs => seconds_between_checks * ${soonAfter}) limit 1`,
    [repository, path],
  );
  return rows.length > 0;
}

/** Stacks whose apply waited for a freeze that is over, the longest waiting first. */
export async function readUnfrozen(client: PostgresClient): Promise<StackId[]> {
  const { rows } = await client.query(
    `select repository, path from trueup_fleet.waiting_applies
     where because = 'freeze' and until <= trueup_fleet.now() order by since, repository, path`,
  );
  return rows.map(({ repository, path }) => ({ repository, path }));
}

/** One apply that waits. Times are in milliseconds since 1970. */
export interface WaitingApply extends StackId {
  readonly since: number;
  readonly for: string;
  readonly reason: string;
  readonly until: number | undefined;
}

/** The waiting applies of stacks that are in their repositories, the longest waiting first. */
export async function readWaits(client: PostgresClient): Promise<WaitingApply[]> {
  const { rows } = await client.query(
    `select repository, path, since, because, reason, coalesce(until, next_try) as until
     from trueup_fleet.waiting_applies join trueup_fleet.stacks using (repository, path)
     where removed is null order by since, repository, path`,
  );
  return rows.map(({ repository, path, since, because, reason, until }) => ({
    ...{ repository, path, since: since.getTime(), for: because, reason },
    until: until?.getTime(),
  }));
}
