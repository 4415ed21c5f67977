/**
 * The tables of a fleet, in the schema `trueup_fleet` of one PostgreSQL database. All times are read from the database, with
 * `trueup_fleet.now()`, because the clocks of the workers differ. Tests move that time.
 */
import type { StoreTables } from '../../ledger/postgres-connection.ts';

/** The schema of the tables of pg-boss, which carries out jobs. */
export const jobSchema = 'trueup_fleet_jobs';

const migrations = [
  // A row in "moved_time" moves the time; only tests insert one. The clock must advance within a transaction, which "now()" of the server
  // does not. "keys" has random keys: the id of this database, and the key for the hashes of tokens.
  `create table trueup_fleet.moved_time (ahead interval not null);
   create function trueup_fleet.now() returns timestamptz language sql volatile as
     'select clock_timestamp() + coalesce((select sum(ahead) from trueup_fleet.moved_time), interval ''0'')';
   create table trueup_fleet.stacks (
     repository text not null,
     path text not null,
     seconds_between_checks double precision not null,
     phase double precision not null,
     next_due timestamptz not null,
     forced boolean not null default false,
     queued_until timestamptz,
     failures integer not null default 0,
     attempt bigint not null default 0,
     first_seen timestamptz not null,
     last_started timestamptz,
     last_complete timestamptz,
     last_commit text,
     tree text not null,
     last_error text,
     last_summary json,
     removed timestamptz,
     primary key (repository, path)
   );
   create index stacks_due on trueup_fleet.stacks (next_due) where removed is null;
   create table trueup_fleet.request_rates (
     address text not null,
     identity text not null,
     per_second double precision not null,
     next_free timestamptz not null,
     primary key (address, identity)
   );
   create table trueup_fleet.keys (
     name text primary key,
     content bytea not null
   );`,
  // The request rate depends on the answers of services, and all tokens of a user share it.
  `alter table trueup_fleet.request_rates add column state json;
   create table trueup_fleet.users (
     address text not null,
     token text not null,
     identity text not null,
     seen timestamptz not null,
     primary key (address, token)
   );`,
  // One row for each check that ended, kept for 30 days.
  `alter table trueup_fleet.stacks add column last_report json;
   alter table trueup_fleet.stacks add column targets text[];
   create table trueup_fleet.checks (
     id bigint generated always as identity primary key,
     repository text not null,
     path text not null,
     attempt bigint not null,
     started timestamptz not null,
     ended timestamptz not null,
     error text,
     error_code text,
     drifted integer,
     commit text,
     unique (repository, path, attempt)
   );
   create index checks_ended on trueup_fleet.checks (ended);`,
  // The workers, and the repositories in their fleet files. "named": when a worker of the fleet last listed the repository. "problem": why
  // it could not be read.
  `create table trueup_fleet.workers (
     id text primary key,
     host text not null,
     pid integer not null,
     fleet text not null,
     version text not null,
     started timestamptz not null,
     last_seen timestamptz not null,
     concurrency integer not null,
     shard text,
     running integer not null,
     problem text
   );
   create table trueup_fleet.repositories (
     fleet text not null,
     name text not null,
     named timestamptz not null,
     problem text,
     primary key (fleet, name)
   );`,
  // Drift from the check that first found it to the one that found it gone, and targets that are paused.
  `create table trueup_fleet.drifts (
     id bigint generated always as identity primary key,
     repository text not null,
     path text not null,
     stack text not null,
     hash text not null,
     opened timestamptz not null,
     changed timestamptz not null,
     closed timestamptz,
     closed_because text,
     resources integer not null,
     report json not null
   );
   create unique index drifts_open on trueup_fleet.drifts (repository, path) where closed is null;
   create index drifts_of_stack on trueup_fleet.drifts (repository, path, opened);
   create table trueup_fleet.target_failures (
     address text not null,
     class text not null,
     repository text not null,
     path text not null,
     at timestamptz not null,
     primary key (address, class, repository, path)
   );
   create table trueup_fleet.target_pauses (
     id bigint generated always as identity primary key,
     address text not null,
     since timestamptz not null,
     until timestamptz,
     class text not null,
     reason text not null,
     stacks integer not null,
     next_probe timestamptz not null,
     probes integer not null default 0,
     probe_repository text,
     probe_path text
   );
   create unique index target_pauses_open on trueup_fleet.target_pauses (address) where until is null;`,
  // "told": when a webhook last reported that a repository has something new. "read": when the repository was read after that.
  `create table trueup_fleet.pushes (
     repository text primary key,
     told timestamptz not null,
     read timestamptz
   );`,
  // Where messages about drift are sent, and what was sent last. What to send is computed from this, so a restart repeats nothing. A row of
  // "digests" is a message that sums up several drifts, and "digest" is its id; neither is the hash of a plan.
  `create table trueup_fleet.channels (
     name text primary key,
     claim bigint not null default 0,
     claimed_until timestamptz,
     failures integer not null default 0,
     next_try timestamptz,
     failing_since timestamptz,
     last_error text,
     last_success timestamptz
   );
   create table trueup_fleet.told (
     channel text not null,
     topic text not null,
     hash text,
     drift bigint,
     digest bigint,
     issue bigint,
     posting timestamptz,
     failures integer not null default 0,
     next_try timestamptz,
     failing_since timestamptz,
     last_error text,
     primary key (channel, topic)
   );
   create table trueup_fleet.digests (
     id bigint generated always as identity primary key,
     channel text not null,
     made timestamptz not null,
     sent timestamptz,
     closed timestamptz
   );`,
  // Who caused drift, by the audit trail; and how many requests the last complete check of each stack sent, to compute how many all need.
  `alter table trueup_fleet.drifts add column actors text[] not null default '{}';
   create table trueup_fleet.stack_requests (
     repository text not null,
     path text not null,
     address text not null,
     identity text not null,
     requests integer not null,
     primary key (repository, path, address, identity)
   );`,
  // "began": when the repository read began that last scheduled the stacks of the repository. "started_tree": the git tree with the files
  // of a stack when a worker last started a check or an apply of it.
  `create table trueup_fleet.repository_reads (
     repository text primary key,
     began timestamptz not null
   );
   alter table trueup_fleet.stacks add column started_tree text;`,
  // Applies that a worker started, and why the apply of a stack waits. "begun": the writes have begun, and may not be complete. An open row
  // with a lease belongs to only one attempt.
  `create table trueup_fleet.applies (
     id bigint generated always as identity primary key,
     repository text not null,
     path text not null,
     attempt bigint not null,
     commit text not null,
     tree text,
     begun boolean not null default false,
     started timestamptz not null,
     leased_until timestamptz not null,
     ended timestamptz,
     outcome text,
     reason text,
     code text,
     changes integer,
     people text[] not null default '{}'
   );
   create unique index applies_open on trueup_fleet.applies (repository, path) where ended is null;
   create index applies_of_stack on trueup_fleet.applies (repository, path, started);
   create index applies_started on trueup_fleet.applies (started);
   create table trueup_fleet.waiting_applies (
     repository text not null,
     path text not null,
     since timestamptz not null,
     because text not null,
     reason text not null,
     commit text not null,
     until timestamptz,
     failures integer not null default 0,
     next_try timestamptz,
     plan json,
     primary key (repository, path)
   );`,
  // The access that each stack grants, so that a search finds it in all stacks. "gives": `login` or `state`. "who": the service accounts
  // that may log in, or the readers of the state. "places": the namespaces of these accounts. "words": all these names, in lower case.
  `create table trueup_fleet.access (
     repository text not null,
     path text not null,
     address text not null,
     gives text not null,
     who text[] not null,
     places text[] not null,
     policies text[] not null,
     details jsonb not null,
     words text not null,
     has_patterns boolean not null,
     primary key (repository, path, address)
   );
   create index access_in_order on trueup_fleet.access (repository collate "C", path collate "C", address collate "C");`,
  // The maximum request rates (quotas) in the fleet files of the workers, and when the next request to each target may start.
  `create table trueup_fleet.quotas (
     worker text not null references trueup_fleet.workers (id) on delete cascade,
     address text not null,
     per_second double precision not null,
     primary key (worker, address)
   );
   create table trueup_fleet.quota_times (
     address text primary key,
     next_free timestamptz not null
   );`,
  // Whether the worker that has the stack applies it; false while it checks the stack.
  'alter table trueup_fleet.stacks add column applying boolean not null default false;',
  // The labels of the stack files when the repository was read.
  `alter table trueup_fleet.stacks add column labels jsonb not null default '{}';`,
  // The files whose apply waits: a commit that does not change them does not end the back-off of a failed apply.
  'alter table trueup_fleet.waiting_applies add column tree text;',
  'alter table trueup_fleet.told rename to sent_messages;',
  // Since when the job of an apply waits for a worker.
  'alter table trueup_fleet.stacks add column apply_queued timestamptz;',
  // Which repository a fleet uses under a name: its address without a login, and its branch. Both are null in the row of a fleet that is
  // refused because another fleet uses the name for another repository or branch.
  'alter table trueup_fleet.repositories add column url text, add column ref text;',
];

export const fleetTables: StoreTables = { schema: 'trueup_fleet', migrations };
