/** Reads manifests with the kinds and dialects of this program, and with the process's standard input. */
import { dialects } from '../http/dialects.ts';
import { readIndex } from '../ledger/git/index-entries.ts';
import type { FileDrafts } from '../manifest/load-documents.ts';
import { type Manifests, readManifests } from '../manifest/read-manifests.ts';
import type { CliHost } from './cli-host.ts';
import { type InputEnds, readInput } from './run/read-input.ts';

export interface LoadOptions extends InputEnds {
  /** the manifests on standard input are the whole stack, even when the stack has files of its own */
  readonly complete?: boolean | undefined;
  /** what files would hold, in place of what they do */
  readonly drafts?: FileDrafts | undefined;
}

export interface LoadedManifests extends Manifests {
  /** milliseconds since 1970: when the run began to read standard input; absent when it did not */
  readonly began?: number;
}

/** @throws InputWaitEnded when standard input did not end before the run did */
export async function loadManifests(
  path: string | undefined,
  host: CliHost,
  { complete = false, timeout, over, drafts }: LoadOptions = {},
): Promise<LoadedManifests> {
  let began: number | undefined;
  const manifests = await readManifests({
    ...(path === undefined ? {} : { path }),
    cwd: host.cwd,
    userId: host.machine().userId,
    stdin: (max) => {
      began = host.now();
      return readInput(host, max, { timeout, over });
    },
    inputIsWhole: complete,
    drafts,
    readIndex: (directory) => readIndex({ directory, env: host.env, ...(over && { signal: over }) }),
    kinds: host.kinds,
    dialects,
    now: host.now(),
  });
  const { stack } = manifests;
  return {
    ...manifests,
    ...(began === undefined ? {} : { began }),
    ...(stack === undefined || timeout === undefined ? {} : { stack: { ...stack, timeout } }),
  };
}
