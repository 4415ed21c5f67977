/** Where a file really lies that may be a link to one, also to one that is not there yet: it is written there, not over the link. */
import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** As many as the system itself follows. */
const mostLinks = 40;

/** @param file absolute. @throws when links lead in a circle */
export async function followLinks(file: string): Promise<string> {
  let at = file;
  for (let followed = 0; followed <= mostLinks; followed += 1) {
    const folder = await realpath(dirname(at)).catch(() => dirname(at));
    const target = await readlink(at).catch(() => undefined);
    if (target === undefined) return join(folder, basename(at));
    at = resolve(folder, target);
  }
  throw new Error(`"${file}" leads through too many links`);
}
