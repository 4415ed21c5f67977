/** What was sent to each channel, in the database, and which worker sends to it now. All times are those of the database. */
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import type { DriftJson } from '../../../report/json/drift-schema.ts';
import {
  type Digest,
  type OpenDrift,
  type PausedTarget,
  type Situation,
  stackOf,
  stackTopic,
  targetTopic,
  type Sent,
} from './pending.ts';
import type { Channel } from './settings.ts';

/** Seconds for which one worker may send to a channel. After that, another worker may. */
export const claimSeconds = 120;

/** Seconds until a failed message is tried again: the first time, then doubled each time, up to the longest. */
const firstRetry = 30;
const longestRetry = 1800;

export interface Claim {
  readonly channel: string;
  readonly number: string;
}

/** Takes a channel that no worker sends to now. @returns undefined if there is none */
export async function claimChannel(
  client: PostgresClient,
  channels: readonly string[],
): Promise<Claim | undefined> {
  await client.query(
    'insert into trueup_fleet.channels (name) select unnest($1::text[]) on conflict (name) do nothing',
    [channels],
  );
  const { rows } = await client.query(
    `update trueup_fleet.channels as taken
     set claim = claim + 1, claimed_until = trueup_fleet.now() + make_interval(secs => ${claimSeconds})
     from (
       select name from trueup_fleet.channels
       where name = any($1) and (claimed_until is null or claimed_until < trueup_fleet.now())
         and (next_try is null or next_try <= trueup_fleet.now())
       order by claimed_until nulls first for update skip locked limit 1
     ) as free
     where taken.name = free.name returning taken.name, taken.claim::text`,
    [channels],
  );
  const [row] = rows;
  return row && { channel: row.name, number: row.claim };
}

const isOurs = `exists (select 1 from trueup_fleet.channels
  where name = $1 and claim = $2 and claimed_until > trueup_fleet.now())`;

/** Whether no other worker has taken the channel since. */
export async function isHeld(client: PostgresClient, { channel, number }: Claim): Promise<boolean> {
  const { rows } = await client.query(`select ${isOurs} as ours`, [channel, number]);
  return rows[0]?.ours === true;
}

/** Ends a claim. @param error why nothing can be sent to the channel; undefined after success */
export async function releaseChannel(
  client: PostgresClient,
  { channel, number }: Claim,
  error: string | undefined,
): Promise<void> {
  const hasFailed = '$3::text is not null';
  await client.query(
    `update trueup_fleet.channels set
       claimed_until = null,
       last_error = $3,
       failures = case when ${hasFailed} then failures + 1 else 0 end,
       failing_since = case when ${hasFailed} then coalesce(failing_since, trueup_fleet.now()) end,
       next_try = case when ${hasFailed} then ${nextTry} end,
       last_success = case when ${hasFailed} then last_success else trueup_fleet.now() end
     where name = $1 and claim = $2`,
    [channel, number, error ?? null],
  );
}

const nextTry = `trueup_fleet.now() + make_interval(secs => least(${firstRetry} * power(2, least(failures, 20)), ${longestRetry}))`;

/** Records why this worker cannot send to a channel, unless another worker sent to it within the last hour. */
export async function noteUnable(client: PostgresClient, channel: string, error: string): Promise<void> {
  await client.query(
    `insert into trueup_fleet.channels (name, last_error, failing_since) values ($1, $2, trueup_fleet.now())
     on conflict (name) do update set last_error = excluded.last_error,
       failing_since = coalesce(channels.failing_since, excluded.failing_since)
     where channels.last_success is null
       or channels.last_success < trueup_fleet.now() - interval '1 hour'`,
    [channel, error],
  );
}

