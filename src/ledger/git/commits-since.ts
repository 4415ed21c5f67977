/**
 * The commits of the protected branch since a commit: of a merge the merge itself, of a squash the one commit, of a rebase each of
 * them. Uses the clone, and its remote if the clone is shallow. The clone is not changed.
 */
import { LedgerError } from '../../model/ledger.ts';
import {
  type BorrowedRepository,
  borrowRepository,
  cutBehind,
  fetchInto,
  linesOf,
  relationOf,
} from './borrowed-repository.ts';
import { type GitContext, runGit } from './git-command.ts';
import { relateWithRemote } from './order-commits.ts';

export interface RangeCommit {
  readonly id: string;
  /** which commit of the line brought it: its index there */
  readonly merged: number;
  readonly isMerge: boolean;
}

export interface CommitRange {
  /** undefined if the head is the first commit of the repository */
  readonly base: string | undefined;
  /** on the line of first parents, oldest first; empty if the base has all of it */
  readonly line: readonly RangeCommit[];
  /** these and what they merged, in the order of the merges */
  readonly all: readonly RangeCommit[];
}

/** More are a reason to ask a person: nobody waits for the requests to the code host. */
const maxCommits = 500;

interface RangeInput<T> {
  /** undefined: only the head counts, and the base is its first parent */
  readonly since: string | undefined;
  readonly head: string;
  /** Reads the commits themselves, in a repository that has all of them. */
  inspect(range: CommitRange, git: GitContext): Promise<T>;
}

/** @throws LedgerError when the history is incomplete, or too long */
export async function commitsSince<T>(
  at: GitContext,
  { since, head, inspect }: RangeInput<T>,
): Promise<{ readonly range: CommitRange; readonly inspected: T }> {
  const inspectIn = async (range: CommitRange, git: GitContext) => ({
    range,
    inspected: await inspect(range, git),
  });
  if (since === undefined) return inspectIn(await lastCommit(at, head), at);
  if (since === head) return inspectIn({ base: since, line: [], all: [] }, at);
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(since))
    throw new LedgerError('the commit of the last apply is not the id of a git commit');
  const borrowed = await borrowRepository(at);
  try {
    const pair = { applied: since, ours: head };
    if ((await relationOf(borrowed.at, pair)) === 'unknown') await relateWithRemote(borrowed, pair);
    const listed = await listCommits(borrowed, [head, `^${since}`]);
    return await inspectIn({ base: since, ...withMerges(listed, head) }, borrowed.at);
  } finally {
    await borrowed.close();
  }
}

/** A shallow clone has the ids of the parents of its last commit, although not the parents. */
async function lastCommit(at: GitContext, head: string): Promise<CommitRange> {
  const { code, out, message } = await runGit(['cat-file', 'commit', head], at);
  if (code !== 0) throw new LedgerError(`git cat-file failed: ${message}`);
  const [headers = ''] = out.toString().split('\n\n', 1);
  const [base, ...others] = [...headers.matchAll(/^parent (\w+)$/gm)].map(([, id]) => id);
  const commit = { id: head, merged: 0, isMerge: others.length > 0 };
  return { base, line: [commit], all: [commit] };
}

/** Depths of further fetches, if a merged branch is longer than what the clone has of it. */
const depths = [4096, 0x7fffffff];

interface ListedCommit {
  readonly id: string;
  readonly parents: readonly string[];
}

/** Finds the line of first parents, and which commit of it brought each of the others. */
function withMerges(listed: readonly ListedCommit[], head: string): Omit<CommitRange, 'base'> {
  const byId = new Map(listed.map((commit) => [commit.id, commit]));
  const line: ListedCommit[] = [];
  for (let at = byId.get(head); at !== undefined; at = byId.get(at.parents[0] ?? '')) line.unshift(at);
  const found = new Map<string, RangeCommit>();
  for (const [merged, { id }] of line.entries()) {
    for (const open = [id]; open.length > 0; ) {
      const commit = byId.get(open.pop() ?? '');
      if (commit === undefined || found.has(commit.id)) continue;
      found.set(commit.id, { id: commit.id, merged, isMerge: commit.parents.length > 1 });
      open.push(...commit.parents);
    }
  }
  return { line: line.flatMap(({ id }) => found.get(id) ?? []), all: [...found.values()] };
}

async function listCommits(borrowed: BorrowedRepository, args: readonly string[]): Promise<ListedCommit[]> {
  for (const depth of depths) {
    const { commits, cut } = await tryList(borrowed, args);
    if (cut.length === 0) return commits;
    // What it answers does not matter: the next list shows what has come.
    await fetchInto(borrowed, { refs: cut, depth, content: 'commits' });
  }
  const { commits, cut } = await tryList(borrowed, args);
  if (cut.length === 0) return commits;
  throw new LedgerError(
    'the clone does not have all commits since the last apply, and its remote does not send them: fetch the whole history, such as with "fetch-depth: 0"',
  );
}

/** @returns also those of the commits whose parents are missing */
async function tryList(borrowed: BorrowedRepository, args: readonly string[]) {
  const format = ['--no-show-signature', '--format=%H%x09%P', `--max-count=${maxCommits + 1}`];
  const lines = await linesOf(borrowed.at, ['log', '--reverse', ...format, ...args, '--']);
  if (lines.length > maxCommits)
    throw new LedgerError(`there are more than ${maxCommits} commits since the last apply`);
  const commits = lines.map((line) => {
    const [id = '', parents = ''] = line.split('\t');
    return { id, parents: parents.split(' ') };
  });
  const ids = new Set(commits.map(({ id }) => id));
  const cut = ids.size === 0 ? [] : await cutBehind(borrowed.at, [...ids]);
  return { commits, cut: cut.filter((id) => ids.has(id)) };
}
