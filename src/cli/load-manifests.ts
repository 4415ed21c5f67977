/** Manifests as this program knows them: its kinds, its dialects, standard input. */
import { dialects } from '../http/dialects.ts';
import { type Manifests, readManifests } from '../manifest/read-manifests.ts';
import type { World } from './world.ts';

export function loadManifests(path: string | undefined, world: World): Promise<Manifests> {
  return readManifests({
    ...(path === undefined ? {} : { path }),
    cwd: world.cwd,
    stdin: () => world.readStdin(),
    kinds: world.kinds,
    dialects,
  });
}
