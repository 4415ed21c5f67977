/**
 * The drift of each stack, from the check that first found it to the one that found it gone: at most one open record for a stack. Only
 * complete checks change a record. Drift is the same as long as the same resources drifted in the same way, no matter who did it and when.
 */
import { createHash } from 'node:crypto';
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { canonicalText, type Json } from '../../model/json.ts';
import { boundedReport } from '../../report/json/bounded-drift.ts';
import type { DriftJson } from '../../report/json/drift-schema.ts';
import { driftedAddresses } from './check-stack.ts';
import type { StackId } from './stack-id.ts';

/** People that a record lists, at most. */
const maxActors = 20;

/** What drifted, as a hash; undefined when nothing did. */
function driftHash({ drifted, changedNames }: Pick<DriftJson, 'drifted' | 'changedNames'>) {
  if (drifted.length + changedNames.length === 0) return undefined;
  const resources = drifted.map(({ address, is, newId = '', fields }) => [
    ...[address, is, newId],
    fields.map(({ path, after = null, redacted }) => [path, after, redacted?.after ?? '']).sort(byText),
  ]);
  const names = changedNames.map(({ address, field, given, id }) => [address, field, given, id]);
  const content = [resources.sort(byText), names.sort(byText)] as Json;
  return createHash('sha256').update(canonicalText(content)).digest('hex');
}

function byText(one: unknown, other: unknown): number {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  return first < second ? -1 : first > second ? 1 : 0;
}

/** Opens, changes or closes the record of a stack after a complete check, in the transaction that records the check. */
export async function noteDrift(
  client: PostgresClient,
  { repository, path }: StackId,
  report: DriftJson,
): Promise<void> {
  const hash = driftHash(report);
  if (hash === undefined) {
    await client.query(
      `update trueup_fleet.drifts set closed = trueup_fleet.now(), closed_because = 'gone'
       where repository = $1 and path = $2 and closed is null`,
      [repository, path],
    );
    return;
  }
  const { drifted, changedNames } = report;
  await client.query(
    // One time for "opened" and "changed": with two, a new record would look changed.
    `with clock as materialized (select trueup_fleet.now() as time)
     insert into trueup_fleet.drifts (repository, path, stack, hash, opened, changed, resources, report, actors)
     select repository, path, $3, $4, clock.time, clock.time, $5::integer, $6::json, $7::text[]
     from trueup_fleet.stacks, clock where repository = $1 and path = $2 and removed is null
     on conflict (repository, path) where closed is null do update set
       stack = excluded.stack, hash = excluded.hash, changed = excluded.changed, resources = excluded.resources,
       report = excluded.report, actors = excluded.actors
     where drifts.hash <> excluded.hash`,
    [
      ...[repository, path, report.stack, hash, driftedAddresses({ drifted, changedNames }).length],
      boundedReport(report),
      actorsIn(drifted),
    ],
  );
}

/** Who last modified the resources, by the audit trail, each person once. */
function actorsIn(drifted: DriftJson['drifted']): string[] {
  const names = drifted.flatMap(({ touched }) => {
    const actor = touched?.touches[0]?.actor;
    return actor === undefined ? [] : actor.name || actor.id || actor.kind;
  });
  return [...new Set(names)].sort().slice(0, maxActors);
}

/** Closes the records of stacks that are not in their repository any more. */
export async function closeRemoved(client: PostgresClient, repository: string): Promise<void> {
  await client.query(
    `update trueup_fleet.drifts set closed = trueup_fleet.now(), closed_because = 'removed'
     from trueup_fleet.stacks
     where drifts.repository = $1 and drifts.closed is null and stacks.removed is not null
       and stacks.repository = drifts.repository and stacks.path = drifts.path`,
    [repository],
  );
}

/** An open record. Times are in milliseconds since 1970. */
export interface OpenDrift extends StackId {
  readonly opened: number;
  readonly changed: number;
  readonly resources: number;
}

/** The open records of all stacks, the oldest first. Stacks that left their repositories have none. */
export async function readOpenDrifts(client: PostgresClient): Promise<OpenDrift[]> {
  const { rows } = await client.query(
    `select repository, path, opened, changed, resources from trueup_fleet.drifts
     where closed is null order by opened, repository, path`,
  );
  return rows.map(({ repository, path, opened, changed, resources }) => ({
    ...{ repository, path, resources },
    ...{ opened: opened.getTime(), changed: changed.getTime() },
  }));
}
