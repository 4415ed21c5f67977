/** Finds the commit that the manifests of a directory come from. Read-only; a directory outside a repository has none. */
import { messageOf } from '../../model/message-of.ts';
import { type GitContext, runGit } from './git-command.ts';

export interface RepositoryCommit {
  readonly commit: string;
  /** whether the directory has uncommitted changes; trueup's own files do not count */
  readonly dirty: boolean;
}

/** There is no git, no repository or no commit. Plan and apply work without one. */
export interface NoCommit {
  readonly commit?: undefined;
  /** the reason, as a clause of a message */
  readonly why: string;
}

export async function repositoryCommit(place: GitContext): Promise<RepositoryCommit | NoCommit> {
  try {
    const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], place);
    if (head.code !== 0)
      return { why: head.message.replace(/^fatal: /, '') || 'the repository has no commit yet' };
    const status = await runGit(['status', '--porcelain', '--', '.', ':(exclude,glob)**/.trueup/**'], place);
    return { commit: head.out.toString().trim(), dirty: status.out.length > 0 };
  } catch (error) {
    return { why: messageOf(error) };
  }
}

/** Whether a commit is a parent of another: a CI job may check out a merge that it made of a pull request, also in a shallow clone. */
export async function isParent(parent: string, child: string, place: GitContext): Promise<boolean> {
  const { code, out } = await runGit(['cat-file', 'commit', child], place);
  return code === 0 && new RegExp(`^parent ${parent}$`, 'm').test(out.toString().split('\n\n', 1)[0] ?? '');
}
