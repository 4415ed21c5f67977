/**
 * What every part of the embedded service receives: the database, the clock, the dialects, the edition, the files of its pod.
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
  /** The files of the pod in which the service runs. */
  readonly pod: PodFiles;
  readonly edition: EditionFeatures;
  now(): Date;
  /** How long a call to a cluster's API may take, in milliseconds. */
  readonly clusterTimeoutMs: number;
}

/** What can differ between servers. */
interface ServicesOptions {
  readonly now: () => Date;
  readonly dialects: ServedDialects;
  /** Undefined: the default edition of the dialect. */
  readonly edition?: EditionFeatures | undefined;
  /** The folder of a pod's service account; undefined outside of a pod. */
  readonly inPod?: string | undefined;
  /** How long a call to a cluster's API may take, in milliseconds. */
  readonly clusterTimeoutMs?: number | undefined;
}

/** Long enough for a busy cluster, and short enough for a waiting login. */
const CLUSTER_TIMEOUT_MS = 5000;

export function createServices(database: Database, options: ServicesOptions): Services {
  const { now, dialects, inPod, clusterTimeoutMs = CLUSTER_TIMEOUT_MS } = options;
  return {
    database,
    dialects,
    edition: options.edition ?? chooseEdition(undefined, dialects.workspaces),
    pod: openPodFiles(inPod, now),
    now,
    clusterTimeoutMs,
  };
}

// The files of a pod's service account, in one folder: the cluster's CA certificate and a token.
// Invariant: a file is read when it is needed and then cached for a limited time, because the token in it is replaced from time
// to time. Failures are not cached.

interface PodFiles {
  /** The CA certificate of the cluster, or why it cannot be read. */
  caCert(): PodFile;
  /** The token of the pod's service account, or why it cannot be read. */
  token(): PodFile;
}

type PodFile = { readonly text: string } | { readonly problem: string };

/** The usual folder in pods, for error texts; it is not read when the service runs outside of a pod. */
const USUAL_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

const CA_LIFE_MS = 3_600_000;
const TOKEN_LIFE_MS = 60_000;

/**
 * The folder must exist; its files may appear later.
 * @param folder undefined outside of a pod, where neither file can be read
 * @throws the system's error when the folder cannot be read
 */
export function openPodFiles(folder: string | undefined, now: () => Date): PodFiles {
  if (folder === undefined) {
    const missing = (name: string) => () => ({ problem: notThere(join(USUAL_FOLDER, name)) });
    return { caCert: missing('ca.crt'), token: missing('token') };
  }
  readdirSync(folder);
  return {
    caCert: cachedFile(join(folder, 'ca.crt'), CA_LIFE_MS, now),
    token: cachedFile(join(folder, 'token'), TOKEN_LIFE_MS, now),
  };
}

function cachedFile(path: string, lifeMs: number, now: () => Date): () => PodFile {
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
