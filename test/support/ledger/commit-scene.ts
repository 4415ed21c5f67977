/** A repository with a stack in the folder `pay`, and clones of it at different commits. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { orderCommits } from '../../../src/ledger/git/order-commits.ts';
import { repositoryCommit } from '../../../src/ledger/git/checkout.ts';
import { matchFiles } from '../../../src/manifest/files/match-files.ts';
import type { CommitOrder } from '../../../src/model/checkout.ts';
import { commitOf, git, type GitRemote, makeEmptyClone, makeRemote } from './git-remote.ts';

export interface CommitScene {
  readonly remote: GitRemote;
  /** the clone in which commits are made */
  readonly author: string;
  /** Writes these files, commits and pushes. @returns the id */
  commit(files: Readonly<Record<string, string>>): string;
  /** Makes and pushes `count` commits that change no file of the stack. @returns the id of the last one */
  commits(count: number): string;
  /** a clone with this commit checked out. @param options of git clone, which decide about its history */
  at(commit: string, ...options: readonly string[]): string;
  /** a clone as CI jobs make it: only this commit, fetched by its id */
  shallowAt(commit: string): string;
}

export function openScene(): CommitScene {
  const remote = makeRemote();
  const author = remote.clone();
  // The setting of large code hosts.
  git(remote.directory, 'config', 'uploadpack.allowFilter', 'true');
  const commit = (files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(author, path)), { recursive: true });
      writeFileSync(join(author, path), text);
    }
    git(author, 'add', '.');
    git(author, 'commit', '--quiet', '-m', 'x');
    git(author, 'push', '--quiet', 'origin', 'HEAD');
    return commitOf(author);
  };
  let jobs = 0;
  return {
    remote,
    author,
    commit,
    commits: (count) => {
      const name = {
        GIT_AUTHOR_NAME: 't',
        GIT_AUTHOR_EMAIL: 't',
        GIT_COMMITTER_NAME: 't',
        GIT_COMMITTER_EMAIL: 't',
      };
      const script = `for i in $(seq ${count}); do git reset --soft $(git commit-tree -p HEAD -m x HEAD^{tree}); done`;
      execFileSync('sh', ['-c', script], { cwd: author, env: { ...process.env, ...name } });
      git(author, 'push', '--quiet', 'origin', 'HEAD');
      return commitOf(author);
    },
    at: (id, ...options) => {
      const clone = remote.clone(...options);
      git(clone, 'checkout', '--quiet', id);
      return clone;
    },
    shallowAt: (id) => {
      jobs += 1;
      const clone = join(dirname(remote.directory), `job-${jobs}`);
      makeEmptyClone(clone, remote.directory);
      git(clone, 'fetch', '--quiet', '--depth=1', 'origin', id);
      git(clone, 'checkout', '--quiet', '--detach', id);
      return clone;
    },
  };
}

export interface OrderOptions {
  readonly patterns?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly timeout?: number;
}

/** The order of the commit that is checked out in a clone, and a commit that was applied. */
export async function orderIn(
  clone: string,
  applied: string,
  options: OrderOptions = {},
): Promise<CommitOrder> {
  const { patterns = ['manifests/*.yaml'], env = process.env, timeout } = options;
  const at = { directory: join(clone, 'pay'), env };
  return orderCommits({
    at,
    applied,
    ours: await repositoryCommit(at),
    files: matchFiles(patterns, at.directory),
    ...(timeout === undefined ? {} : { timeout }),
  });
}
