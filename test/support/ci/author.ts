/** A work tree in which a person makes commits, branches and merges, and pushes each of them. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commitOf, git } from '../ledger/git-remote.ts';

export type MergeMethod = 'merge' | 'squash' | 'rebase' | 'fast-forward';

/** Texts by path; undefined removes a file. */
type Files = Readonly<Record<string, string | undefined>>;

export interface MergeResult {
  /** the new commits of the protected branch, the newest last */
  readonly commits: readonly string[];
  /** the commit that a squash made of the others */
  readonly squash?: string;
}

export interface Author {
  /** Creates a branch from the protected one, with a commit. @returns the commit */
  startBranch(branch: string, files: Files): string;
  /** Adds a commit to a branch, the protected one included. */
  commit(branch: string, files: Files): string;
  /** Merges into the protected branch. @param mergesSquashed whether a squashed commit gets a merge commit */
  merge(branch: string, how: MergeMethod, mergesSquashed?: boolean): MergeResult;
}

export function openAuthor(work: string): Author {
  const run = (...args: readonly string[]) => git(work, ...args);
  const checkoutMain = (as = 'main') => {
    run('fetch', '--quiet', 'origin');
    run('checkout', '--quiet', '-B', as, 'origin/main');
  };
  const commitHere = (branch: string, files: Files) => {
    for (const [path, text] of Object.entries(files)) {
      const file = join(work, path);
      mkdirSync(dirname(file), { recursive: true });
      if (text === undefined) rmSync(file);
      else writeFileSync(file, text);
    }
    run('add', '--all', '.');
    run('commit', '--quiet', '--allow-empty', '-m', branch);
    run('push', '--quiet', 'origin', branch);
    return commitOf(work);
  };
  return {
    startBranch: (branch, files) => {
      checkoutMain(branch);
      return commitHere(branch, files);
    },
    commit: (branch, files) => {
      if (branch === 'main') checkoutMain();
      else run('checkout', '--quiet', branch);
      return commitHere(branch, files);
    },
    merge: (branch, how, mergesSquashed = false) => {
      checkoutMain();
      const before = commitOf(work);
      const squash = mergeInto(run, { branch, how, mergesSquashed });
      run('push', '--quiet', 'origin', 'main');
      const commits = run('rev-list', '--reverse', '--first-parent', `${before}..HEAD`).split('\n');
      return { commits, ...(squash === undefined ? {} : { squash }) };
    },
  };
}

interface MergeOptions {
  readonly branch: string;
  readonly how: MergeMethod;
  readonly mergesSquashed: boolean;
}

/** Merges into the protected branch, which is checked out. @returns the commit that a squash made */
function mergeInto(
  run: (...args: readonly string[]) => string,
  { branch, how, mergesSquashed }: MergeOptions,
): string | undefined {
  switch (how) {
    case 'merge':
      run('merge', '--quiet', '--no-ff', '-m', `merge ${branch}`, branch);
      return undefined;
    case 'squash': {
      run('checkout', '--quiet', '-B', 'squashed');
      run('merge', '--quiet', '--squash', branch);
      run('commit', '--quiet', '-m', `squash ${branch}`);
      run('checkout', '--quiet', 'main');
      run(
        'merge',
        '--quiet',
        ...(mergesSquashed ? ['--no-ff', '-m', `merge ${branch}`] : ['--ff-only']),
        'squashed',
      );
      return run('rev-parse', 'squashed');
    }
    case 'rebase':
      run('checkout', '--quiet', '-B', 'rebased', branch);
      // GitHub makes new commits, also where none would be needed.
      run('rebase', '--quiet', '--force-rebase', 'main');
      run('checkout', '--quiet', 'main');
      run('merge', '--quiet', '--ff-only', 'rebased');
      return undefined;
    case 'fast-forward':
      run('merge', '--quiet', '--ff-only', branch);
      return undefined;
  }
}
