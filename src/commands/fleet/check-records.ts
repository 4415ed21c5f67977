/** Records checks: a row for each check, for 30 days, and for each stack the report of its last complete check. */
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { boundedReport } from '../../report/json/bounded-drift.ts';
import { noteAccess } from './access-records.ts';
import type { CheckResult } from './check-stack.ts';
import { noteDrift } from './drift-records.ts';
import { noteEnd } from './schedule.ts';
import type { RateOwner } from './rates/request-rate.ts';
import type { StackId } from './stack-id.ts';
import { noteTargets, type PauseChange, targetAddresses, targetResults } from './target-pauses.ts';

const daysKept = 30;

/** Old rows that a check deletes, at most. A check adds only one row, so old rows do not pile up. */
const deletedAtOnce = 20;

/** The result of a check, with its commit. */
export type FoundCheck = CheckResult & {
  readonly commit?: string;
  /** how many requests were answered, for each owner of a limit */
  readonly requests?: readonly (RateOwner & { readonly requests: number })[];
};

/**
 * Records the end of a check and all that follows from it. Call it in a transaction.
 * @returns pauses of targets that begin or end; undefined if another attempt began since, so that nothing is recorded
 */
export async function recordEnd(
  client: PostgresClient,
  stack: StackId,
  attempt: string,
  result: FoundCheck,
): Promise<PauseChange[] | undefined> {
  if (!(await noteEnd(client, stack, attempt, result))) return undefined;
  await noteCheck(client, stack, attempt, result);
  const { error, report } = result;
  if (error === undefined && report !== undefined) {
    await noteDrift(client, stack, report);
    await noteAccess(client, stack, report);
  }
  if (error === undefined) await noteRequests(client, stack, result);
  return noteTargets(client, stack, targetResults(report));
}

/** Adds the row of a check, once for each attempt. */
async function noteCheck(
  client: PostgresClient,
  { repository, path }: StackId,
  attempt: string,
  { error, errorCode, summary, report, commit }: FoundCheck,
): Promise<void> {
  const isComplete = error === undefined;
  await client.query(
    `insert into trueup_fleet.checks (repository, path, attempt, started, ended, error, error_code, drifted, commit)
     select repository, path, $3::bigint, coalesce(last_started, trueup_fleet.now()), trueup_fleet.now(), $4, $5, $6::integer, $7
     from trueup_fleet.stacks where repository = $1 and path = $2
     on conflict (repository, path, attempt) do nothing`,
    [
      ...[repository, path, attempt, error ?? null, errorCode ?? null],
      isComplete ? (summary?.drifted ?? null) : null,
      commit ?? null,
    ],
  );
  if (isComplete && report !== undefined)
    await client.query(
      'update trueup_fleet.stacks set last_report = $3::json where repository = $1 and path = $2',
      [repository, path, boundedReport(report)],
    );
  const targets = targetAddresses(report);
  if (targets.length > 0)
    await client.query(
      'update trueup_fleet.stacks set targets = $3::text[] where repository = $1 and path = $2',
      [repository, path, targets],
    );
  await deleteOldChecks(client);
}

/** Replaces the numbers of requests of a stack by those of a complete check. */
async function noteRequests(
  client: PostgresClient,
  { repository, path }: StackId,
  { requests = [] }: FoundCheck,
): Promise<void> {
  const sent = requests.filter((one) => one.requests > 0);
  const [addresses, identities] = [sent.map(({ address }) => address), sent.map(({ identity }) => identity)];
  await client.query(
    `delete from trueup_fleet.stack_requests where repository = $1 and path = $2
       and (address, identity) not in (select * from unnest($3::text[], $4::text[]))`,
    [repository, path, addresses, identities],
  );
  await client.query(
    `insert into trueup_fleet.stack_requests (repository, path, address, identity, requests)
     select $1, $2, * from unnest($3::text[], $4::text[], $5::integer[])
     on conflict (repository, path, address, identity) do update set requests = excluded.requests`,
    [repository, path, addresses, identities, sent.map((one) => one.requests)],
  );
}

async function deleteOldChecks(client: PostgresClient): Promise<void> {
  // The time is a subquery: a function that is called for each row would prevent the use of the index.
  await client.query(
    `delete from trueup_fleet.checks where id in (
       select id from trueup_fleet.checks
       where ended < (select trueup_fleet.now() - make_interval(days => ${daysKept}))
       order by ended limit ${deletedAtOnce} for update skip locked)`,
  );
}
