/** Manifests as this program knows them: its kinds, its dialects, standard input. */
import { dialects } from '../http/dialects.ts';
import { type Manifests, readManifests } from '../manifest/read-manifests.ts';
import type { CliHost } from './cli-host.ts';

export interface LoadOptions {
  /** what standard input brings is all of the stack, also where that has files of its own */
  readonly complete?: boolean | undefined;
  /** seconds that a run may take, in place of what the stack says */
  readonly timeout?: number | undefined;
}

export async function loadManifests(
  path: string | undefined,
  host: CliHost,
  { complete = false, timeout }: LoadOptions = {},
): Promise<Manifests> {
  const manifests = await readManifests({
    ...(path === undefined ? {} : { path }),
    cwd: host.cwd,
    stdin: (most) => host.readStdin(most),
    inputIsWhole: complete,
    kinds: host.kinds,
    dialects,
  });
  const { stack } = manifests;
  return stack === undefined || timeout === undefined
    ? manifests
    : { ...manifests, stack: { ...stack, timeout } };
}
