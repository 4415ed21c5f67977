/** The loop of a worker: once a minute it reads its fleet file and the repositories, and each half second it takes what is due. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../model/error-message.ts';
import { CommandStop } from '../../run/command-stop.ts';
import type { OpenDatabase } from './database.ts';
import type { KeptFleet } from './kept-fleet.ts';
import { databaseTime } from './schedule.ts';
import type { FleetWorker } from './worker.ts';
import { takePushes } from './webhooks.ts';
import { nameRepositories } from './workers.ts';

/** Milliseconds between two reads of the schedule. */
const tick = 500;

/** Milliseconds between two reads of the fleet file and the repositories. */
const readInterval = 60_000;

/** Milliseconds for which `fleet run` waits for a database that became unavailable. `fleet work` waits forever. */
const longestOutage = 60_000;

interface LifeOptions {
  readonly worker: FleetWorker;
  readonly file: KeptFleet;
  readonly database: Pick<OpenDatabase, 'run' | 'transaction'>;
  /** whether the worker ends when nothing is due and nothing runs */
  readonly once: boolean;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly onProblem: (message: string) => void;
  readonly clean: <T extends object>(value: T) => T;
}

export class WorkerLife {
  readonly #options: LifeOptions;
  #lastScheduleRead: number | undefined;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #dueBy: Date | undefined;
  #outageSince: number | undefined;
  /** problem of the fleet file, which is reported once */
  #problem: string | undefined;
  /** reads of repositories that run beside the checks: a code host may not answer */
  readonly #reads = new Set<Promise<unknown>>();
  #unread = 0;
  #readFailure: { readonly cause: unknown } | undefined;

  constructor(options: LifeOptions) {
    this.#options = options;
  }

  /** milliseconds since 1970 of the last read of the schedule that the database answered */
  get lastScheduleRead(): number | undefined {
    return this.#lastScheduleRead;
  }

  /** Reads the repositories for the first time. Meanwhile, a worker that does not end by itself checks what the schedule has. */
  async begin(): Promise<void> {
    if (!this.#options.once) await this.#options.worker.claimRepositories();
    const read = this.#readBesideChecks(async () => {
      this.#unread = await this.#readRepositories();
    });
    if (this.#options.once) await read;
  }

  /** how many repositories the first read could not read */
  get unread(): number {
    return this.#unread;
  }

  async #readRepositories(): Promise<number> {
    const { worker, file, database, clean, now } = this.#options;
    await worker.touchFolder(now());
    const { name: fleet, repositories } = file.fleet;
    const unread = await worker.readRepositories();
    const names = repositories.map(({ name }) => name);
    const messages = new Map(Object.entries(clean(Object.fromEntries(unread))));
    await this.#survivingOutage(() =>
      database.transaction((client) => nameRepositories(client, { fleet, names, unread: messages })),
    );
    return unread.size;
  }

  /** Runs until the signal is aborted, or until nothing is left to do. @throws CommandStop when the database is unavailable for too long */
  async run(): Promise<void> {
    try {
      await this.#loop();
    } finally {
      await Promise.allSettled(this.#reads);
    }
  }

  async #loop(): Promise<void> {
    const { once, signal, now } = this.#options;
    let idle = 0;
    let readAt = now();
    let reading: Promise<void> | undefined;
    // When the transaction of another worker ends, something may become due. So this worker ends only after three ticks without work.
    while (!signal.aborted && !(once && idle > 2)) {
      if (!once && reading === undefined && now() - readAt > readInterval) {
        readAt = now();
        reading = this.#readBesideChecks(() => this.#readAgain()).finally(() => {
          reading = undefined;
        });
      }
      if (!once && now() - this.#refreshedAt > readInterval) await this.#refreshFile();
      if (this.#readFailure !== undefined) throw this.#readFailure.cause;
      if (!once) await this.#survivingOutage(() => this.#readPushed());
      idle = (await this.#survivingOutage(() => this.#queueDue())) ? idle + 1 : 0;
      await sleep(tick, undefined, { signal }).catch(() => {});
    }
  }

  #readBesideChecks(read: () => Promise<unknown>): Promise<void> {
    const ended = read().then(
      () => {},
      (cause: unknown) => {
        this.#readFailure = { cause };
      },
    );
    this.#reads.add(ended);
    return ended.finally(() => this.#reads.delete(ended));
  }

  /** Reads the fleet file, without waiting for the reads of repositories: a new freeze must not wait for a code host. */
  async #refreshFile(): Promise<void> {
    const { file, onProblem, now } = this.#options;
    this.#refreshedAt = now();
    await file.refresh();
    if (file.problem !== undefined && file.problem !== this.#problem) onProblem(file.problem);
    this.#problem = file.problem;
  }

  async #readAgain(): Promise<void> {
    const { worker } = this.#options;
    await this.#refreshFile();
    await this.#readRepositories();
    await this.#survivingOutage(() => worker.beginApplies());
  }

  /** Reads the repositories that webhooks reported. */
  async #readPushed(): Promise<void> {
    const { worker, database } = this.#options;
    const names = worker.fleet.repositories.map(({ name }) => name);
    const pushed = await database.run((client) => takePushes(client, names));
    if (pushed.length > 0) void this.#readBesideChecks(() => worker.readRepositories(pushed));
  }

  /** Queues what is due. @returns whether nothing was due, nothing runs here, and nothing waits in the queue */
  async #queueDue(): Promise<boolean> {
    const { worker, concurrency, now, once, database } = this.#options;
    // What becomes due during a run is left to the next run: otherwise, with a short interval, the run would never end.
    if (once) this.#dueBy ??= await database.run(databaseTime);
    const free = 2 * concurrency - worker.running;
    const sent = free > 0 ? await worker.dispatch(free, this.#dueBy) : 0;
    this.#lastScheduleRead = now();
    return sent === 0 && worker.isIdle && (await worker.waiting()) === 0;
  }

  /** Does the work. @returns its result; undefined while the database is unavailable, which is reported once */
  async #survivingOutage<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { once, now, signal, onProblem } = this.#options;
    try {
      const result = await work();
      this.#outageSince = undefined;
      return result;
    } catch (error) {
      if (!(error instanceof CommandStop)) throw error;
      if (signal.aborted) return undefined;
      if (this.#outageSince === undefined) onProblem(`${messageOf(error)}; the worker tries again`);
      this.#outageSince ??= now();
      if (once && now() - this.#outageSince > longestOutage) throw error;
      return undefined;
    }
  }
}
