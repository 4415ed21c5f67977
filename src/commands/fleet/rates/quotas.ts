/** Ceilings for the requests of a whole fleet to a target: the part `quotas` of `fleet.yaml`. */
import { Type } from 'typebox';
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import { closed } from '../../../manifest/schema/place-schemas.ts';
import { quoted } from '../../../model/quoted.ts';

export const quotaSchema = Type.Object(
  {
    target: Type.String({
      format: 'uri',
      pattern: '^https?://',
      patternErrorMessage: 'an address such as https://app.example.com',
      description: 'Address of the target. Its path does not matter',
      examples: ['https://app.example.com'],
    }),
    requestsPerSecond: Type.Number({
      exclusiveMinimum: 0,
      maximum: 10_000,
      description:
        'How many requests all workers together send in any second, for all users of the target. A lower limit that the service announces to a user counts for that user',
      examples: [20],
    }),
  },
  { ...closed, description: 'A ceiling for the requests to one target' },
);

interface QuotaDocument {
  readonly target: string;
  readonly requestsPerSecond: number;
}

/** Requests per second, by origin. */
export type Quotas = ReadonlyMap<string, number>;

export function quotasOf(quotas: readonly QuotaDocument[]): Quotas {
  return new Map(
    quotas.map(({ target, requestsPerSecond }) => [new URL(target).origin, requestsPerSecond] as const),
  );
}

/**
 * @param targets addresses that the stacks of each repository may connect to; undefined: any
 * @returns mistakes, as sentences
 */
export function quotaMistakes(
  quotas: readonly QuotaDocument[],
  targets: readonly (readonly string[] | undefined)[],
): { readonly index: number; readonly message: string }[] {
  const origins = quotas.map(({ target }) => new URL(target).origin);
  const used = targets.flatMap((addresses) => addresses?.map((address) => new URL(address).origin) ?? '');
  return origins.flatMap((origin, index) => {
    if (origins.indexOf(origin) !== index)
      return [{ index, message: `two quotas are for ${quoted(origin)}: keep one of them` }];
    // A quota with a typing error in its address would limit nothing.
    if (!used.includes('') && !used.includes(origin))
      return [
        {
          index,
          message: `no repository may connect to ${quoted(origin)}: "targets" of the repositories have ${[...new Set(used)].map(quoted).join(', ')}`,
        },
      ];
    return [];
  });
}

/** Seconds after which the quotas of a worker without a heartbeat do not count. */
const silentAfterSeconds = 60;

/** Records the quotas of a worker that sent a heartbeat. All workers respect them, even if their own files have others. */
export async function noteQuotas(client: PostgresClient, worker: string, quotas: Quotas): Promise<void> {
  await client.query(
    `with given as (select * from unnest($2::text[], $3::double precision[]) as given (address, per_second)),
     gone as (
       delete from trueup_fleet.quotas where worker = $1 and not (address = any ($2::text[]))
     )
     insert into trueup_fleet.quotas (worker, address, per_second) select $1, address, per_second from given
     on conflict (worker, address) do update set per_second = excluded.per_second`,
    [worker, [...quotas.keys()], [...quotas.values()]],
  );
}

/** SQL, as part of a statement: the quotas that count now, the lowest one of each address. */
export const validQuotas = `select quota.address, min(quota.per_second) as per_second
  from trueup_fleet.quotas as quota join trueup_fleet.workers as worker on worker.id = quota.worker
  where worker.last_seen > trueup_fleet.now() - make_interval(secs => ${silentAfterSeconds}) group by quota.address`;

/** The quota of an address. @param own that of the worker that asks, which counts even if its heartbeats failed; undefined: it has none */
export async function quotaOf(
  client: PostgresClient,
  address: string,
  own: number | undefined,
): Promise<number | undefined> {
  const { rows } = await client.query(`select per_second from (${validQuotas}) as valid where address = $1`, [
    address,
  ]);
  const all = [own, rows[0]?.per_second].filter((one) => one !== undefined).map(Number);
  return all.length === 0 ? undefined : Math.min(...all);
}

export interface Quota {
  readonly target: string;
  readonly requestsPerSecond: number;
}

export async function readQuotas(client: PostgresClient): Promise<readonly Quota[]> {
  const { rows } = await client.query(`${validQuotas} order by quota.address`);
  return rows.map(({ address, per_second }) => ({ target: address, requestsPerSecond: per_second }));
}
