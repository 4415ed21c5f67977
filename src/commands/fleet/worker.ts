/**
 * A worker of a fleet: reads which stacks the repositories have, checks those that are due, and applies what `fleet.yaml` allows. The
 * schedule is a table of trueup. pg-boss carries out the jobs, and gives the job of a worker that died to another one.
 */
import type { Job, PgBoss } from 'pg-boss';
import { isRefusedStatement, type PostgresClient } from '../../ledger/postgres-connection.ts';
import { messageOf } from '../../model/error-message.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type Applied, type ApplyContext, decideApply } from './apply-after-check.ts';
import { readUnfrozen } from './apply/apply-records.ts';
import { type Checkout, Checkouts } from './checkouts.ts';
import { CheckRates } from './rates/check-rates.ts';
import { type FoundCheck, recordEnd } from './check-records.ts';
import type { CheckResult } from './check-stack.ts';
import { checkStack } from './check-stack.ts';
import type { Fleet, FleetRepository } from './fleet-file.ts';
import { readLabels } from './labels.ts';
import { jobSchema } from './tables.ts';
import { pauseMessage } from './target-pauses.ts';
import { renewClaim, RepositoryClaims } from './repository-claims.ts';
import { allGone, noStackFile, recordRepositoryRead, readTime, refuseAllGone } from './repository-reads.ts';
import { giveBack, makeDue, noteStart, release, scheduleStacks, type Shard, takeDue } from './schedule.ts';
import { keyOf, type StackId } from './stack-id.ts';
import { priorityIn, WorkerApplies } from './worker-applies.ts';

/** The queue of checks. */
export const checkQueue = 'checks';

interface FleetDatabase {
  readonly boss: PgBoss;
  /** Does the work on one connection. */
  run<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
  /** The same in one transaction. */
  transaction<T>(work: (client: PostgresClient) => Promise<T>): Promise<T>;
}

interface WorkerOptions {
  /** read at each use: it may change */
  readonly fleet: Fleet;
  /** Reads the fleet file again. */
  readonly refreshFleet: () => Promise<void>;
  readonly database: FleetDatabase;
  /** for checkouts and temporary files, of this worker alone */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** path of trueup */
  readonly program: string;
  /** the part of the stacks that it takes first */
  readonly shard: Shard | undefined;
  /** checks at a time */
  readonly concurrency: number;
  /** applies at a time */
  readonly applyConcurrency: number;
  /** ends all checks and applies */
  readonly signal: AbortSignal;
  /** called after each check; `onProblem` is called for each repository that cannot be read, and for other problems */
  readonly onCheck: (stack: StackId, result: CheckResult) => void;
  readonly onApply: (stack: StackId, applied: Applied) => void;
  readonly onProblem: (message: string) => void;
  /** without the secrets that the worker knows */
  readonly clean: <T extends object>(value: T) => T;
}

/** How many repositories are read at a time. */
const readAtOnce = 8;

/** Why a repository could not be read, by its name. */
type UnreadRepositories = ReadonlyMap<string, string>;

