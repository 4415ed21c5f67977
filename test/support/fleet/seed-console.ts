/** A fleet after many checks: stacks of all statuses, drifts, applies, workers, rates. It is the same for the same number of stacks. */
import type pg from 'pg';
import { scheduleStacks } from '../../../src/commands/fleet/schedule.ts';
import { noteWorker } from '../../../src/commands/fleet/workers.ts';
import { drifted, reportOf } from './reports.ts';

const repositories = ['platform', 'payments', 'data', 'mobile-apps', 'network'];

/**
 * Of ten stacks, two have drift, one fails, one is stale and one was never checked. Of 21, one has a waiting apply.
 * @param checks of each stack
 */
export async function seedFleet(client: pg.Client, stacks: number, { checks = 3 } = {}): Promise<void> {
  const each = Math.ceil(stacks / repositories.length);
  for (const repository of repositories)
    await scheduleStacks(
      client,
      repository,
      Array.from({ length: each }, (_, index) => ({
        ...{ repository, tree: 'first', seconds: index % 7 === 0 ? 3600 : 900 },
        path: `teams/team-${index % 40}/stack-${String(index).padStart(4, '0')}/trueup.yaml`,
      })),
    );
  const report = reportOf({
    drifted: [
      drifted('api', 'changed by hand', { touched: touchedBy('ann') }),
      drifted('worker', 'changed, too'),
    ],
  });
  const clean = reportOf();
  await client.query(
    `with numbered as (select repository, path, row_number() over (order by path, repository) % 10 as kind, phase from trueup_fleet.stacks)
     update trueup_fleet.stacks as stack set
       first_seen = trueup_fleet.now() - interval '20 days',
       next_due = trueup_fleet.now() + make_interval(secs => stack.phase * 900),
       last_started = trueup_fleet.now() - make_interval(secs => stack.phase * 890 + 5),
       last_complete = case when kind = 4 then null when kind = 3 then trueup_fleet.now() - interval '9 hours'
         else trueup_fleet.now() - make_interval(secs => stack.phase * 890) end,
       last_commit = md5(stack.repository) || 'abcdef01',
       last_error = case when kind = 2 then 'target "main" could not be read: the service answered 503 for two minutes' end,
       failures = case when kind = 2 then 3 else 0 end,
       last_summary = case when kind = 4 then null when kind in (0, 1) then '{"stack":"one","drifted":2,"pending":1}'::json else '{"stack":"one","drifted":0,"pending":0}'::json end,
       last_report = case when kind = 4 then null when kind in (0, 1) then $1::json else $2::json end,
       targets = array['https://app.example.com'],
       attempt = 5
     from numbered where stack.repository = numbered.repository and stack.path = numbered.path`,
    [JSON.stringify(report), JSON.stringify(clean)],
  );
  // Stacks that wait for their first check are new.
  await client.query(
    'update trueup_fleet.stacks set first_seen = trueup_fleet.now() where last_complete is null',
  );
  await seedRecords(client, JSON.stringify(report), checks);
  await seedApplies(client);
  await seedAccess(client);
}

function touchedBy(name: string) {
  return {
    touches: [
      {
        ...{ at: '2025-12-31T22:10:00Z', event: 'ev-1' },
        actor: { id: 'user-1', name, kind: 'Client' },
        resource: { type: 'workspace', action: 'update' },
      },
    ],
  };
}

/** Of eleven stacks, four were applied. The reasons of waiting applies take turns, and the first one waits longest. */
async function seedApplies(client: pg.Client): Promise<void> {
  const numbered =
    'select *, row_number() over (order by path, repository) - 1 as number from trueup_fleet.stacks';
  await client.query(
    `insert into trueup_fleet.waiting_applies (repository, path, since, because, reason, commit, until, failures, next_try)
     select repository, path, trueup_fleet.now() - make_interval(mins => (3000 - 20 * (stack.number / 21 % 100))::integer), kind.because, kind.reason,
       last_commit, trueup_fleet.now() + kind.until, case when kind.because = 'retry' then 2 else 0 end, case when kind.because = 'retry' then trueup_fleet.now() + interval '12 minutes' end
     from (${numbered}) as stack join (values
       (0, 'freeze', 'the freeze "weekend" lasts until 2026-01-05T06:00:00.000Z', interval '102 hours'),
       (1, 'approval', 'the plan is not approved: nobody who may has approved its digest', null),
       (2, 'guard', 'guard "delete-limit" stops the apply: 14 of 20 workspaces would be deleted', null),
       (3, 'lock', 'the stack is locked by another apply, of ann@laptop', interval '40 seconds'),
       (4, 'retry', 'the service answered 422 to PATCH /workspaces/ws-1: name has already been taken', null)
     ) as kind (number, because, reason, until) on kind.number = stack.number / 21 % 5
     where stack.number % 21 = 5`,
  );
  await client.query(
    `insert into trueup_fleet.applies (repository, path, attempt, commit, started, leased_until, ended, outcome, reason, code, changes, people)
     select repository, path, 4, last_commit, began, began + interval '30 seconds', began + make_interval(secs => 40 + 7 * kind.number),
       kind.outcome, kind.reason, kind.code, kind.changes, kind.people::text[]
     from (${numbered}) as stack join (values
       (5, 1, 'applied', null, null, 4, '{ann,carl@example.com}'),
       (6, 2, 'failed', 'the service answered 422 to PATCH /workspaces/ws-1: name has already been taken', 'refused', 0, '{ann}'),
       (7, 3, 'partial', '1 of 3 changes failed: the service answered 503', 'partial', 2, '{}'),
       (8, 4, 'lost', 'its worker ended', null, null, '{}'),
       (5, 30, 'interrupted', 'the worker was stopped', null, 1, '{bob}'),
       (5, 70, 'applied', null, null, 1, '{bob}')
     ) as kind (number, hours, outcome, reason, code, changes, people) on kind.number = stack.number % 11,
       lateral (select trueup_fleet.now() - make_interval(mins => (60 * kind.hours + stack.phase * 50)::integer) as began) as times
     order by kind.hours desc, stack.number`,
  );
  // One apply runs, and the lease of another one has expired.
  await client.query(
    `insert into trueup_fleet.applies (repository, path, attempt, commit, started, leased_until)
     select repository, path, 5, last_commit, trueup_fleet.now() - interval '2 minutes',
       trueup_fleet.now() + case number when 9 then interval '20 seconds' else interval '-1 minute' end
     from (${numbered}) as stack where number in (9, 20)`,
  );
}

