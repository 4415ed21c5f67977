/**
 * Targets that answer reads and refuse writes. When applies of several stacks fail in the same way at one target, and none succeeds
 * meanwhile, they try again one at a time. After a success, the others try again as well.
 */
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import { quoted } from '../../../model/quoted.ts';

/** When the applies of this many stacks fail in the same way, the applies to their target are paused. */
const failingStacks = 5;

/** Hours after which a failure no longer counts. An apply takes less than one. */
const failureHours = 24;

/**
 * Why a stack must not be applied now: one of its targets is paused.
 * Statuses 400 to 499, except 408 and 429, do not count: they are about the stack that sent the request, not about the target.
 *
 * The stack whose last try is the longest ago tries next, so that a stack that always fails for a reason of its own does not hold up the
 * others. Stacks that cannot try now come last: their checks fail, no worker checks them, or their back-off is not over.
 */
export async function applyPause(
  client: PostgresClient,
  { repository, path }: { readonly repository: string; readonly path: string },
): Promise<string | undefined> {
  const { rows } = await client.query(
    `with clock as materialized (select trueup_fleet.now() as time), failed as (
       select target, waiting.repository, waiting.path, last.ended, substring(last.reason from ' answered (408|429|5\\d\\d)\\y') as status,
         other.last_error is not null or coalesce(other.last_complete, other.first_seen) < time - make_interval(secs => 2 * other.seconds_between_checks) as is_unchecked,
         coalesce(waiting.next_try > time and waiting.tree = other.started_tree, false) as backs_off
       from clock cross join trueup_fleet.stacks as own cross join unnest(own.targets) as target
       join trueup_fleet.stacks as other on target = any(other.targets) and other.removed is null
       join trueup_fleet.waiting_applies as waiting on waiting.repository = other.repository and waiting.path = other.path
       cross join lateral (
         select outcome, reason, ended from trueup_fleet.applies as apply
         where apply.repository = other.repository and apply.path = other.path and ended is not null order by id desc limit 1
       ) as last
       where own.repository = $1 and own.path = $2 and because in ('retry', 'target') and last.outcome in ('failed', 'partial')
         and last.ended > time - make_interval(hours => ${failureHours})
     ), succeeded as (
       select target, max(apply.ended) as at
       from trueup_fleet.applies as apply join trueup_fleet.stacks as done using (repository, path) cross join unnest(done.targets) as target
       where apply.outcome = 'applied' and apply.started > (select time - make_interval(hours => ${failureHours + 1}) from clock)
       group by target
     ), counted as (
       select failed.*, count(*) over (partition by target, status) as stacks,
         first_value(row(repository, path)) over (partition by target, status order by is_unchecked, backs_off, ended, repository, path) as next
       from failed left join succeeded using (target)
       where status is not null and (at is null or at <= ended)
     )
     select target, status, max(stacks)::int as stacks from counted
     where stacks >= ${failingStacks} and next <> row($1::text, $2::text)
     group by target, status order by target limit 1`,
    [repository, path],
  );
  const [pause] = rows;
  return pause === undefined
    ? undefined
    : `applies to ${quoted(String(pause.target))} are paused: those of ${pause.stacks} stacks failed with status ${pause.status}, and one of them at a time tries again`;
}
