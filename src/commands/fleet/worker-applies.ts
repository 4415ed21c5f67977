/** The applies of a worker. They have their own jobs and slots, so that checks and applies do not keep each other waiting. */
import type { Job, PgBoss } from 'pg-boss';
import type { PostgresClient } from '../../ledger/postgres-connection.ts';
import { type Applied, type ApplyContext, applyNow } from './apply-after-check.ts';
import { readUnfrozen } from './apply/apply-records.ts';
import { endTurn, noteQueued, takeTurn } from './apply-turns.ts';
import type { Fleet, FleetRepository } from './fleet-file.ts';
import { makeStackDue } from './schedule.ts';
import { keyOf, type StackId } from './stack-id.ts';
import { jobSchema } from './tables.ts';

/** The queue of applies. */
export const applyQueue = 'applies';

interface AppliesOptions {
  /** read at each use: it may change */
  readonly fleet: Fleet;
  /** Reads the fleet file again. */
  readonly refreshFleet: () => Promise<void>;
  readonly database: {
    readonly boss: PgBoss;
    run<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
    transaction<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  };
  /** applies at a time */
  readonly applyConcurrency: number;
  /** ends all applies */
  readonly signal: AbortSignal;
  readonly onApply: (stack: StackId, applied: Applied) => void;
}

type Claim = Pick<ApplyContext, 'repository' | 'attempt' | 'claim' | 'signal'>;

interface Hooks {
  contextOf(stack: StackId, claim: Claim): ApplyContext;
  /** Reports what ended a job. */
  failed(error: unknown): never;
}

/** The priority of a job: stacks that waited for a freeze come first, in their order. Others have the priority 0. */
export function priorityIn(unfrozen: readonly StackId[], stack: StackId): number {
  const index = unfrozen.findIndex((one) => keyOf(one) === keyOf(stack));
  return index === -1 ? 0 : unfrozen.length - index;
}

async function hasJobs(client: PostgresClient): Promise<boolean> {
  const { rows } = await client.query(
    `select 1 from ${jobSchema}.job where name = $1 and state in ('created', 'retry', 'active') limit 1`,
    [applyQueue],
  );
  return rows.length > 0;
}

export class WorkerApplies {
  readonly #options: AppliesOptions;
  readonly #hooks: Hooks;
  #hasBegun = false;
  #running = 0;

  constructor(options: AppliesOptions, hooks: Hooks) {
    this.#options = options;
    this.#hooks = hooks;
  }

  /** how many applies run here */
  get running(): number {
    return this.#running;
  }

  /** queues whose jobs this worker carries out */
  get queues(): readonly string[] {
    return this.#hasBegun ? [applyQueue] : [];
  }

  /**
   * Begins to carry out jobs as soon as the fleet applies anything: most fleets do not, and would poll the database for nothing. Jobs of
   * applies that the fleet file no longer allows block the checks of their stacks, so they are carried out as well.
   */
  async begin(): Promise<void> {
    const { database, fleet, applyConcurrency } = this.#options;
    if (this.#hasBegun) return;
    const applies = fleet.repositories.some(({ apply }) => apply !== undefined);
    if (!applies && !(await database.run(hasJobs))) return;
    const settings = { localConcurrency: applyConcurrency, pollingIntervalSeconds: 1 };
    // Inside of `run`, an error counts as one of the database, so the worker tries again.
    await database.run(async () => {
      await database.boss.supervise(applyQueue);
      await database.boss.work<StackId>(applyQueue, settings, async ([job]: Job<StackId>[]) => {
        if (job !== undefined) await this.#apply(job).catch((error: unknown) => this.#hooks.failed(error));
      });
    });
    this.#hasBegun = true;
  }

  /** Queues an apply for any worker. A stack has at most one job that waits. */
  async send(stack: StackId): Promise<void> {
    const { boss, transaction } = this.#options.database;
    await transaction(async (client) => {
      await noteQueued(client, stack);
      const priority = priorityIn(await readUnfrozen(client), stack);
      const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
      await boss.insert(applyQueue, [{ data: stack, singletonKey: keyOf(stack), priority }], { db });
    });
  }

  async #apply({ data: stack, signal: claim }: Job<StackId>): Promise<void> {
    const { database, signal: ended, onApply } = this.#options;
    // The fleet file may have a new freeze, or forbid this apply.
    await this.#options.refreshFleet();
    const repository = this.#options.fleet.repositories.find(({ name }) => name === stack.repository);
    // Left to another worker: this one is stopping, or its fleet file does not have the repository.
    if (repository === undefined || ended.aborted)
      return await database.run((client) => makeStackDue(client, stack));
    this.#running += 1;
    try {
      const applied = await this.#inTurn(stack, { repository, claim });
      if (applied !== undefined) onApply(stack, applied);
    } finally {
      this.#running -= 1;
    }
  }

  async #inTurn(
    stack: StackId,
    { repository, claim }: { readonly repository: FleetRepository; readonly claim: AbortSignal },
  ): Promise<Applied | undefined> {
    const { database, signal: ended } = this.#options;
    const turn = await database.run((client) => takeTurn(client, stack));
    if (turn === undefined) return undefined;
    const { attempt, commit, summary } = turn;
    const signal = AbortSignal.any([claim, ended]);
    // Only a check shows what is left to apply. It queues the apply again.
    if (turn.isTakenOver) {
      await database.run((client) => makeStackDue(client, stack));
      return await database.run((client) => endTurn(client, stack, turn)).then(() => undefined);
    }
    const context = this.#hooks.contextOf(stack, { repository, attempt, claim, signal });
    try {
      return await applyNow(stack, { error: undefined, summary, commit }, context);
    } finally {
      await database.run((client) => endTurn(client, stack, turn));
    }
  }
}
