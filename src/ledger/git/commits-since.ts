/**
 * The commits of the protected branch since a commit: for a merge the merge commit, for a squash its one commit, for a rebase each
 * commit. Uses the clone, and its remote if the clone is shallow. The clone is not changed.
 */
import { LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import {
  type BorrowedRepository,
  borrowRepository,
  commitsWithoutParents,
  fetchInto,
  hasCommit,
  linesOf,
  relationOf,
} from './borrowed-repository.ts';
import { type GitContext, runGit } from './git-command.ts';
import { relateWithRemote } from './order-commits.ts';

export interface RangeCommit {
  readonly id: string;
  /** the index in `line` of the commit that merged it */
  readonly merged: number;
  readonly isMerge: boolean;
}

export interface CommitRange {
  /** undefined: the range begins with the first commit of the repository */
  readonly base: string | undefined;
  /** the line of first parents, oldest first; empty if the base contains all of it */
  readonly line: readonly RangeCommit[];
  /** the commits of `line` and those that they merged, in the order of the merges */
  readonly all: readonly RangeCommit[];
}

/** The maximal number of commits. With more, the run stops, because the requests to the code host would take too long. */
const maxCommits = 500;

/** The id that git writes for a commit that does not exist: a range since this id has all commits. */
export const zeroCommitId = '0'.repeat(40);

interface RangeInput<T> {
  /** the id of a commit, or `zeroCommitId` */
  readonly since: string;
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
  if (since === head) return inspectIn({ base: since, line: [], all: [] }, at);
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(since))
    throw new LedgerError('the commit of the last apply is not the id of a git commit');
  const borrowed = await borrowRepository(at);
  const base = since === zeroCommitId ? undefined : since;
  try {
    const pair = base === undefined ? undefined : { applied: base, ours: head };
    if (pair && (await relationOf(borrowed.at, pair)) === 'unknown') await relateWithRemote(borrowed, pair);
    const listed = await listCommits(borrowed, [head, ...(base === undefined ? [] : [`^${base}`])]);
    return await inspectIn({ base, ...withMerges(listed, head) }, borrowed.at);
  } finally {
    await borrowed.close();
  }
}

/** A commit of the line of first parents, and the one before it. */
interface CommitStep {
  readonly id: string;
  /** undefined for the first commit of the repository */
  readonly parent: string | undefined;
}

/** Reads a commit and the id of its first parent, which even a shallow clone has. @throws LedgerError */
export async function stepAt(at: GitContext, id: string): Promise<CommitStep> {
  const { code, out, message } = await runGit(['cat-file', 'commit', id], at);
  if (code !== 0) throw new LedgerError(`git cat-file failed: ${message}`);
  const [headers = ''] = out.toString().split('\n\n', 1);
  return { id, parent: /^parent (\w+)$/m.exec(headers)?.[1] };
}

/** Depths of successive fetches: mostly a file is not much older than the first apply of its stack. */
const depthsOfFile = [64, 4096, 0x7fffffff] as const;

/**
 * The commit on the line of first parents that added a file of `head`.
 * @param path from the root of the repository, with slashes
 * @throws LedgerError when the history is incomplete, or the commit has no such file
 */
export async function commitThatAdded(at: GitContext, head: string, path: string): Promise<CommitStep> {
  const borrowed = await borrowRepository(at);
  const find = async () => {
    const shown = [
      '--first-parent',
      '--diff-filter=A',
      '--no-renames',
      '--no-ext-diff',
      '--no-show-signature',
    ];
    const args = [...shown, '--format=%H', '--max-count=1', head, '--', `:(top,literal)${path}`];
    const { code, out } = await runGit(['log', ...args], borrowed.at);
    return code === 0 ? out.toString().trim() : undefined;
  };
  const fetchTrees = (refs: readonly string[], depth: number) =>
    fetchInto(borrowed, { refs, depth, content: 'trees' });
  try {
    if (!(await hasCommit(borrowed.at, head))) await fetchTrees([head], depthsOfFile[0]);
    // The oldest commit of a shallow clone looks as if it had added all its files. A partial clone may lack the trees of its commits.
    for (const depth of depthsOfFile) {
      const cut = await commitsWithoutParents(borrowed.at, [head]);
      const found = await find();
      if (found !== undefined && !cut.includes(found)) break;
      await fetchTrees(cut.length === 0 ? [head] : cut, depth);
    }
    const id = await find();
    if (id === undefined || id === '' || (await commitsWithoutParents(borrowed.at, [id])).includes(id))
      throw new LedgerError(
        `the clone does not have the commit that added ${quoted(path)}, and its remote does not send it: fetch the whole history, such as with "fetch-depth: 0"`,
      );
    return await stepAt(borrowed.at, id);
  } finally {
    await borrowed.close();
  }
}

/** Depths of further fetches, if a merged branch is longer than what the clone has of it. */
const depths = [4096, 0x7fffffff];

interface ListedCommit {
  readonly id: string;
  readonly parents: readonly string[];
}

/** Finds the line of first parents, and the commit of it that merged each of the others. */
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
    // The result of the fetch does not matter: the next list shows which commits are here.
    await fetchInto(borrowed, { refs: cut, depth, content: 'commits' });
  }
  const { commits, cut } = await tryList(borrowed, args);
  if (cut.length === 0) return commits;
  throw new LedgerError(
    'the clone does not have all commits since the last apply, and its remote does not send them: fetch the whole history, such as with "fetch-depth: 0"',
  );
}

/** @returns the commits, and as `cut` those whose parents are missing */
async function tryList(borrowed: BorrowedRepository, args: readonly string[]) {
  const format = ['--no-show-signature', '--format=%H%x09%P', `--max-count=${maxCommits + 1}`];
  const lines = await linesOf(borrowed.at, ['log', '--reverse', ...format, ...args, '--']);
  if (lines.length > maxCommits)
    throw new LedgerError(
      `there are more than ${maxCommits} commits since the last apply, or since the stack was added`,
    );
  const commits = lines.map((line) => {
    const [id = '', parents = ''] = line.split('\t');
    return { id, parents: parents.split(' ') };
  });
  const ids = new Set(commits.map(({ id }) => id));
  const cut = ids.size === 0 ? [] : await commitsWithoutParents(borrowed.at, [...ids]);
  return { commits, cut: cut.filter((id) => ids.has(id)) };
}
