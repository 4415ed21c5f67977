/** Manifests as this program knows them: its kinds, its dialects, standard input. */
import { dialects } from '../http/dialects.ts';
import { type Manifests, readManifests } from '../manifest/read-manifests.ts';
import type { World } from './world.ts';

/** @param complete what standard input brings is all of the stack, also where that has files of its own */
export function loadManifests(path: string | undefined, world: World, complete = false): Promise<Manifests> {
  return readManifests({
    ...(path === undefined ? {} : { path }),
    cwd: world.cwd,
    stdin: () => world.readStdin(),
    inputIsWhole: complete,
    kinds: world.kinds,
    dialects,
  });
}
