/** Manifests as this program knows them: its kinds, its dialects, standard input. */
import { dialects } from '../http/dialects.ts';
import { type Manifests, readManifests } from '../manifest/read-manifests.ts';
import type { CliHost } from './cli-host.ts';
import { type InputEnds, readInput } from './run/read-input.ts';

export interface LoadOptions extends InputEnds {
  /** what standard input brings is all of the stack, also where that has files of its own */
  readonly complete?: boolean | undefined;
}

export interface LoadedManifests extends Manifests {
  /** milliseconds since 1970: since when the run waits for somebody, where it read standard input */
  readonly began?: number;
}

/** @throws InputGivenUp when standard input was asked for and did not come to its end in time */
export async function loadManifests(
  path: string | undefined,
  host: CliHost,
  { complete = false, timeout, over }: LoadOptions = {},
): Promise<LoadedManifests> {
  let began: number | undefined;
  const manifests = await readManifests({
    ...(path === undefined ? {} : { path }),
    cwd: host.cwd,
    stdin: (most) => {
      began = Date.now();
      return readInput(host, most, { timeout, over });
    },
    inputIsWhole: complete,
    kinds: host.kinds,
    dialects,
  });
  const { stack } = manifests;
  return {
    ...manifests,
    ...(began === undefined ? {} : { began }),
    ...(stack === undefined || timeout === undefined ? {} : { stack: { ...stack, timeout } }),
  };
}
