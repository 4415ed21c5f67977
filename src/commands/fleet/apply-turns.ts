/**
 * The turns of applies: an apply waits in a queue until a worker takes its turn. From then on, its stack counts as taken, so that no check
 * reads what is half written. A turn is an attempt with a number, like a check, so that the end of an earlier check is ignored.
 */
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import type { StackId } from './stack-id.ts';
import { isPausedSql } from './target-pauses.ts';

/** Seconds after which a stack is due again if the end of its apply was not reported: longer than any apply. */
const longestTurn = 3600;

/** What the last check found, and the attempt that applies it. */
interface Turn {
  readonly attempt: string;
  /** whether the turn was taken from a worker that lost the job: what that worker wrote is not known */
  readonly isTakenOver: boolean;
  readonly commit: string;
  readonly summary: { readonly stack: string; readonly drifted: number; readonly pending: number };
}

/** Records that the stack waits for its turn. Until the turn, or the end of another check, it does not count as in sync. */
export async function noteQueued(client: PostgresClient, { repository, path }: StackId): Promise<void> {
  await client.query(
    'update trueup_fleet.stacks set apply_queued = coalesce(apply_queued, trueup_fleet.now()) where repository = $1 and path = $2',
    [repository, path],
  );
}

/**
 * Takes a stack for its apply, also from a worker that lost the job: the claim of that worker ends.
 * @returns undefined when a check has the stack and will send the apply again, or when the last check was not complete
 */
export async function takeTurn(
  client: PostgresClient,
  { repository, path }: StackId,
): Promise<Turn | undefined> {
  const { rows } = await client.query(
    `with before as (select applying from trueup_fleet.stacks where repository = $1 and path = $2 for update)
     update trueup_fleet.stacks set attempt = attempt + 1, applying = true, apply_queued = null,
       queued_until = trueup_fleet.now() + make_interval(secs => ${longestTurn})
     from before
     where repository = $1 and path = $2 and removed is null and last_error is null and last_commit is not null
       and last_summary is not null
       and (before.applying
         or (queued_until is null or queued_until < trueup_fleet.now()) and not ${isPausedSql('stacks')})
     returning attempt::text, last_commit as commit, last_summary as summary, before.applying as "isTakenOver"`,
    [repository, path],
  );
  return rows[0] as Turn | undefined;
}

/** Gives a stack back after its apply, unless another worker has it. */
export async function endTurn(
  client: PostgresClient,
  { repository, path }: StackId,
  { attempt }: Pick<Turn, 'attempt'>,
): Promise<void> {
  await client.query(
    `update trueup_fleet.stacks set queued_until = null, applying = false
     where repository = $1 and path = $2 and attempt = $3`,
    [repository, path, attempt],
  );
}
