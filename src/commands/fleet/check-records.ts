/** What is kept of each check: a row for 30 days, and of each stack the report of its last complete check. */
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import type { DriftJson } from '../../report/json/drift-schema.ts';
import { boundedReport, type CheckResult } from './check-result.ts';
import type { StackId } from './schedule.ts';

const daysKept = 30;

/** Rows that are deleted at a time: each check deletes as many as there are new ones, and some more. */
const deletedAtOnce = 20;

/** Records a check whose end was recorded, in the same transaction; a second time changes nothing. */
export async function noteCheck(
  client: PostgresClient,
  { repository, path }: StackId,
  attempt: string,
  { error, errorCode, summary, report, commit }: CheckResult & { readonly commit?: string },
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

/** The addresses that a stack uses, as far as a report has them. */
function targetAddresses(report: Pick<DriftJson, 'targets'> | undefined): string[] {
  const addresses = (report?.targets ?? []).flatMap(({ url }) =>
    /^https?:/.test(url) && URL.canParse(url) ? [new URL(url).origin] : [],
  );
  return [...new Set(addresses)].sort();
}

async function deleteOldChecks(client: PostgresClient): Promise<void> {
  // The time as a subquery: a function that is called for each row would use no index.
  await client.query(
    `delete from trueup_fleet.checks where id in (
       select id from trueup_fleet.checks
       where ended < (select trueup_fleet.now() - make_interval(days => ${daysKept}))
       order by ended limit ${deletedAtOnce} for update skip locked)`,
  );
}