export class FleetWorker {
  readonly #options: WorkerOptions;
  readonly #checkouts: Checkouts;
  /** the newest commit of each repository that was read */
  readonly #commits = new Map<string, string>();
  readonly #applies: WorkerApplies;
  readonly #claims: RepositoryClaims;
  readonly #labels = new WeakMap<Checkout, ReturnType<typeof readLabels>>();
  #running = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#claims = new RepositoryClaims(options.database);
    const appliesOptions = Object.defineProperty({ ...options }, 'fleet', { get: () => this.fleet });
    this.#applies = new WorkerApplies(appliesOptions, {
      contextOf: (stack, claim) => this.#contextOf(stack, claim),
      failed: (error) => this.#failed(error, 'apply'),
    });
    const { env, signal, folder } = options;
    this.#checkouts = new Checkouts(folder, { env, signal });
  }

  /** The fleet with the repositories that this worker may use: no other fleet uses their names for something else. */
  get fleet(): Fleet {
    return this.#claims.usable(this.#options.fleet);
  }

  /** Claims the repositories. Before that, the worker takes no stack. @returns why repositories are skipped, by name */
  claimRepositories(): Promise<UnreadRepositories> {
    const { fleet } = this.#options;
    return this.#claims.claim(fleet.name, fleet.repositories);
  }

  /** Marks its folder as in use. @param now milliseconds since 1970 */
  touchFolder(now: number): Promise<void> {
    return this.#checkouts.touch(now);
  }

  /**
   * Makes the schedule equal to the stacks in the repositories. A repository that cannot be read keeps its schedule. Several are read at a
   * time, so that one whose host does not answer holds up few others.
   */
  async readRepositories(names?: readonly string[]): Promise<UnreadRepositories> {
    const { fleet, onProblem } = this.#options;
    const named = fleet.repositories.filter(({ name }) => names?.includes(name) ?? true);
    const unread = await this.#claims.claim(fleet.name, named);
    for (const why of unread.values()) onProblem(why);
    const left = named.filter(({ name }) => !unread.has(name));
    const readNext = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        try {
          await this.#readRepository(next);
        } catch (error) {
          unread.set(next.name, messageOf(error));
          onProblem(messageOf(error));
        }
      }
    };
    await Promise.all(Array.from({ length: readAtOnce }, readNext));
    return unread;
  }

  async #readRepository(repository: FleetRepository): Promise<void> {
    const { name } = repository;
    const { database, fleet } = this.#options;
    const began = await database.run(readTime);
    const commit = await this.#checkouts.newest(repository);
    const { stacks, labels } = await this.#checkouts.use(repository, commit, async (checkout) => ({
      stacks: checkout.stacks,
      labels: await this.#labelsIn(checkout),
    }));
    const wanted = stacks.map(({ path, tree }) => ({
      ...{ repository: name, path, tree },
      labels: labels.get(path),
      seconds: repository.secondsOf(path, labels.get(path)),
    }));
    const isNewest = await database.transaction(async (client) => {
      const isNewest = await recordRepositoryRead(client, name, began);
      if (!isNewest) return false;
      if (wanted.length === 0) await refuseAllGone(client, repository);
      await renewClaim(client, fleet.name, repository);
      await scheduleStacks(client, name, wanted);
      return true;
    });
    if (stacks.length === 0) this.#options.onProblem(noStackFile(repository));
    // Another worker has read the repository since, and may have a newer commit: the next check here reads that commit.
    if (!isNewest) return;
    this.#commits.set(name, commit);
    await this.#checkouts.keepOnly(repository, commit);
  }

  /** The labels of the stacks in a checkout, read once for each commit. */
  #labelsIn(checkout: Checkout): ReturnType<typeof readLabels> {
    const labels = this.#labels.get(checkout) ?? readLabels(checkout);
    this.#labels.set(checkout, labels);
    return labels;
  }

  /** Makes all stacks of its shard due at once. */
  async makeAllDue(): Promise<void> {
    const { database, shard } = this.#options;
    const repositories = this.fleet.repositories.map(({ name }) => name);
    await database.run((client) => makeDue(client, { repositories, shard }));
  }

  /** Takes due stacks and makes a job of each, in one transaction. @param dueBy see `takeDue`; @returns their number */
  dispatch(limit: number, dueBy?: Date): Promise<number> {
    const { database, shard } = this.#options;
    const { boss, transaction } = database;
    const repositories = this.fleet.repositories.map(({ name }) => name);
    return transaction(async (client) => {
      const due = await takeDue(client, limit, { repositories, shard, dueBy });
      if (due.length === 0) return 0;
      const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
      const unfrozen = await readUnfrozen(client);
      const jobs = due.map((stack) => ({
        data: stack,
        singletonKey: keyOf(stack),
        // The queue has no order of its own.
        priority: priorityIn(unfrozen, stack),
      }));
      await boss.insert(checkQueue, jobs, { db });
      return due.length;
    });
  }

  /** How many jobs no worker has begun. Some of them may be from workers that are gone. */
  async waiting(): Promise<number> {
    const { rows } = await this.#options.database.run((client) =>
      client.query(
        `select count(*) as waiting from ${jobSchema}.job where name = any($1) and state in ('created', 'retry')`,
        [[checkQueue, ...this.#applies.queues]],
      ),
    );
    return Number(rows[0]?.waiting);
  }

  /** Begins to carry out jobs. */
  async begin(): Promise<void> {
    const { boss } = this.#options.database;
    // Frees the jobs of workers that were killed. Otherwise, `fleet run` would end before it sees them.
    await boss.supervise(checkQueue);
    const { concurrency } = this.#options;
    const settings = { localConcurrency: concurrency, pollingIntervalSeconds: 0.5 };
    await boss.work<StackId>(checkQueue, settings, async ([job]: Job<StackId>[]) => {
      if (job !== undefined) await this.#check(job).catch((error: unknown) => this.#failed(error, 'check'));
    });
    await this.#applies.begin();
  }

  /** Begins to carry out applies, if the fleet file allows them now. */
  beginApplies(): Promise<void> {
    return this.#applies.begin();
  }

  /** Fails a job, so that it is tried again. Reports the error, unless the database is unavailable: that is reported elsewhere. */
  #failed(error: unknown, job: 'apply' | 'check'): never {
    const { onProblem, clean } = this.#options;
    const { message } = clean({ message: messageOf(error) });
    if (!(error instanceof CommandStop) || isRefusedStatement(error.cause))
      onProblem(`${job === 'apply' ? 'an apply' : 'a check'} failed: ${message}`);
    // pg-boss records it.
    throw new Error(message);
  }

  /** how many checks run here */
  get running(): number {
    return this.#running;
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#applies.running === 0;
  }

  async #check({ data, signal }: Job<StackId>): Promise<void> {
    const { database, onCheck } = this.#options;
    const repository = this.fleet.repositories.find(({ name }) => name === data.repository);
    // All workers share one queue, and their fleet files may differ: a worker that knows the repository takes the stack.
    if (repository === undefined) return await database.run((client) => giveBack(client, data));
    this.#running += 1;
    try {
      const started = await database.run((client) => noteStart(client, data));
      if (started === undefined) return;
      const { attempt, tree } = started;
      const ends = AbortSignal.any([signal, this.#options.signal]);
      const found = await this.#run(repository, { path: data.path, tree, signal: ends });
      const result = this.#options.clean(found);
      // This worker is stopping: the result does not count, and another worker checks again.
      if (this.#options.signal.aborted) return await database.run((client) => release(client, data, attempt));
      // Another worker has the job now.
      if (signal.aborted) return;
      const changes = await database.transaction((client) => recordEnd(client, data, attempt, result));
      if (changes === undefined) return;
      onCheck(data, result);
      for (const change of changes) this.#options.onProblem(pauseMessage(change));
      await this.#sendApply(data, result, { repository, attempt });
    } finally {
      this.#running -= 1;
    }
  }

  async #sendApply(
    stack: StackId,
    result: FoundCheck,
    about: Pick<ApplyContext, 'repository' | 'attempt'>,
  ): Promise<void> {
    const { database, fleet, onApply } = this.#options;
    const decided = await decideApply(stack, result, { database, fleet, ...about });
    if (typeof decided === 'string') await this.#applies.send(stack);
    else if (decided !== undefined) onApply(stack, decided);
  }

  #contextOf(
    stack: StackId,
    given: Pick<ApplyContext, 'repository' | 'attempt' | 'claim' | 'signal'>,
  ): ApplyContext {
    const { repository } = given;
    const checkouts = this.#checkouts;
    return {
      ...{ ...this.#options, ...given },
      newestCommit: async () => {
        const commit = await checkouts.newest(repository);
        const { stacks } = await checkouts.at(repository, commit);
        if (stacks.length === 0) throw allGone(repository);
        return commit;
      },
      readRepository: () => this.readRepositories([repository.name]),
      hasSameFiles: async (one, other) => {
        const [before, now] = [await checkouts.at(repository, one), await checkouts.at(repository, other)];
        const [first, second] = [before, now].map(
          ({ stacks }) => stacks.find(({ path }) => path === stack.path)?.tree,
        );
        return first !== undefined && first === second;
      },
      withCheckout: (commit, work) => checkouts.withOwn(repository, commit, work),
    };
  }

  async #run(
    repository: FleetRepository,
    { path, tree, signal }: { readonly path: string; readonly tree: string; readonly signal: AbortSignal },
  ): Promise<FoundCheck> {
    try {
      const commit = await this.#commitWith(repository, path, tree);
      const result = await this.#checkouts.use(repository, commit, (checkout) =>
        this.#checkIn(checkout, repository, { path, signal }),
      );
      return { ...result, commit };
    } catch (error) {
      return { error: messageOf(error), summary: undefined };
    }
  }

  /** The newest commit that this worker knows; if the schedule has other files, the newest of the branch: another worker has read it. */
  async #commitWith(repository: FleetRepository, path: string, tree: string): Promise<string> {
    const known = this.#commits.get(repository.name);
    if (known !== undefined) {
      const { stacks } = await this.#checkouts.at(repository, known);
      if (stacks.some((stack) => stack.path === path && stack.tree === tree)) return known;
    }
    const commit = await this.#checkouts.newest(repository);
    this.#commits.set(repository.name, commit);
    return commit;
  }

  async #checkIn(
    checkout: Checkout,
    repository: FleetRepository,
    { path, signal }: { readonly path: string; readonly signal: AbortSignal },
  ): Promise<FoundCheck> {
    const { database, env, folder, program } = this.#options;
    const rates = new CheckRates(database, 'check', (address) => this.#options.fleet.quotas.get(address));
    let found: CheckResult;
    try {
      found = await checkStack({ repository, checkout, path, program, env, folder, signal, rates });
    } finally {
      await rates.end();
    }
    return { ...found, requests: rates.counts };
  }
}