/** Of ten stacks, one has a role, and another one a workspace with readers. */
async function seedAccess(client: pg.Client): Promise<void> {
  await client.query(
    `insert into trueup_fleet.access (repository, path, address, gives, who, places, policies, details, words, has_patterns)
     select repository, path, kind.address, kind.gives, kind.who::text[], kind.places::text[], array_append(kind.policies::text[], repository || '-read'), kind.details::jsonb,
       lower(concat_ws(' ', kind.address, kind.who, kind.places, kind.policies, case when kind.gives = 'login' then repository || '-read' end)), kind.who like '%*%'
     from (select *, row_number() over (order by path, repository) - 1 as number from trueup_fleet.stacks) as stack join (values
       (1, 'ClusterAuthRole/vault/payments', 'login', '{payments-api,ci-*}', '{payments}', '{default}', '{"audience":"payments"}'),
       (1, 'ClusterAuthRole/vault/runner', 'login', '{*}', '{ci}', '{}', '{"selector":"{\\"matchLabels\\":{\\"team\\":\\"ci\\"}}"}'),
       (2, 'RemoteStateConsumers/main/network-prod', 'state', '{app-prod,app-staging}', '{}', '{}', '{}'),
       (2, 'Workspace/main/shared', 'state', '{*}', '{}', '{}', '{"sharedWith":"organization"}')
     ) as kind (number, address, gives, who, places, policies, details) on kind.number = stack.number % 11`,
  );
  await client.query(`update trueup_fleet.access set policies = '{}' where gives = 'state'`);
}

async function seedRecords(client: pg.Client, report: string, checks: number): Promise<void> {
  await client.query(
    `insert into trueup_fleet.checks (repository, path, attempt, started, ended, error, drifted, commit)
     select repository, path, 1 + $1::integer - number, trueup_fleet.now() - make_interval(secs => 900 * number + 20), trueup_fleet.now() - make_interval(secs => 900 * number),
       case when number % 3 = 0 then last_error end, (last_summary->>'drifted')::integer, last_commit
     from trueup_fleet.stacks, generate_series(1, $1::integer) as number`,
    [checks],
  );
  await client.query(
    `insert into trueup_fleet.drifts (repository, path, stack, hash, opened, changed, closed, closed_because, resources, report, actors)
     select repository, path, 'one', md5(path), trueup_fleet.now() - make_interval(hours => (1 + phase * 400)::integer),
       trueup_fleet.now() - make_interval(mins => (60 + phase * 12000)::integer),
       case when phase > 0.5 then trueup_fleet.now() - make_interval(mins => (phase * 60)::integer) end, case when phase > 0.5 then 'gone' end,
       2, $1::json, case when phase < 0.7 then array['ann'] else array['bob', 'ci-bot'] end
     from trueup_fleet.stacks where (last_summary->>'drifted')::integer > 0`,
    [report],
  );
  await client.query(
    `insert into trueup_fleet.request_rates (address, identity, per_second, next_free)
     values ('https://app.example.com', md5('one'), 30, trueup_fleet.now()), ('https://app.example.com', md5('two'), 12.5, trueup_fleet.now() + interval '40 seconds')`,
  );
  await client.query(
    `insert into trueup_fleet.stack_requests (repository, path, address, identity, requests)
     select repository, path, 'https://app.example.com', case when repository = 'network' then md5('two') else md5('one') end, 5 + (phase * 3)::integer
     from trueup_fleet.stacks where last_complete is not null`,
  );
  await client.query(
    `insert into trueup_fleet.repositories (fleet, name, named, problem)
     select 'acme', repository, trueup_fleet.now(), case when repository = 'data' then 'repository "data" has no branch "main"' end
     from trueup_fleet.stacks group by repository`,
  );
  const worker = {
    pid: 17,
    fleet: 'acme',
    version: '0.1.0',
    concurrency: 4,
    shard: undefined,
    problem: undefined,
  };
  for (const [index, host] of ['fleet-worker-1', 'fleet-worker-2', 'fleet-worker-3'].entries())
    await noteWorker(client, { ...worker, id: `worker-${index}`, host, running: index });
  await client.query('analyze');
}
