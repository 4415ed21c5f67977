/** How pages read the database. `$1` of each statement has the patterns of the stacks that the viewer may see; nothing else is read. */
import type { PostgresClient } from '../../../ledger/postgres-connection.ts';
import { standingSql } from '../apply/standing.ts';
import type { Viewer } from './access.ts';

export type Row = Readonly<Record<string, unknown>>;

/** Runs statements for one viewer, on one snapshot of the database. */
export class Reading {
  readonly #client: PostgresClient;
  readonly viewer: Viewer;
  /** schema of the tables of jobs, for statements of pages */
  readonly jobSchema: string;

  constructor(client: PostgresClient, viewer: Viewer, jobSchema: string) {
    this.#client = client;
    this.viewer = viewer;
    this.jobSchema = jobSchema;
  }

  /** @param values from `$2` on */
  async rows(sql: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
    const { scope = null } = this.viewer;
    const { rows } = await this.#client.query(sql, [scope, ...values]);
    return rows;
  }

  /** Whether everything may be seen, also what belongs to no stack. */
  get seesAll(): boolean {
    return this.viewer.scope === undefined;
  }

  /** Whether any stack may be seen, or everything. */
  async seesSome(): Promise<boolean> {
    const rows = await this.rows(`select ${seesSome()} as some`);
    return rows[0]?.['some'] === true;
  }
}

/** SQL: whether the viewer may see a row, which has a repository and a path. */
export function inScope(table: string): string {
  return `($1::text[] is null or (${table}.repository || '/' || ${table}.path) ~ any ($1::text[]))`;
}

/** SQL: whether the viewer sees at least one stack, or everything. */
export function seesSome(): string {
  return `($1::text[] is null or exists (select from trueup_fleet.stacks as stack where stack.removed is null and ${inScope('stack')}))`;
}

/** The time of the database, read once in a statement. */
export const clock = 'clock as materialized (select trueup_fleet.now() as time)';

/** All stacks that the viewer sees, with their standing, and why an apply waits. */
export const visibleStacks = `${clock}, seen as materialized (
  select stack.repository, stack.path, stack.seconds_between_checks, stack.next_due, stack.failures, stack.first_seen,
    stack.last_started, stack.last_complete, stack.last_commit, stack.last_error, stack.targets, stack.labels, clock.time,
    wait.because as waits_for, wait.since as waits_since, wait.reason as waits_reason, coalesce(wait.until, wait.next_try) as waits_until, wait.plan as waits_plan,
    coalesce((stack.last_summary->>'drifted')::integer, 0) as drifted,
    coalesce((stack.last_summary->>'pending')::integer, 0) as pending,
    coalesce(stack.queued_until > clock.time, false) as running, stack.apply_queued is not null as is_apply_queued,
    ${standingSql({ stack: 'stack', wait: 'wait', time: 'clock.time' })} as standing
  from trueup_fleet.stacks as stack left join trueup_fleet.waiting_applies as wait using (repository, path), clock
  where stack.removed is null and ${inScope('stack')}
)`;

export function textOf(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

/** Milliseconds since 1970. */
export function timeOf(value: unknown): number | undefined {
  return value instanceof Date ? value.getTime() : undefined;
}
