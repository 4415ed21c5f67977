/**
 * Pauses of targets. When several stacks of one target fail in the same way, and none of them succeeds meanwhile, the target is paused.
 * Then its stacks are not checked, except one from time to time, to see whether the target is back. After that, checks resume slowly.
 */
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { quoted } from '../../model/quoted.ts';
import type { DriftJson } from '../../report/json/drift-schema.ts';
import type { StackId } from './stack-id.ts';

/** When this many stacks fail in the same way, their target is paused. */
const failingStacks = 5;

/** Hours after which a failure no longer counts. */
const failureHours = 24;

/** Seconds to the next probe: the first time, then doubled each time, up to the longest. */
const firstProbe = 60;
const longestProbe = 900;

/** Seconds over which the checks of a target that is back are spread, at most. They begin slowly. */
const longestRamp = 900;

/** What a check found about the targets of its stack, as far as its report says. */
interface TargetResults {
  /** addresses that answered */
  readonly read: readonly string[];
  readonly failed: readonly TargetFailure[];
}

interface TargetFailure {
  readonly address: string;
  /** failures with the same class are of the same kind, even if their messages differ */
  readonly class: string;
  /** in the words of the check */
  readonly reason: string;
}

/** The addresses in a report, which are those that the stack uses. */
export function targetAddresses(report: Pick<DriftJson, 'targets'> | undefined): string[] {
  return [...new Set((report?.targets ?? []).flatMap(({ url }) => originOf(url) ?? []))].sort();
}

function originOf(url: string): string | undefined {
  return /^https?:/.test(url) && URL.canParse(url) ? new URL(url).origin : undefined;
}

export function targetResults(
  report: Pick<DriftJson, 'targets' | 'coverage' | 'problems'> | undefined,
): TargetResults {
  if (report === undefined) return { read: [], failed: [] };
  const addressOf = (name: string) =>
    originOf(report.targets.find((target) => target.name === name)?.url ?? '');
  const failed: TargetFailure[] = [];
  const answered: string[] = [];
  for (const { target: name, unread, skipped, requests } of report.coverage.targets) {
    const address = addressOf(name);
    if (address === undefined) continue;
    const problem = unread ? problemOf(report, name) : undefined;
    const failure = problem && failureOf(address, problem);
    if (failure !== undefined) failed.push(failure);
    // A target that refuses a token answers as well.
    else if (unread ? problem !== undefined : !skipped && requests > 0) answered.push(address);
  }
  const read = answered.filter((address) => !failed.some((one) => one.address === address));
  return { read: [...new Set(read)], failed };
}

function problemOf({ problems }: Pick<DriftJson, 'problems'>, target: string) {
  const start = `target ${JSON.stringify(target)} `;
  return problems.find(({ code, message }) => code === 'target-unread' && message.startsWith(start));
}

/**
 * @returns undefined if the service refused a token, an organization or a mount: such a failure is about the stack, not about the target
 */
function failureOf(
  address: string,
  { code, message }: { code: string; message: string },
): TargetFailure | undefined {
  const status = / answered (\d{3})\b/.exec(message)?.[1];
  if (status?.startsWith('4') && status !== '408' && status !== '429') return undefined;
  return { address, class: status === undefined ? code : `${code} ${status}`, reason: message };
}

/** A target whose pause begins or ends. */
export interface PauseChange {
  readonly is: 'paused' | 'back';
  readonly address: string;
  readonly reason: string;
}

/** Records what a check found about its targets, in the transaction that records its end. @returns pauses that begin or end, each once */
export async function noteTargets(
  client: PostgresClient,
  stack: StackId,
  { read, failed }: TargetResults,
): Promise<PauseChange[]> {
  const { repository, path } = stack;
  await client.query(
    `update trueup_fleet.target_pauses set probe_repository = null, probe_path = null
     where until is null and probe_repository = $1 and probe_path = $2`,
    [repository, path],
  );
  const changes: PauseChange[] = [];
  // In the same order for all checks, so that no two wait for each other.
  for (const address of [...read, ...failed.map((failure) => failure.address)].toSorted()) {
    const failure = failed.find((one) => one.address === address);
    const change =
      failure === undefined
        ? await recordTargetRead(client, address)
        : await noteFailure(client, stack, failure);
    if (change !== undefined) changes.push(change);
  }
  return changes;
}

/** The message of a worker about a pause that begins or ends. */
export function pauseMessage({ is, address, reason }: PauseChange): string {
  return is === 'back'
    ? `${quoted(address)} answers again: its stacks are checked again, a few at first`
    : `${quoted(address)} is paused, because ${failingStacks} stacks failed in the same way; one check now and then shows whether it is back. ${reason}`;
}

async function recordTargetRead(client: PostgresClient, address: string): Promise<PauseChange | undefined> {
  await client.query('delete from trueup_fleet.target_failures where address = $1', [address]);
  const reason = await endPause(client, address);
  return reason === undefined ? undefined : { is: 'back', address, reason };
}