/** The present state, and what was sent to the channel. */
export async function readSituation(
  client: PostgresClient,
  { key, repositories, reportsPauses }: Channel,
): Promise<Situation & { readonly window: number }> {
  const drifts = await client.query(
    `select id::text, repository, path, stack, hash, changed::text, extract(epoch from trueup_fleet.now() - opened)::float8 as age
     from trueup_fleet.drifts where closed is null and repository = any($1) order by opened, repository, path`,
    [repositories],
  );
  const sent = await client.query(
    `select *, (next_try is not null and next_try > trueup_fleet.now()) as waits
     from trueup_fleet.sent_messages where channel = $1 order by topic`,
    [key],
  );
  const digests = await client.query(
    'select id::text, sent is not null as sent from trueup_fleet.digests where channel = $1 and closed is null order by id',
    [key],
  );
  const pauses = await client.query(
    'select id::text, address, reason from trueup_fleet.target_pauses where until is null order by id',
  );
  const others = await client.query(
    'select repository, path from trueup_fleet.drifts where closed is null and not (repository = any($1))',
    [repositories],
  );
  const window = await client.query(
    `select coalesce(max(seconds_between_checks), 0)::float8 as seconds
     from trueup_fleet.stacks where removed is null and repository = any($1)`,
    [repositories],
  );
  return {
    drifts: drifts.rows as OpenDrift[],
    pauses: reportsPauses ? (pauses.rows as PausedTarget[]) : [],
    otherTopics: [
      ...others.rows.map(({ repository, path }) => stackTopic({ repository, path })),
      ...(reportsPauses ? [] : (pauses.rows as PausedTarget[]).map(targetTopic)),
    ],
    sent: sent.rows.map(sentOf),
    digests: digests.rows.map(({ id, sent }): Digest => ({ id, isSent: sent })),
    window: Math.min(3600, window.rows[0]?.seconds ?? 0),
  };
}

function sentOf(row: Record<string, unknown>): Sent {
  const text = (name: string) => (row[name] === null ? undefined : String(row[name]));
  const posting = row['posting'];
  return {
    topic: String(row['topic']),
    hash: text('hash'),
    drift: text('drift'),
    digest: text('digest'),
    issue: row['issue'] === null ? undefined : Number(row['issue']),
    posting: posting instanceof Date ? posting.toISOString() : undefined,
    waits: row['waits'] === true,
  };
}

/** Makes one message about many drifts, which count as sent from now on. */
export async function makeDigest(
  client: PostgresClient,
  channel: string,
  drifts: readonly OpenDrift[],
): Promise<void> {
  const { rows } = await client.query(
    'insert into trueup_fleet.digests (channel, made) values ($1, trueup_fleet.now()) returning id::text',
    [channel],
  );
  await client.query(
    `insert into trueup_fleet.sent_messages (channel, topic, hash, drift, digest)
     select $1, topic, hash, drift, $2::bigint from unnest($3::text[], $4::text[], $5::bigint[]) as given (topic, hash, drift)
     on conflict (channel, topic) do update set hash = excluded.hash, drift = excluded.drift, digest = excluded.digest`,
    [
      ...[channel, rows[0]?.id],
      drifts.map(stackTopic),
      drifts.map(({ hash }) => hash),
      drifts.map(({ id }) => id),
    ],
  );
}

/** Removes stacks whose drift is gone from their digest: they get no messages of their own. */
export async function forget(client: PostgresClient, channel: string, topics: readonly string[]) {
  await client.query(
    'update trueup_fleet.sent_messages set hash = null, digest = null where channel = $1 and topic = any($2)',
    [channel, topics],
  );
  await client.query(
    `update trueup_fleet.digests set closed = trueup_fleet.now()
     where channel = $1 and sent is null and closed is null and not exists (
       select 1 from trueup_fleet.sent_messages where sent_messages.channel = $1 and sent_messages.digest = digests.id)`,
    [channel],
  );
}

/** Call it before a message is sent. @returns when the first attempt began, by the real clock: it is compared with times of services */
export async function notePosting(client: PostgresClient, channel: string, topic: string): Promise<string> {
  const { rows } = await client.query(
    `insert into trueup_fleet.sent_messages (channel, topic, posting) values ($1, $2, clock_timestamp())
     on conflict (channel, topic) do update set posting = coalesce(sent_messages.posting, excluded.posting)
     returning posting`,
    [channel, topic],
  );
  return rows[0]?.posting.toISOString() ?? '';
}

export async function noteIssue(
  client: PostgresClient,
  channel: string,
  topic: string,
  issue: number,
): Promise<void> {
  await client.query('update trueup_fleet.sent_messages set issue = $3 where channel = $1 and topic = $2', [
    ...[channel, topic, issue],
  ]);
}

interface Delivered {
  readonly topic: string;
  readonly hash: string | undefined;
  readonly drift: string | undefined;
  /** set for a message about a digest */
  readonly digest: { readonly id: string; readonly event: 'opened' | 'closed' } | undefined;
}

