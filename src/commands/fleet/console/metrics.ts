/** The fleet in numbers, as OpenMetrics text. No label names a stack, so that the number of series is bounded. */
import { Gauge, Registry, type RegistryContentType } from 'prom-client';
import { standings, waitReasons } from '../apply/standing.ts';
import { applyOutcomes } from './applies.ts';
import { clock, inScope, type Reading, type Row, visibleStacks } from './reading.ts';

/** Targets that have a label: the busiest ones. */
const maxTargets = 50;

export async function metricsText(
  reading: Reading,
): Promise<{ readonly type: string; readonly text: string }> {
  const registry: Registry<RegistryContentType> = new Registry();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({
      name: `trueup_fleet_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [registry as Registry],
    });
  await stackMetrics(reading, gauge);
  await fleetMetrics(reading, gauge);
  await applyMetrics(reading, gauge);
  await targetMetrics(reading, gauge);
  return { type: registry.contentType, text: await registry.metrics() };
}

type MakeGauge = (name: string, help: string, labelNames?: readonly string[]) => Gauge;

async function stackMetrics(reading: Reading, gauge: MakeGauge): Promise<void> {
  const rows = await reading.rows(
    `with ${visibleStacks}, aged as (select *, extract(epoch from time - last_complete)::double precision as age from seen)
     select count(*) filter (where standing = 'stale') as stale, count(*) filter (where standing = 'attention') as attention,
       count(*) filter (where standing = 'working') as working, count(*) filter (where standing = 'in-sync') as "in-sync",
       count(*) filter (where last_error is not null) as failing, count(*) filter (where running) as running,
       coalesce(sum(drifted), 0) as drifted,
       percentile_cont(0.5) within group (order by age) as p50, percentile_cont(0.95) within group (order by age) as p95
     from aged`,
  );
  const row = rows[0] ?? {};
  const stacks = gauge('stacks', 'Stacks by standing', ['standing']);
  for (const standing of standings) stacks.set({ standing }, Number(row[standing] ?? 0));
  gauge('stacks_failing', 'Stacks whose last check failed').set(Number(row['failing'] ?? 0));
  gauge('stacks_queued', 'Stacks whose check waits or runs').set(Number(row['running'] ?? 0));
  gauge('drifted_resources', 'Resources that drifted, at the last complete checks').set(
    Number(row['drifted'] ?? 0),
  );
  const ages = gauge('check_age_seconds', 'Age of the last complete check', ['quantile']);
  for (const [quantile, name] of [
    ['0.5', 'p50'],
    ['0.95', 'p95'],
  ] as const)
    if (row[name] !== null && row[name] !== undefined) ages.set({ quantile }, Number(row[name]));
}

async function applyMetrics(reading: Reading, gauge: MakeGauge): Promise<void> {
  const waits = await reading.rows(
    `with ${visibleStacks} select waits_for, count(*) as count from seen where waits_for is not null group by waits_for`,
  );
  const waiting = gauge('applies_waiting', 'Stacks whose apply waits, by what for', ['for']);
  for (const reason of waitReasons) waiting.set({ for: reason }, countOf(waits, 'waits_for', reason));
  const ends = await reading.rows(
    `with ${clock}, seen as (
       select coalesce(made.outcome, case when made.leased_until > clock.time then 'running' else 'lost' end) as outcome from trueup_fleet.applies as made, clock
       where ${inScope('made')} and (made.ended is null or made.ended > clock.time - interval '1 day')
     )
     select outcome, count(*) as count from seen group by outcome`,
  );
  gauge('applies_running', 'Applies that run now').set(countOf(ends, 'outcome', 'running'));
  const ended = gauge('applies_last_day', 'Applies that ended within the last day, by outcome', ['outcome']);
  for (const outcome of applyOutcomes) ended.set({ outcome }, countOf(ends, 'outcome', outcome));
}

function countOf(rows: readonly Row[], member: string, value: string): number {
  return Number(rows.find((row) => row[member] === value)?.['count'] ?? 0);
}

async function fleetMetrics(reading: Reading, gauge: MakeGauge): Promise<void> {
  // These numbers belong to no stack.
  if (!reading.seesAll) return;
  const rows = await reading.rows(
    `with ${clock}, seen as (select problem, last_seen > clock.time - interval '1 minute' as live from trueup_fleet.workers, clock)
     select count(*) filter (where live) as live, count(*) filter (where not live) as silent,
       count(*) filter (where live and problem is not null) as problems,
       (select count(*) from trueup_fleet.repositories where problem is not null) as unread
     from seen where $1::text[] is null`,
  );
  const row = rows[0] ?? {};
  const workers = gauge('workers', 'Workers by whether they sent a heartbeat within a minute', ['state']);
  workers.set({ state: 'live' }, Number(row['live'] ?? 0));
  workers.set({ state: 'silent' }, Number(row['silent'] ?? 0));
  gauge('fleet_file_problems', 'Workers whose newest fleet file is not valid').set(
    Number(row['problems'] ?? 0),
  );
  gauge('unread_repositories', 'Repositories that could not be read').set(Number(row['unread'] ?? 0));
}

async function targetMetrics(reading: Reading, gauge: MakeGauge): Promise<void> {
  const rows = await reading.rows(
    `with ${visibleStacks}, used as (
       select used.address, used.identity, sum(used.requests / seen.seconds_between_checks) as needed
       from trueup_fleet.stack_requests as used join seen using (repository, path) group by used.address, used.identity
     )
     select address, max(needed / rate.per_second) as needed, min(rate.per_second) as per_second,
       bool_or(rate.next_free > clock.time + interval '2 seconds') as paused
     from used join trueup_fleet.request_rates as rate using (address, identity), clock
     group by address order by needed desc, address limit ${maxTargets}`,
  );
  const rate = gauge('requests_per_second', 'Limit of requests of a target: the lowest one of its users', [
    'target',
  ]);
  const needed = gauge('quota_needed_ratio', 'Part of that limit which the intervals of checks need', [
    'target',
  ]);
  const paused = gauge('target_paused', 'Whether requests to the target wait', ['target']);
  for (const row of rows) {
    const target = String(row['address']);
    rate.set({ target }, Number(row['per_second']));
    needed.set({ target }, Number(row['needed']));
    paused.set({ target }, row['paused'] === true ? 1 : 0);
  }
}
