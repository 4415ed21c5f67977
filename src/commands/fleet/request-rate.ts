/**
 * One limit of requests for all workers of a fleet. A row for each API address and identity holds the time at which the next request may
 * start. A worker reserves start times for about one second in one statement, so the total never exceeds the rate in any second. Start
 * times that a worker does not use are lost.
 */
import { createHmac } from 'node:crypto';
import type { PostgresClient } from '../../ledger/postgres-connection.ts';

/** Whose limit it is. Several tokens of one user share one limit. */
interface RateOwner {
  /** of the API */
  readonly address: string;
  /** the id of a user, or of a token that names no user (`hiddenToken`) */
  readonly identity: string;
}

/** What the requests are for. Applies come first, and checks leave a third of each second to others. */
export type RequestPurpose = 'apply' | 'plan' | 'check';

/** The part of the next second that may be taken already when requests for this purpose still get start times. */
const fullest: Readonly<Record<RequestPurpose, number>> = { apply: 1, plan: 0.9, check: 0.7 };

/** Requests per second of an owner that is new. */
export const initialRate = 30;

/** Start times for `count` requests, evenly spaced. */
export interface StartTimes {
  /** 0 when there are none yet */
  readonly count: number;
  /** milliseconds from now to the first one, or until it is worth asking again */
  readonly wait: number;
  /** milliseconds between two of them */
  readonly apart: number;
}

interface Wish extends RateOwner {
  readonly purpose: RequestPurpose;
  /** how many requests are waiting; at most as many as a second has are given */
  readonly count: number;
}

/** Takes start times. One statement, so that the database decides between workers. */
export async function takeStartTimes(client: PostgresClient, wish: Wish): Promise<StartTimes> {
  const { address, identity, purpose, count } = wish;
  await client.query(
    `insert into trueup_fleet.request_rates (address, identity, per_second, next_free)
     values ($1, $2, $3, trueup_fleet.now()) on conflict do nothing`,
    [address, identity, initialRate],
  );
  const { rows } = await client.query(
    `with held as (
       select per_second, next_free, trueup_fleet.now() as time from trueup_fleet.request_rates
       where address = $1 and identity = $2 for update
     ), given as (
       select per_second, time, greatest(next_free, time) as start,
         case when next_free - time > make_interval(secs => $4) then 0
           else least($3, greatest(1, floor(per_second)))::int end as count
       from held
     ), moved as (
       update trueup_fleet.request_rates set next_free = given.start + make_interval(secs => given.count / given.per_second)
       from given where address = $1 and identity = $2 and given.count > 0
     )
     select count, 1000 / per_second as apart,
       1000 * extract(epoch from case when count > 0 then start - time else start - time - make_interval(secs => $4) end) as wait
     from given`,
    [address, identity, count, fullest[purpose]],
  );
  const [row] = rows;
  return {
    count: Number(row?.count ?? 0),
    wait: Math.max(0, Math.ceil(Number(row?.wait ?? 0))),
    apart: Number(row?.apart ?? 0),
  };
}

/** No worker gets a start time for this long, because the service refused a request. Start times that were taken stay taken. */
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

/** The identity of a token whose user is not known: the same for all workers, and useless to a reader of the table. */
export async function hiddenToken(client: PostgresClient, token: string): Promise<string> {
  await client.query(
    `insert into trueup_fleet.keys (name, content)
     values ('token-identity', decode(replace(concat(gen_random_uuid(), gen_random_uuid()), '-', ''), 'hex'))
     on conflict do nothing`,
  );
  const { rows } = await client.query(`select content from trueup_fleet.keys where name = 'token-identity'`);
  return createHmac('sha256', rows[0]?.content).update(token).digest('hex');
}