/** Records a sent message, unless another worker has taken the channel since: that one knows better what was sent last. */
export async function noteSent(
  client: PostgresClient,
  { channel, number }: Claim,
  { topic, hash, drift, digest }: Delivered,
): Promise<void> {
  const { rows } = await client.query(
    `update trueup_fleet.sent_messages set hash = $3, drift = $4::bigint, digest = null, posting = null,
       failures = 0, next_try = null, failing_since = null, last_error = null
     where channel = $1 and topic = $2
       and exists (select 1 from trueup_fleet.channels where name = $1 and claim = $5) returning topic`,
    [channel, topic, hash ?? null, drift ?? null, number],
  );
  if (digest !== undefined && rows.length > 0)
    await client.query(
      `update trueup_fleet.digests set ${digest.event === 'opened' ? 'sent' : 'closed'} = trueup_fleet.now() where id = $1`,
      [digest.id],
    );
}

/** Records that one message cannot be sent, although the channel accepts others. */
export async function noteFailed(
  client: PostgresClient,
  channel: string,
  topic: string,
  error: string,
): Promise<void> {
  await client.query(
    `update trueup_fleet.sent_messages set failures = failures + 1, next_try = ${nextTry},
       failing_since = coalesce(failing_since, trueup_fleet.now()), last_error = $3
     where channel = $1 and topic = $2`,
    [channel, topic, error],
  );
}

/** The newest report of a stack, and since when it has drift. */
interface StackDrift {
  readonly stack: string;
  readonly opened: string;
  readonly changed: string;
  readonly report: DriftJson;
}

export async function readStackDrift(
  client: PostgresClient,
  { repository, path }: { readonly repository: string; readonly path: string },
): Promise<StackDrift | undefined> {
  const { rows } = await client.query(
    `select drifts.stack, opened, changed, coalesce(last_report, report) as report
     from trueup_fleet.drifts join trueup_fleet.stacks using (repository, path)
     where repository = $1 and path = $2 and closed is null`,
    [repository, path],
  );
  const [row] = rows;
  return (
    row && {
      ...{ stack: row.stack, report: row.report as DriftJson },
      ...{ opened: row.opened.toISOString(), changed: row.changed.toISOString() },
    }
  );
}

/** How the last drift of a stack ended. */
export async function readEnd(
  client: PostgresClient,
  { repository, path }: { readonly repository: string; readonly path: string },
): Promise<{ readonly stack: string; readonly at: string; readonly because: string } | undefined> {
  const { rows } = await client.query(
    `select stack, closed, closed_because from trueup_fleet.drifts
     where repository = $1 and path = $2 and closed is not null order by id desc limit 1`,
    [repository, path],
  );
  const [row] = rows;
  return row && { stack: row.stack, at: row.closed.toISOString(), because: row.closed_because };
}

interface DigestMember {
  readonly repository: string;
  readonly path: string;
  readonly stack: string;
  readonly resources: number;
  readonly opened: string;
}

export async function readMembers(
  client: PostgresClient,
  channel: string,
  digest: string,
): Promise<DigestMember[]> {
  const { rows } = await client.query(
    `select repository, path, stack, resources, opened from trueup_fleet.sent_messages
     join trueup_fleet.drifts on drifts.id = sent_messages.drift
     where sent_messages.channel = $1 and sent_messages.digest = $2 order by repository, path`,
    [channel, digest],
  );
  return rows.map(({ repository, path, stack, resources, opened }) => ({
    ...{ repository, path, stack, resources, opened: opened.toISOString() },
  }));
}

/** A channel that nothing can be sent to, or one of its messages that cannot be sent. Times are in milliseconds since 1970. */
export interface Undelivered {
  readonly channel: string;
  /** what a single message is about, in words */
  readonly about?: string;
  readonly since: number;
  readonly error: string;
  readonly nextTry: number | undefined;
}

export async function readUndelivered(client: PostgresClient): Promise<Undelivered[]> {
  const { rows } = await client.query(
    `select name as channel, null as topic, failing_since, last_error, next_try
     from trueup_fleet.channels where last_error is not null
     union all
     select channel, topic, failing_since, last_error, next_try
     from trueup_fleet.sent_messages where last_error is not null
     order by failing_since, channel, topic`,
  );
  return rows.map(({ channel, topic, failing_since, last_error, next_try }) => ({
    ...{ channel, error: last_error, since: failing_since?.getTime() ?? 0 },
    ...(topic === null ? {} : { about: aboutOf(topic) }),
    nextTry: next_try?.getTime(),
  }));
}

function aboutOf(topic: string): string {
  if (!topic.startsWith('stack ')) return topic;
  return Object.values(stackOf(topic)).join('/');
}
