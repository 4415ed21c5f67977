/**
 * How two commits stand to each other, as far as one repository can tell by itself: nothing is sent, and nothing is said
 * that a history cut short (a shallow clone) leaves open.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { LedgerError } from '../../model/stack/ledger.ts';
import { type GitContext, runGit } from './git-command.ts';

/** Two commits, by their whole ids. */
export interface CommitPair {
  /** was applied last; the repository may not have it */
  readonly applied: string;
  /** the repository has it */
  readonly ours: string;
}

/** `behind`: ours is an ancestor of what was applied; `onward`: it is not; `open`: this repository does not know. */
export type Standing = 'behind' | 'onward' | 'open';

export async function standingOf(at: GitContext, { applied, ours }: CommitPair): Promise<Standing> {
  if (!(await hasCommit(at, applied))) return 'open';
  if (await isAncestor(at, ours, applied)) return 'behind';
  if (await isAncestor(at, applied, ours)) return 'onward';
  const cut = await cutCommits(at);
  if (cut.size === 0) return 'onward';
  // Ours may lie behind a commit whose parents are missing, unless ours has that one behind itself.
  const others = await linesOf(at, ['rev-list', applied, `^${ours}`]);
  return others.some((id) => cut.has(id)) ? 'open' : 'onward';
}

/** What git must not do here is fetch what a partial clone lacks: this asks in a way that never does. */
export async function hasCommit(at: GitContext, id: string): Promise<boolean> {
  const { code, out } = await runGit(['rev-list', '--missing=allow-any', '--max-count=1', id, '--'], at);
  return code === 0 && out.toString().trim() === id;
}

/** The commits behind these, themselves included, whose parents the repository does not have. */
export async function cutBehind(at: GitContext, ids: readonly string[]): Promise<string[]> {
  const cut = await cutCommits(at);
  if (cut.size === 0) return [];
  return (await linesOf(at, ['rev-list', ...ids])).filter((id) => cut.has(id));
}

async function cutCommits(at: GitContext): Promise<ReadonlySet<string>> {
  const [path = ''] = await linesOf(at, ['rev-parse', '--git-path', 'shallow']);
  const text = await readFile(resolve(at.directory, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new LedgerError(`"${path}" cannot be read: ${error.message}`, { cause: error });
  });
  return new Set(text.split('\n').filter((line) => line !== ''));
}

async function isAncestor(at: GitContext, one: string, other: string): Promise<boolean> {
  const { code, words } = await runGit(['merge-base', '--is-ancestor', one, other], at);
  if (code > 1) throw new LedgerError(`git merge-base says: ${words}`);
  return code === 0;
}

/** @throws LedgerError when git fails */
export async function linesOf(at: GitContext, args: readonly string[]): Promise<string[]> {
  const { code, out, words } = await runGit(args, at);
  if (code !== 0) throw new LedgerError(`git ${args[0]} says: ${words}`);
  return out
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}
