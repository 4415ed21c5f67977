/** Which commit the manifests of a directory come from. Only looks; a directory outside of any repository has none. */
import { messageOf } from '../../model/message-of.ts';
import { type GitContext, runGit } from './git-command.ts';

export interface RepositoryCommit {
  readonly commit: string;
  /** the directory holds changes that are not committed; our own files do not count */
  readonly dirty: boolean;
}

/** There is no git, no repository or no commit: what is planned and applied is as good without. */
export interface NoCommit {
  readonly commit?: undefined;
  /** a clause */
  readonly why: string;
}

export async function repositoryCommit(place: GitContext): Promise<RepositoryCommit | NoCommit> {
  try {
    const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], place);
    if (head.code !== 0)
      return { why: head.words.replace(/^fatal: /, '') || 'the repository has no commit yet' };
    const status = await runGit(['status', '--porcelain', '--', '.', ':(exclude,glob)**/.trueup/**'], place);
    return { commit: head.out.toString().trim(), dirty: status.out.length > 0 };
  } catch (error) {
    return { why: messageOf(error) };
  }
}
