/**
 * The key under which the database records what was sent to a channel. It begins with the name of the fleet, because fleets that share a
 * database may give notifications the same names. An old key has no fleet.
 */
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import { isOfStack, stackOf } from './pending.ts';

/** @param key of the channel, without its fleet */
export function channelKey(fleet: string, key: string): string {
  return `${fleet}/${key}`;
}

/** The key without the name of the fleet. */
export function keyInFleet(fleet: string, key: string): string {
  return key.slice(channelKey(fleet, '').length);
}

/**
 * Moves what was sent under the old key of a channel to its new key, unless the new key has a row, so that nothing is sent again. Records
 * about repositories of other fleets stay under the old key; records that may belong to both are copied. Call it in a transaction.
 */
export async function takeOverOldKey(client: PostgresClient, fleet: string, key: string): Promise<void> {
  const old = keyInFleet(fleet, key);
  const { rows: added } = await client.query(
    `insert into trueup_fleet.channels (name, claimed_until, last_success)
     select $1, old.claimed_until, old.last_success
     from (select $2::text as name) as given left join trueup_fleet.channels as old using (name)
     on conflict (name) do nothing returning name`,
    [key, old],
  );
  if (added.length === 0) return;
  const sent = await client.query('select topic from trueup_fleet.sent_messages where channel = $1', [old]);
  const topics = sent.rows.map(({ topic }) => String(topic));
  const owners = await ownersOf(client, fleet);
  await copySent(client, { old, key, topics: topics.filter((topic) => mayBeOurs(topic, owners)), owners });
  const onlyOurs = topics.filter((topic) => !mayBeOfOthers(topic, owners));
  await client.query('delete from trueup_fleet.sent_messages where channel = $1 and topic = any($2)', [
    ...[old, onlyOurs],
  ]);
  await client.query('delete from trueup_fleet.channels where name = $1', [old]);
  await client.query(
    'update trueup_fleet.sent_messages set last_error = null, failing_since = null where channel = $1',
    [old],
  );
}

interface Owners {
  /** repositories of this fleet */
  readonly own: ReadonlySet<string>;
  /** those of other fleets */
  readonly others: ReadonlySet<string>;
}

async function ownersOf(client: PostgresClient, fleet: string): Promise<Owners> {
  const { rows } = await client.query('select fleet, name from trueup_fleet.repositories');
  const names = (isOwn: boolean) =>
    new Set(rows.filter((row) => (row.fleet === fleet) === isOwn).map(({ name }) => String(name)));
  return { own: names(true), others: names(false) };
}

function mayBeOurs(topic: string, { own, others }: Owners): boolean {
  if (!isOfStack(topic)) return true;
  const { repository } = stackOf(topic);
  return own.has(repository) || !others.has(repository);
}

function mayBeOfOthers(topic: string, { others }: Owners): boolean {
  return isOfStack(topic) ? others.has(stackOf(topic).repository) : others.size > 0;
}

async function copySent(
  client: PostgresClient,
  {
    old,
    key,
    topics,
    owners,
  }: {
    readonly old: string;
    readonly key: string;
    readonly topics: readonly string[];
    readonly owners: Owners;
  },
): Promise<void> {
  const columns = 'topic, hash, drift, digest, issue, posting, failures, next_try, failing_since, last_error';
  await client.query(
    `insert into trueup_fleet.sent_messages (channel, ${columns})
     select $1, ${columns} from trueup_fleet.sent_messages where channel = $2 and topic = any($3)`,
    [key, old, topics],
  );
  await client.query(
    `update trueup_fleet.digests set channel = $1 where channel = $2 and ($3 or exists (
       select from trueup_fleet.sent_messages as sent where sent.channel = $1 and sent.digest = digests.id))`,
    [key, old, owners.others.size === 0],
  );
}
