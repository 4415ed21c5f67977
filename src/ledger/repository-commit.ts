/** Which commit the manifests of a directory come from. Only looks; a directory outside of any repository has none. */
import { type GitPlace, runGit } from './git-command.ts';

export interface RepositoryCommit {
  readonly commit: string;
  /** the directory holds changes that are not committed; our own files do not count */
  readonly dirty: boolean;
}

/** Undefined where there is no git, no repository or no commit: the history is as good without it. */
export async function repositoryCommit(place: GitPlace): Promise<RepositoryCommit | undefined> {
  try {
    const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], place);
    if (head.code !== 0) return undefined;
    const status = await runGit(['status', '--porcelain', '--', '.', ':(exclude,glob)**/.trueup/**'], place);
    return { commit: head.out.toString().trim(), dirty: status.out.length > 0 };
  } catch {
    return undefined;
  }
}
