/**
 * Which files a list cannot be, although they lie in the repository: those of trueup's own folder, which holds ledgers and tokens,
 * and those that git ignores. Commands print what lists hold, in the logs of CI as well.
 */
import { realpath } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { stateFolderName } from '../../files/write-file.ts';
import type { NoIndex } from '../../model/checkout.ts';
import { findRepository, liesIn, type Repository, slashes } from './find-stack.ts';
import type { TrackedFiles } from './tracked-files.ts';

/** @param root absolute; @param paths relative to it, with slashes. @returns those of them that git ignores */
export type ReadIgnored = (root: string, paths: readonly string[]) => Promise<ReadonlySet<string> | NoIndex>;

/** Why a file is private; `why` if git cannot tell. */
export type PrivateFile = 'state' | 'ignored' | NoIndex;

interface Around {
  /** of the stack */
  readonly repository: Repository;
  readonly tracked: TrackedFiles | undefined;
  readonly readIgnored: ReadIgnored | undefined;
}

/** Whether the repository at `root` ignores a path in it: then the file is private. */
interface Question {
  readonly file: string;
  readonly root: string;
  readonly path: string;
}

/** @param files absolute. @returns the private ones; a file that does not exist, or lies elsewhere, is for its reader to refuse */
export async function privateFiles(
  files: Iterable<string>,
  { repository, tracked, readIgnored }: Around,
): Promise<ReadonlyMap<string, PrivateFile>> {
  const found = new Map<string, PrivateFile>();
  const questions: Question[] = [];
  for (const file of new Set(files)) {
    const real = await realpath(file).catch(() => undefined);
    if (real === undefined || !liesIn(repository, real)) continue;
    if (isOfState(repository, real)) found.set(file, 'state');
    else if (repository.isGit) questions.push(...(await questionsAbout(file, real, { repository, tracked })));
  }
  if (readIgnored !== undefined) await answer(questions, readIgnored, found);
  return found;
}

/** A process of git takes longer than all its answers, so there is one for each repository. */
async function answer(
  questions: readonly Question[],
  readIgnored: ReadIgnored,
  found: Map<string, PrivateFile>,
): Promise<void> {
  for (const [root, asked] of Map.groupBy(questions, (question) => question.root)) {
    const ignored = await readIgnored(root, [...new Set(asked.map(({ path }) => path))]);
    for (const { file, path } of asked)
      if ('why' in ignored) found.set(file, ignored);
      else if (ignored.has(path)) found.set(file, 'ignored');
  }
}

/** The file system may ignore case. */
function isOfState({ root }: Repository, real: string): boolean {
  return slashes(relative(root, real))
    .split('/')
    .some((name) => name.toLowerCase() === stateFolderName);
}

/**
 * About the file in its repository, and about each repository in the one around it, up to that of the stack. Git ignores nothing
 * that it tracks.
 */
async function questionsAbout(
  file: string,
  real: string,
  { repository, tracked }: Pick<Around, 'repository' | 'tracked'>,
): Promise<readonly Question[]> {
  const questions: Question[] = [];
  let at = real;
  while (at !== repository.root) {
    const { root } = await findRepository(dirname(at));
    if ((await tracked?.isTracked(at)) !== true)
      questions.push({ file, root, path: slashes(relative(root, at)) });
    at = root;
  }
  return questions;
}
