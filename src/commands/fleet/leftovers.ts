/** What `fleet run` leaves behind: stacks that were stale when it began and still are, and targets that are paused. */
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { counted } from '../../model/quoted.ts';
import { firstFew, printable } from '../../report/view/printable.ts';
import { standingSql } from './apply/standing.ts';
import type { KeptFleet } from './kept-fleet.ts';
import { nameOf } from './render.ts';
import { databaseTime } from './schedule.ts';
import type { StackId } from './stack-id.ts';

interface Leftovers {
  readonly stale: readonly StackId[];
  readonly paused: readonly { readonly address: string; readonly reason: string }[];
}

interface Run {
  /** true for `fleet run`, false for a worker that keeps running */
  readonly once: boolean;
  readonly database: { run<T>(work: (client: PostgresClient) => Promise<T>): Promise<T> };
  readonly file: Pick<KeptFleet, 'fleet'>;
  readonly signal: AbortSignal;
  readonly clean: <T extends object>(value: T) => T;
}

/** @returns a function that reads, at the end of the run, what the run leaves behind; after an abort, it reads nothing */
export async function beginRun({
  once,
  database,
  file,
  signal,
  clean,
}: Run): Promise<() => Promise<Leftovers>> {
  const none = { stale: [], paused: [] };
  if (!once) return async () => none;
  const began = await database.run(databaseTime);
  return async () => {
    if (signal.aborted) return none;
    const repositories = file.fleet.repositories.map(({ name }) => name);
    return clean(await database.run((client) => readLeft(client, repositories, began)));
  };
}

/**
 * Reads what is left, without stacks that another worker checks now.
 * @param began time of the database: stacks that became stale since then are left to the next run
 */
async function readLeft(
  client: PostgresClient,
  repositories: readonly string[],
  began: Date,
): Promise<Leftovers> {
  const { rows: stale } = await client.query(
    `select repository, path
     from trueup_fleet.stacks as stack left join trueup_fleet.waiting_applies as wait using (repository, path)
     where removed is null and repository = any($1) and (queued_until is null or queued_until < trueup_fleet.now())
       and ${standingSql({ stack: 'stack', wait: 'wait', time: '$2::timestamptz' })} = 'stale'
     order by repository collate "C", path collate "C"`,
    [repositories, began],
  );
  const { rows: paused } = await client.query(
    `select address, reason from trueup_fleet.target_pauses as pause
     where until is null and exists (select from trueup_fleet.stacks as stack
       where removed is null and repository = any($1) and pause.address = any(stack.targets))
     order by address`,
    [repositories],
  );
  return {
    stale: stale.map(({ repository, path }) => ({ repository, path })),
    paused: paused.map(({ address, reason }) => ({ address, reason })),
  };
}

const maxNames = 5;

export function leftLines({ stale, paused }: Leftovers): string[] {
  const names = firstFew(stale.map(nameOf), maxNames).join(', ');
  const still = counted(stale.length, 'stack is', 'stacks are');
  return [
    ...(stale.length === 0 ? [] : [`${still} stale, without a complete check for two intervals: ${names}`]),
    ...paused.map(
      ({ address, reason }) =>
        `target ${printable(address)} is paused, and its stacks are not checked: ${printable(reason)}`,
    ),
  ];
}
