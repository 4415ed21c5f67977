/**
 * One request limit for all workers of a fleet. A row for each API address and identity holds the time at which the next request may
 * start. A worker reserves start times for about one second in one statement, so the total never exceeds the rate in any second. Start
 * times that a worker does not use are lost.
 */
import { createHmac } from 'node:crypto';
import {
  initialRate,
  highestRate,
  RateController,
  type RatedAnswer,
} from '../../../api/transport/rate-controller.ts';
import { longestDelay } from '../../../api/transport/shared-rate.ts';
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import { quotaOf } from './quotas.ts';

/** The owner of a limit. Several tokens of one user share one limit. */
export interface RateOwner {
  /** of the API */
  readonly address: string;
  /** a keyed hash of a user's id, or of a token whose user is not known (`identityOf`) */
  readonly identity: string;
}

/** What the requests are for. Applies come first, and checks leave a third of each second to others. */
export type RequestPurpose = 'apply' | 'plan' | 'check';

/** Requests for each purpose get start times as long as at most this part of the next second is taken. */
const maxTaken: Readonly<Record<RequestPurpose, number>> = { apply: 1, plan: 0.9, check: 0.7 };

/** Start times for `count` requests, evenly spaced. */
export interface StartTimes {
  /** including those for a late answer (`late`); 0 when there are none yet */
  readonly count: number;
  /** milliseconds from now to the first one, or until it is worth asking again */
  readonly wait: number;
  /** milliseconds between two of them */
  readonly apart: number;
}

interface StartTimesRequest extends RateOwner {
  readonly purpose: RequestPurpose;
  /** how many requests are waiting; at most as many as fit into a second get start times */
  readonly count: number;
  /** milliseconds by which the answer may be late. The start times in them will have passed, so as many are added (`usableStarts`) */
  readonly late?: number | undefined;
  /** requests per second to this address, by the fleet file of the worker that asks */
  readonly quota?: number | undefined;
}

/**
 * Takes start times, in one statement, so that the database decides between workers. With a quota, a start time counts for the user and for
 * all users of the target. A user whose own limit is lower gets start times one by one and not ahead of time: more would delay others.
 */
export async function takeStartTimes(
  client: PostgresClient,
  request: StartTimesRequest,
): Promise<StartTimes> {
  const { address, identity, purpose, count, late = 0 } = request;
  await addRow(client, request);
  const quota = await quotaOf(client, address, request.quota);
  if (quota !== undefined)
    await client.query(
      `insert into trueup_fleet.quota_times (address, next_free) values ($1, trueup_fleet.now()) on conflict do nothing`,
      [address],
    );
  const { rows } = await client.query(takingStatement, [
    ...[address, identity, count, maxTaken[purpose]],
    ...[quota ?? null, maxTaken[purpose] - maxTaken.check],
    Math.min(Math.max(late, 0), longestDelay) / 1000,
  ]);
  const [row] = rows;
  return {
    count: Number(row?.count ?? 0),
    wait: Math.max(0, Math.ceil(Number(row?.wait ?? 0))),
    apart: Number(row?.apart ?? 0),
  };
}

/** Always locks the row of the user before that of the quota: in another order, statements could wait for each other. */
const takingStatement = `with held as (
    select per_second, next_free from trueup_fleet.request_rates where address = $1 and identity = $2 for update
  ), shared as (
    select quota_times.next_free from trueup_fleet.quota_times, held
    where quota_times.address = $1 and $5::double precision is not null for update of quota_times
  ), known as (
    select held.per_second as own, held.next_free as own_free, shared.next_free as shared_free,
      least(held.per_second, $5) as per_second, greatest(held.next_free, shared.next_free) as next_free, trueup_fleet.now() as time
    from held left join shared on true
  ), given as (
    select known.*, greatest(next_free, time) as start, own_free > greatest(shared_free, time) + make_interval(secs => $6) as is_ahead
    from known
  ), counted as (
    select given.*,
      case when next_free - time > make_interval(secs => $4) or (is_ahead and $5 is not null) then 0
        when own < $5 then 1 else least($3, greatest(1, floor(per_second)))::int end as wanted,
      ceil($7 * per_second)::int as spare
    from given
  ), added as (
    select counted.*, case when wanted > 0 then wanted + spare else 0 end as count from counted
  ), moved as (
    update trueup_fleet.request_rates set next_free = added.start + make_interval(secs => added.count / added.per_second)
    from added where address = $1 and identity = $2 and added.count > 0
  ), moved_shared as (
    update trueup_fleet.quota_times set next_free = added.start + make_interval(secs => spare / added.per_second + wanted / $5)
    from added where address = $1 and added.count > 0 and $5 is not null
  )
  select count, 1000 / per_second as apart,
    1000 * extract(epoch from case when count > 0 then start - time
      when is_ahead and $5 is not null then greatest(own_free - time - make_interval(secs => $6), make_interval(secs => 0.001))
      else start - time - make_interval(secs => $4) end) as wait
  from added`;

