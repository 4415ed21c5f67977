/**
 * What every part of the embedded service gets handed: the database, the clock, the dialects, the audit trail.
 * Invariant: parts reach the outside world only through this value, so a test can replace the clock and nothing leaks
 * between two servers in one process.
 */
import { type AuditEvent, insertEvent } from './audit-trails/record-event.ts';
import { openPodFiles, type PodFiles } from './cluster-auth/pod-files.ts';
import type { Database } from './data-file/database.ts';
import type { ServedDialects } from './dialects.ts';
import { chooseEdition, type EditionFeatures } from './editions.ts';

export interface Services {
  readonly database: Database;
  readonly dialects: ServedDialects;
  /** Of the pod that the service is in. */
  readonly pod: PodFiles;
  readonly edition: EditionFeatures;
  now(): Date;
  /** How long a call to a cluster's API may take, in milliseconds. */
  readonly clusterPatienceMs: number;
  /** Adds to the audit trail; call it inside the transaction of the change. */
  recordEvent(event: AuditEvent): void;
}

/** What may differ from server to server. */
interface ServicesOptions {
  readonly now: () => Date;
  readonly dialects: ServedDialects;
  /** The dialect's own default where none is given. */
  readonly edition?: EditionFeatures | undefined;
  /** The folder of a pod's service account; undefined outside of a pod. */
  readonly inPod?: string | undefined;
  /** How long a call to a cluster's API may take, in milliseconds. */
  readonly clusterPatienceMs?: number | undefined;
}

/** Long enough for a cluster that is busy, and short enough for who waits for the login. */
const CLUSTER_PATIENCE_MS = 5000;

export function createServices(database: Database, options: ServicesOptions): Services {
  const { now, dialects, inPod, clusterPatienceMs = CLUSTER_PATIENCE_MS } = options;
  return {
    database,
    dialects,
    edition: options.edition ?? chooseEdition(undefined, dialects.workspaces),
    pod: openPodFiles(inPod, now),
    now,
    clusterPatienceMs,
    recordEvent: (event) => {
      insertEvent(database, event, now());
    },
  };
}
