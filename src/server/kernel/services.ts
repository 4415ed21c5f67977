/**
 * What every part of the embedded service gets: the database, the clock, the dialects, the files of its pod, the audit trail.
 * Parts reach the outside world only through this value, so that a test can replace the clock and two servers in one process
 * share nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from './database.ts';
import type { ServedDialects } from './dialects.ts';
import { chooseEdition, type EditionFeatures } from './workspaces-dialects.ts';

export interface Services {
  readonly database: Database;
  readonly dialects: ServedDialects;
  /** Of the pod that the service is in. */
  readonly pod: PodFiles;
  readonly edition: EditionFeatures;
  now(): Date;
  /** How long a call to a cluster's API may take, in milliseconds. */
  readonly clusterPatienceMs: number;
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

/** Long enough for a busy cluster, and short enough for a waiting login. */
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
  };
}

// What a pod has of its service account: the cluster's CA certificate and a token, in files of a folder.
// Invariant: a file is read when it is needed and then kept for a while, because the token is replaced in it from time to
// time; a failure is not kept.

interface PodFiles {
  /** The authority of the cluster, or why it cannot be read. */
  caCert(): PodFile;
  /** The token of the pod's service account, or why it cannot be read. */
  token(): PodFile;
}

type PodFile = { readonly text: string } | { readonly problem: string };

/** The usual folder of pods, for errors; it is not read when the service is in no pod. */
const CUSTOMARY = '/var/run/secrets/kubernetes.io/serviceaccount';

const CA_LIFE_MS = 3_600_000;
const TOKEN_LIFE_MS = 60_000;

/**
 * Files may come later; the folder is there from the start.
 * @param folder undefined outside of a pod, where neither file can be read
 * @throws the system's error when it is no folder that can be read
 */
export function openPodFiles(folder: string | undefined, now: () => Date): PodFiles {
  if (folder === undefined) {
    const missing = (name: string) => () => ({ problem: notThere(join(CUSTOMARY, name)) });
    return { caCert: missing('ca.crt'), token: missing('token') };
  }
  readdirSync(folder);
  return {
    caCert: keeping(join(folder, 'ca.crt'), CA_LIFE_MS, now),
    token: keeping(join(folder, 'token'), TOKEN_LIFE_MS, now),
  };
}

function keeping(path: string, lifeMs: number, now: () => Date): () => PodFile {
  let kept: { readonly text: string; readonly until: number } | undefined;
  return () => {
    const time = now().getTime();
    if (kept !== undefined && time < kept.until) return { text: kept.text };
    try {
      kept = { text: readFileSync(path, 'utf8'), until: time + lifeMs };
      return { text: kept.text };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return { problem: code === 'ENOENT' ? notThere(path) : `open ${path}: ${code ?? 'unreadable'}` };
    }
  };
}

function notThere(path: string): string {
  return `open ${path}: no such file or directory`;
}
