/**
 * Finds the files of the repository that cannot be lists of templates: files in trueup's own folder, which holds ledgers and tokens, and
 * files that git ignores. Commands print lists, also in the logs of CI.
 */
import { realpath } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { stateFolderName } from '../../files/write-file.ts';
import type { NoIndex } from '../../model/checkout.ts';
import { findRepository, liesIn, type Repository, slashes } from './find-stack.ts';
import type { TrackedFiles } from './tracked-files.ts';

/** @param root absolute; @param paths relative to it, with slashes. @returns the paths that git ignores */
export type ReadIgnored = (root: string, paths: readonly string[]) => Promise<ReadonlySet<string> | NoIndex>;

/** Why a file is private; with `why` if git cannot be asked whether it ignores the file. */
export type PrivateFile = 'state' | 'ignored' | NoIndex;

interface PrivacyContext {
  /** the repository of the stack */
  readonly repository: Repository;
  readonly tracked: TrackedFiles | undefined;
  readonly readIgnored: ReadIgnored | undefined;
}

/** Whether the repository at `root` ignores a path in it: then the file is private. */
interface IgnoreQuestion {
  readonly file: string;
  readonly root: string;
  readonly path: string;
}

/** @param files absolute. @returns the private ones; a file that does not exist or lies elsewhere is refused when it is read */
export async function privateFiles(
  files: Iterable<string>,
  { repository, tracked, readIgnored }: PrivacyContext,
): Promise<ReadonlyMap<string, PrivateFile>> {
  const found = new Map<string, PrivateFile>();
  const questions: IgnoreQuestion[] = [];
  for (const file of new Set(files)) {
    const real = await realpath(file).catch(() => undefined);
    if (real === undefined || !liesIn(repository, real)) continue;
    if (isOfState(repository, real)) found.set(file, 'state');
    else if (repository.isGit) questions.push(...(await questionsAbout(file, real, { repository, tracked })));
  }
  if (readIgnored !== undefined) await answerQuestions(questions, readIgnored, found);
  return found;
}

/** Asks git once for each repository: starting git takes longer than all its answers. */
async function answerQuestions(
  questions: readonly IgnoreQuestion[],
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

/** Whether the file is in trueup's own folder. Upper and lower case are the same, because the file system may ignore case. */
function isOfState({ root }: Repository, real: string): boolean {
  return slashes(relative(root, real))
    .split('/')
    .some((name) => name.toLowerCase() === stateFolderName);
}

/**
 * Asks about the file in its repository, and about each repository in the one around it, up to that of the stack. Git never ignores
 * a file that it tracks.
 */
async function questionsAbout(
  file: string,
  real: string,
  { repository, tracked }: Pick<PrivacyContext, 'repository' | 'tracked'>,
): Promise<readonly IgnoreQuestion[]> {
  const questions: IgnoreQuestion[] = [];
  let at = real;
  while (at !== repository.root) {
    const { root } = await findRepository(dirname(at));
    if ((await tracked?.isTracked(at)) !== true)
      questions.push({ file, root, path: slashes(relative(root, at)) });
    at = root;
  }
  return questions;
}
