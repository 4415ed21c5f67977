/**
 * What trueup uses of `pg-boss`. The types of the package name one that it does not export, and so do not compile; tsconfig.json puts
 * this file in their place.
 */
import type { EventEmitter } from 'node:events';

interface Database {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface Job<T> {
  readonly id: string;
  readonly data: T;
  /** aborted when the job is no longer this worker's, or the worker stops */
  readonly signal: AbortSignal;
}

interface QueueOptions {
  readonly policy?: 'standard' | 'short' | 'singleton' | 'stately' | 'exclusive';
  /** seconds that a job may take */
  readonly expireInSeconds?: number;
  /** seconds after which a job whose worker sent no heartbeat is given to another one */
  readonly heartbeatSeconds?: number;
  readonly retryLimit?: number;
  readonly deleteAfterSeconds?: number;
}

export declare class PgBoss extends EventEmitter {
  constructor(options: {
    readonly connectionString: string;
    readonly schema: string;
    readonly migrate: boolean;
    readonly application_name: string;
    readonly max: number;
    /** whether jobs whose worker died are found */
    readonly supervise: boolean;
    /** whether jobs can be scheduled by cron */
    readonly schedule: boolean;
    readonly monitorIntervalSeconds?: number;
    readonly superviseIntervalSeconds?: number;
  });
  start(): Promise<this>;
  supervise(name: string): Promise<void>;
  stop(options: { readonly graceful: boolean; readonly timeout?: number }): Promise<void>;
  isInstalled(): Promise<boolean>;
  schemaVersion(): Promise<number | null>;
  getQueue(name: string): Promise<object | null>;
  createQueue(name: string, options: QueueOptions): Promise<void>;
  updateQueue(name: string, options: QueueOptions): Promise<void>;
  insert(
    name: string,
    jobs: readonly { readonly data: object; readonly singletonKey: string; readonly priority: number }[],
    options?: { readonly db: Database },
  ): Promise<string[] | null>;
  work<T>(
    name: string,
    options: { readonly localConcurrency: number; readonly pollingIntervalSeconds: number },
    handler: (jobs: Job<T>[]) => Promise<void>,
  ): Promise<string>;
  offWork(name: string): Promise<void>;
}