/** @returns the pause, if one begins */
async function noteFailure(
  client: PostgresClient,
  { repository, path }: StackId,
  failure: TargetFailure,
): Promise<PauseChange | undefined> {
  const { address, reason } = failure;
  await client.query(
    `insert into trueup_fleet.target_failures (address, class, repository, path, at)
     values ($1, $2, $3, $4, trueup_fleet.now())
     on conflict (address, class, repository, path) do update set at = excluded.at`,
    [address, failure.class, repository, path],
  );
  const { rows } = await client.query(
    `insert into trueup_fleet.target_pauses (address, since, class, reason, stacks, next_probe)
     select $1, trueup_fleet.now(), $2, $3, count(*), trueup_fleet.now() + make_interval(secs => ${firstProbe})
     from trueup_fleet.target_failures
     where address = $1 and class = $2 and at > (select trueup_fleet.now() - make_interval(hours => ${failureHours}))
     having count(*) >= ${failingStacks}
     on conflict (address) where until is null do nothing returning id`,
    [address, failure.class, reason],
  );
  return rows.length === 0 ? undefined : { is: 'paused', address, reason };
}

/** Ends a pause. The checks of stacks that are due or that failed resume slowly. @returns why it was paused; undefined if it was not */
async function endPause(client: PostgresClient, address: string): Promise<string | undefined> {
  const { rows } = await client.query(
    `update trueup_fleet.target_pauses set until = trueup_fleet.now() where address = $1 and until is null
     returning reason`,
    [address],
  );
  const [pause] = rows;
  if (pause === undefined) return undefined;
  // By the square root of the phase: few at first, and then more and more.
  await client.query(
    `update trueup_fleet.stacks set
       next_due = trueup_fleet.now() + make_interval(secs => sqrt(phase) * least(seconds_between_checks, ${longestRamp})),
       forced = false,
       failures = 0
     where (repository, path) in (
       select repository, path from trueup_fleet.stacks
       where removed is null and $1 = any(targets) and queued_until is null
         and (next_due <= trueup_fleet.now() or forced or failures > 0)
       for update skip locked)`,
    [address],
  );
  return String(pause.reason);
}

/** SQL: whether a stack uses a paused target. False after its files changed: it may use another target now. @param stack name of its row */
export function isPausedSql(stack: string): string {
  return `(
    ${stack}.started_tree is not distinct from ${stack}.tree
    and exists (select 1 from trueup_fleet.target_pauses where until is null and address = any(${stack}.targets))
    and not exists (select 1 from trueup_fleet.target_pauses
      where until is null and probe_repository = ${stack}.repository and probe_path = ${stack}.path))`;
}

/**
 * Chooses a stack for each pause whose probe is due: the one that was not checked for the longest time. The next probe is later.
 * @returns the stacks, which count as taken, as after `takeDue`
 */
export async function takeProbes(
  client: PostgresClient,
  { repositories, seconds }: { readonly repositories: readonly string[]; readonly seconds: number },
): Promise<StackId[]> {
  const { rows: due } = await client.query(
    `select id, address from trueup_fleet.target_pauses
     where until is null and next_probe <= trueup_fleet.now() for update skip locked`,
  );
  const taken: StackId[] = [];
  for (const { id, address } of due) {
    const { rows } = await client.query(
      `update trueup_fleet.stacks as probe set queued_until = trueup_fleet.now() + make_interval(secs => $3), forced = false
       from (
         select repository, path from trueup_fleet.stacks
         where removed is null and repository = any($2) and $1 = any(targets)
           and (queued_until is null or queued_until < trueup_fleet.now())
         order by last_started nulls first for update skip locked limit 1
       ) as chosen
       where probe.repository = chosen.repository and probe.path = chosen.path
       returning probe.repository, probe.path`,
      [address, repositories, seconds],
    );
    const [stack] = rows;
    if (stack === undefined) {
      await endUnused(client, id);
      continue;
    }
    await client.query(
      `update trueup_fleet.target_pauses set probes = probes + 1, probe_repository = $2, probe_path = $3,
         next_probe = trueup_fleet.now() + make_interval(secs => least(${firstProbe} * power(2, probes + 1), ${longestProbe}))
       where id = $1`,
      [id, stack.repository, stack.path],
    );
    taken.push({ repository: stack.repository, path: stack.path });
  }
  return taken;
}

/** Ends the pause of a target that no stack uses any more: no check would show that it is back. */
async function endUnused(client: PostgresClient, id: string): Promise<void> {
  await client.query(
    `update trueup_fleet.target_pauses set until = trueup_fleet.now()
     where id = $1 and not exists (
       select 1 from trueup_fleet.stacks where removed is null and target_pauses.address = any(targets))`,
    [id],
  );
}

/** A paused target. Times are in milliseconds since 1970. */
export interface PausedTarget {
  readonly address: string;
  readonly since: number;
  readonly reason: string;
  readonly nextProbe: number;
}

export async function readPauses(client: PostgresClient): Promise<PausedTarget[]> {
  const { rows } = await client.query(
    'select address, since, reason, next_probe from trueup_fleet.target_pauses where until is null order by since, address',
  );
  return rows.map(({ address, since, reason, next_probe }) => ({
    ...{ address, reason, since: since.getTime() },
    nextProbe: next_probe.getTime(),
  }));
}
