/**
 * Compares two commits within one repository, without using the network. Where the history is incomplete (a shallow clone), the
 * answer may be that it is unknown.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { LedgerError } from '../../model/stack/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { type GitContext, runGit } from './git-command.ts';

/** Two commits, by their whole ids. */
export interface CommitPair {
  /** the commit that was applied last; the repository may not have it */
  readonly applied: string;
  /** the repository has it */
  readonly ours: string;
}

/**
 * `behind`: ours is an ancestor of the applied commit; `onward`: ours descends from it; `diverged`: neither; `open`: this repository
 * cannot tell.
 */
export type Standing = 'behind' | 'onward' | 'diverged' | 'open';

export async function standingOf(at: GitContext, { applied, ours }: CommitPair): Promise<Standing> {
  if (!(await hasCommit(at, applied))) return 'open';
  if (await isAncestor(at, ours, applied)) return 'behind';
  if (await isAncestor(at, applied, ours)) return 'onward';
  const cut = await cutCommits(at);
  if (cut.size === 0) return 'diverged';
  // Where the parents of a commit on one side are missing, the other one may be among its ancestors.
  const oneSided = await linesOf(at, ['rev-list', `${ours}...${applied}`]);
  return oneSided.some((id) => cut.has(id)) ? 'open' : 'diverged';
}

/** In a partial clone git may fetch a missing object when asked for it; with these options it does not. */
export async function hasCommit(at: GitContext, id: string): Promise<boolean> {
  const { code, out } = await runGit(['rev-list', '--missing=allow-any', '--max-count=1', id, '--'], at);
  return code === 0 && out.toString().trim() === id;
}

/** Of these commits and their ancestors, those whose parents the repository does not have. */
export async function cutBehind(at: GitContext, ids: readonly string[]): Promise<string[]> {
  const cut = await cutCommits(at);
  if (cut.size === 0) return [];
  return (await linesOf(at, ['rev-list', ...ids])).filter((id) => cut.has(id));
}

async function cutCommits(at: GitContext): Promise<ReadonlySet<string>> {
  const [path = ''] = await linesOf(at, ['rev-parse', '--git-path', 'shallow']);
  const text = await readFile(resolve(at.directory, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new LedgerError(`${quoted(path)} cannot be read: ${error.message}`, { cause: error });
  });
  return new Set(text.split('\n').filter((line) => line !== ''));
}

async function isAncestor(at: GitContext, one: string, other: string): Promise<boolean> {
  const { code, message } = await runGit(['merge-base', '--is-ancestor', one, other], at);
  if (code > 1) throw new LedgerError(`git merge-base says: ${message}`);
  return code === 0;
}

/** @throws LedgerError when git fails */
export async function linesOf(at: GitContext, args: readonly string[]): Promise<string[]> {
  const { code, out, message } = await runGit(args, at);
  if (code !== 0) throw new LedgerError(`git ${args[0]} says: ${message}`);
  return out
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}