/** Pauses a user whose request was refused: no worker gets start times for this long. Start times that were taken stay taken. */
export async function pauseRequests(
  client: PostgresClient,
  { address, identity }: RateOwner,
  milliseconds: number,
): Promise<void> {
  await client.query(
    `insert into trueup_fleet.request_rates (address, identity, per_second, next_free)
     values ($1, $2, $3, trueup_fleet.now() + make_interval(secs => $4))
     on conflict (address, identity) do update set next_free = greatest(request_rates.next_free, excluded.next_free)`,
    [address, identity, initialRate, milliseconds / 1000],
  );
}

/**
 * Changes the rate as a single run would (`RateController`), but for all workers: by the limits that the service announces or, without
 * them, by how fast it answers. Call it in a transaction, so that no answer is lost.
 * @param answers undefined for a request without an answer
 */
export async function recordAnswers(
  client: PostgresClient,
  owner: RateOwner,
  answers: readonly (RatedAnswer | undefined)[],
): Promise<void> {
  const { address, identity } = owner;
  await addRow(client, owner);
  const { rows } = await client.query(
    `select state, 1000 * extract(epoch from trueup_fleet.now())::double precision as time
     from trueup_fleet.request_rates where address = $1 and identity = $2 for update`,
    [address, identity],
  );
  const [{ state, time } = { state: null, time: 0 }] = rows;
  const rate = new RateController({
    ...{ initial: initialRate, highest: highestRate, state: state ?? undefined },
    clock: { now: () => time },
  });
  for (const answer of answers) {
    if (answer === undefined) rate.failed();
    else rate.answered(answer);
  }
  await client.query(
    `update trueup_fleet.request_rates set per_second = $3, state = $4,
       next_free = greatest(next_free, trueup_fleet.now() + make_interval(secs => $5))
     where address = $1 and identity = $2`,
    [address, identity, rate.perSecond, JSON.stringify(rate.state), rate.heldFor(0) / 1000],
  );
}

function addRow(client: PostgresClient, { address, identity }: RateOwner): Promise<unknown> {
  return client.query(
    `insert into trueup_fleet.request_rates (address, identity, per_second, next_free)
     values ($1, $2, $3, trueup_fleet.now()) on conflict do nothing`,
    [address, identity, initialRate],
  );
}

/**
 * A token as workers send it. The tables have only a keyed hash of it, which is the same for all workers and of no use to their readers.
 */
export interface TokenOwner {
  readonly address: string;
  /** a hash of the token, or of the role of a login */
  readonly token: string;
}

/** The identity of the user of a token, if the user is known, or else of the token itself. */
export async function identityOf(client: PostgresClient, { address, token }: TokenOwner): Promise<string> {
  const tokenHash = await keyedHash(client, token);
  const { rows } = await client.query(
    'select identity from trueup_fleet.users where address = $1 and token = $2',
    [address, tokenHash],
  );
  return rows[0]?.identity ?? tokenHash;
}

/** Whether the user of the token was asked for less than a day ago. */
export async function isUserKnown(client: PostgresClient, { address, token }: TokenOwner): Promise<boolean> {
  const { rows } = await client.query(
    `select 1 from trueup_fleet.users where address = $1 and token = $2
     and seen > trueup_fleet.now() - interval '1 day'`,
    [address, await keyedHash(client, token)],
  );
  return rows.length > 0;
}

/**
 * Records the user of a token.
 * @param user its id; undefined when the service does not name one, so that the token itself is the identity
 * @returns the identity from now on
 */
export async function recordUser(
  client: PostgresClient,
  { address, token }: TokenOwner,
  user: string | undefined,
): Promise<string> {
  const tokenHash = await keyedHash(client, token);
  const identity = user === undefined ? tokenHash : await keyedHash(client, `user ${user}`);
  await client.query(
    `insert into trueup_fleet.users (address, token, identity, seen) values ($1, $2, $3, trueup_fleet.now())
     on conflict (address, token) do update set identity = excluded.identity, seen = excluded.seen`,
    [address, tokenHash, identity],
  );
  if (identity === tokenHash) return tokenHash;
  // Start times that were taken with the token, and its pauses, count for the user.
  await client.query(
    `with dropped as (
       delete from trueup_fleet.request_rates where address = $1 and identity = $2 returning per_second, next_free
     )
     insert into trueup_fleet.request_rates (address, identity, per_second, next_free)
     select $1, $3, per_second, next_free from dropped
     on conflict (address, identity) do update set next_free = greatest(request_rates.next_free, excluded.next_free)`,
    [address, tokenHash, identity],
  );
  return identity;
}

async function keyedHash(client: PostgresClient, text: string): Promise<string> {
  const read = () => client.query(`select content from trueup_fleet.keys where name = 'token-identity'`);
  let { rows } = await read();
  if (rows.length === 0) {
    await client.query(
      `insert into trueup_fleet.keys (name, content)
       values ('token-identity', decode(replace(concat(gen_random_uuid(), gen_random_uuid()), '-', ''), 'hex'))
       on conflict do nothing`,
    );
    ({ rows } = await read());
  }
  return createHmac('sha256', rows[0]?.content).update(text).digest('hex');
}
