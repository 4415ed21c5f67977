/** Lists what the index of a repository tracks, with what a sparse checkout left out of the work tree. */
import { messageOf } from '../../model/message-of.ts';
import type { IndexEntry, NoIndex } from '../../model/stack/checkout.ts';
import { type GitContext, runGit } from './git-command.ts';

/** @param pathspec which entries; by default those in the directory and below */
export async function readIndex(place: GitContext, pathspec = '.'): Promise<readonly IndexEntry[] | NoIndex> {
  try {
    const { code, out, message } = await runGit(['ls-files', '--stage', '-t', '-z', '--', pathspec], place);
    if (code !== 0) return { why: message.replace(/^fatal: /, '') };
    return out.toString().split('\0').filter(Boolean).map(entryOf);
  } catch (error) {
    return { why: messageOf(error) };
  }
}

/** Reads `S 100644 <id> 0\tmanifests/app.yaml`; `S` is what the work tree leaves out. */
function entryOf(line: string): IndexEntry {
  const [tag, mode = ''] = line.split(' ', 2);
  const type = mode === '160000' ? 'submodule' : mode === '120000' ? 'link' : 'file';
  return { path: line.slice(line.indexOf('\t') + 1), type, leftOut: tag === 'S' };
}
