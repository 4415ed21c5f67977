/**
 * Reads commits as data: their files, the difference of two commits, and their merge base. Uses the objects of the clone and asks
 * its remote for what a shallow or partial clone lacks. Nothing is checked out, and the clone is not changed.
 */
import { shortCommit } from '../../model/checkout.ts';
import { LedgerError } from '../../model/ledger.ts';
import { quoted } from '../../model/quoted.ts';
import { maskUrls } from '../../redaction/mask-text.ts';
import {
  type BorrowedRepository,
  borrowRepository,
  commitsWithoutParents,
  fetchInto,
  type FetchRequest,
  hasCommit,
  linesOf,
} from './borrowed-repository.ts';
import { type GitContext, runGit } from './git-command.ts';

/** One file, link or submodule of a commit. */
export interface TreeEntry {
  /** from the top of the repository, with slashes */
  readonly path: string;
  readonly type: 'file' | 'link' | 'submodule';
  /** of its content; two files with the same id are equal */
  readonly id: string;
  /** in bytes; 0 for a submodule */
  readonly size: number;
}

export interface ChangedEntry {
  /** from the top of the repository, with slashes; a renamed file counts under both names */
  readonly path: string;
  /** whether it is a link or a submodule in one of the commits, so that files may be below it */
  readonly mayHold: boolean;
}

export interface CommitReader {
  /** the temporary repository, which has everything that was fetched */
  readonly at: GitContext;
  /** The id of the commit to which the clone resolves a name; undefined if it has no such commit. */
  resolve(name: string): Promise<string | undefined>;
  /** The newest commit of a branch of the remote. @throws LedgerError when the remote cannot be read, or has no such branch */
  tipOf(branch: string): Promise<string>;
  /** Fetches a commit if the clone lacks it. @param ref of the remote to fetch, for remotes that do not send commits by id */
  obtain(id: string, ref?: string): Promise<void>;
  /** Like `obtain`, and the same fetch includes the files, for callers that read them anyway. */
  obtainFiles(id: string, ref?: string): Promise<void>;
  parentsOf(id: string): Promise<readonly string[]>;
  /** The commits that only `to` has, newest first. */
  between(from: string, to: string): Promise<readonly string[]>;
  /** @throws LedgerError when the two have no common commit, or it cannot be found */
  mergeBase(one: string, other: string): Promise<string>;
  changed(from: string, to: string): Promise<readonly ChangedEntry[]>;
  tree(commit: string): Promise<readonly TreeEntry[]>;
  /** The content of files of a commit, by path. */
  contents(commit: string, entries: readonly TreeEntry[]): Promise<ReadonlyMap<string, Buffer>>;
  /** Merges two commits, as a code host does for a pull request. @returns the merge commit. @throws LedgerError on a conflict */
  merge(base: string, head: string): Promise<string>;
  close(): Promise<void>;
}

/** Depths of successive fetches: mostly a few commits are enough, and a full history may be long. */
const depths = [64, 4096, 0x7fffffff];

/** @param clone where the stacks are. @throws LedgerError outside of a repository */
export async function openCommits(clone: GitContext): Promise<CommitReader> {
  const borrowed = await borrowRepository(clone);
  const { at, remote } = borrowed;
  const withAllFiles = new Set<string>();
  const resolve = async (name: string) => {
    if (isId(name)) return (await hasCommit(at, name)) ? name : undefined;
    const asked = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
    const { code, out } = await runGit(asked, clone);
    return code === 0 ? out.toString().trim() : undefined;
  };
  const obtain = async (id: string, { ref = id, content }: Wanted) => {
    // The id may be from a ledger, which others can write: it must not be an option of git.
    if (!isId(id)) throw new LedgerError(`${quoted(id)} is not the id of a git commit`);
    if (await hasCommit(at, id)) return;
    await fetchCommits(borrowed, { refs: [ref], depth: 1, content });
    if (!(await hasCommit(at, id)))
      throw new LedgerError(`the ${nameOf(borrowed)} does not have commit ${shortCommit(id)}`);
    if (content === 'files') withAllFiles.add(id);
  };
  const withFiles = async (id: string) => {
    if (withAllFiles.has(id)) return;
    if (!(await hasFiles(at, id))) await fetchCommits(borrowed, { refs: [id], depth: 1, content: 'files' });
    withAllFiles.add(id);
  };
  const listTree = async (commit: string) => {
    await withFiles(commit);
    const listed = await entriesOf(at, ['ls-tree', '-r', '-l', '-z', '--full-tree', commit]);
    return listed.map(treeEntry);
  };
  return {
    at,
    resolve,
    obtain: (id, ref) => obtain(id, { ref, content: 'commits' }),
    obtainFiles: (id, ref) => obtain(id, { ref, content: 'files' }),
    tipOf: async (branch) => {
      if (remote === undefined) throw new LedgerError('this clone has no remote');
      // The clone has the commit in most cases, and asking for its id is faster than a fetch.
      const named = await tipAt(borrowed, branch);
      if (named !== undefined && (await hasCommit(at, named))) return named;
      const kept = `refs/trueup/tips/${branch}`;
      const refs = [`+refs/heads/${branch}:${kept}`];
      await fetchCommits(borrowed, { refs, depth: 1, content: 'commits' });
      return (await linesOf(at, ['rev-parse', '--verify', kept]))[0] ?? '';
    },
    parentsOf: async (id) => {
      const { code, out, message } = await runGit(['cat-file', 'commit', id], at);
      if (code !== 0) throw new LedgerError(`git cat-file failed: ${message}`);
      const [header = ''] = out.toString().split('\n\n', 1);
      return [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent = '']) => parent);
    },
    between: async (from, to) => {
      await mergeBase(borrowed, from, to);
      return linesOf(at, ['rev-list', `${from}..${to}`, '--']);
    },
    mergeBase: (one, other) => mergeBase(borrowed, one, other),
    changed: async (from, to) => {
      for (const id of [from, to]) await withFiles(id);
      const entries = await entriesOf(at, ['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to]);
      // Each file has two entries: `:160000 160000 <id> <id> M`, then the path.
      return entries.flatMap((modes, index) => {
        const path = entries[index + 1];
        return index % 2 === 1 || path === undefined
          ? []
          : [{ path, mayHold: /(\b|:)1[26]0000 /.test(modes) }];
      });
    },
    tree: listTree,
    contents: async (commit, entries) => {
      await withFiles(commit);
      return contentsOf(at, entries);
    },
    merge: async (base, head) => {
      // Files first: their fetch cuts the history of a commit, and `mergeBase` completes it afterwards.
      for (const id of [base, head]) await withFiles(id);
      await withFiles(await mergeBase(borrowed, base, head));
      return mergeCommits(at, base, head);
    },
    close: () => borrowed.close(),
  };
}

interface Wanted {
  readonly ref: string | undefined;
  readonly content: 'commits' | 'files';
}

/** The newest commit of a branch; undefined if the remote does not answer or lacks the branch: the fetch that follows reports why. */
async function tipAt({ at, remote = '' }: BorrowedRepository, branch: string): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`;
  const { code, out } = await runGit(['ls-remote', '--quiet', '--end-of-options', remote, ref], at);
  const line = out
    .toString()
    .split('\n')
    .find((one) => one.endsWith(`\t${ref}`));
  return code === 0 ? line?.split('\t')[0] : undefined;
}

function isId(text: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

async function mergeBase(borrowed: BorrowedRepository, one: string, other: string): Promise<string> {
  const { at } = borrowed;
  for (const depth of [0, ...depths]) {
    if (depth > 0) await fetchHistory(borrowed, [one, other], depth);
    const { code, out } = await runGit(['merge-base', one, other], at);
    const [found] = out.toString().split('\n');
    if (code === 0 && found && !(await isCut(at, one, other))) return found;
  }
  throw new LedgerError(
    `commits ${shortCommit(one)} and ${shortCommit(other)} have no common commit that can be found`,
  );
}

/** Whether the clone lacks parents of commits that only one side has: a nearer common commit may be among these parents. */
async function isCut(at: GitContext, one: string, other: string): Promise<boolean> {
  const cut = new Set(await commitsWithoutParents(at, [one, other]));
  if (cut.size === 0) return false;
  return (await linesOf(at, ['rev-list', `${one}...${other}`])).some((id) => cut.has(id));
}

async function fetchHistory(
  borrowed: BorrowedRepository,
  tips: readonly string[],
  depth: number,
): Promise<void> {
  const { at } = borrowed;
  const missing: string[] = [];
  for (const id of tips) if (!(await hasCommit(at, id))) missing.push(id);
  const known = tips.filter((id) => !missing.includes(id));
  const refs = [
    ...new Set([...missing, ...(known.length === 0 ? [] : await commitsWithoutParents(at, known))]),
  ];
  if (refs.length > 0) await fetchCommits(borrowed, { refs, depth, content: 'commits' });
}

/** If the remote does not send commits by id, fetches all branches. */
async function fetchCommits(borrowed: BorrowedRepository, request: FetchRequest): Promise<void> {
  const first = await fetchInto(borrowed, request);
  if (first.code === 0) return;
  let { message } = first;
  if (/unadvertised object/.test(message)) {
    const refs = ['+refs/heads/*:refs/trueup/heads/*'];
    const again = await fetchInto(borrowed, { ...request, refs, content: 'files' });
    if (again.code === 0) return;
    ({ message } = again);
  }
  throw new LedgerError(`the ${nameOf(borrowed)} cannot be read: ${message}`);
}

function nameOf({ remote = '' }: BorrowedRepository): string {
  return `remote ${quoted(maskUrls(remote))}`;
}

async function hasFiles(at: GitContext, id: string): Promise<boolean> {
  const args = ['rev-list', '--objects', '--missing=print', '--max-count=1', '--no-object-names', id];
  const { code, out } = await runGit(args, at);
  return code === 0 && !/^\?/m.test(out.toString());
}

/** Reads `100644 blob <id>     123\tmanifests/app.yaml`. */
function treeEntry(line: string): TreeEntry {
  const [mode = '', , id = '', size = ''] = line.slice(0, line.indexOf('\t')).split(/ +/);
  const type = mode === '160000' ? 'submodule' : mode === '120000' ? 'link' : 'file';
  return { path: line.slice(line.indexOf('\t') + 1), type, id, size: Number(size) || 0 };
}

async function entriesOf(at: GitContext, args: readonly string[]): Promise<string[]> {
  const { code, out, message } = await runGit(args, at);
  if (code !== 0) throw new LedgerError(`git ${args[0]} failed: ${message}`);
  return out.toString().split('\0').filter(Boolean);
}

/** Maximum bytes of all files together. Manifests are texts, so this is enough. */
const maxContent = 256 * 1024 * 1024;

async function contentsOf(
  at: GitContext,
  entries: readonly TreeEntry[],
): Promise<ReadonlyMap<string, Buffer>> {
  if (entries.reduce((sum, { size }) => sum + size, 0) > maxContent)
    throw new LedgerError(`the files of the stack have more than ${maxContent / 1024 / 1024} MB`);
  const asked = entries.map(({ id }) => `${id}\n`).join('');
  const { code, out, message } = await runGit(['cat-file', '--batch'], at, asked);
  if (code !== 0) throw new LedgerError(`git cat-file failed: ${message}`);
  const found = new Map<string, Buffer>();
  let start = 0;
  // Each object is `<id> blob <size>`, a line feed, its content, a line feed.
  for (const { path, id } of entries) {
    const end = out.indexOf(0x0a, start);
    const [read, type, size] = out.toString('utf8', start, end).split(' ');
    if (read !== id || type !== 'blob') throw new LedgerError(`git has no content of ${quoted(path)}`);
    found.set(path, out.subarray(end + 1, end + 1 + Number(size)));
    start = end + 1 + Number(size) + 1;
  }
  return found;
}

const mergeIdentity = {
  GIT_AUTHOR_NAME: 'trueup',
  GIT_AUTHOR_EMAIL: 'trueup',
  GIT_COMMITTER_NAME: 'trueup',
  GIT_COMMITTER_EMAIL: 'trueup',
  // With fixed dates, the same commits give the same merge commit.
  GIT_AUTHOR_DATE: '1970-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '1970-01-01T00:00:00Z',
};

async function mergeCommits(place: GitContext, base: string, head: string): Promise<string> {
  const at = { ...place, settings: { ...place.settings, ...mergeIdentity } };
  const merged = await runGit(['merge-tree', '--write-tree', base, head], at);
  if (merged.code === 1)
    throw new LedgerError(
      `commit ${shortCommit(head)} is in conflict with ${shortCommit(base)} of the base branch: merge or rebase it`,
    );
  if (merged.code !== 0) throw new LedgerError(`git merge-tree failed: ${merged.message}`);
  const [tree = ''] = merged.out.toString().split('\n');
  const parents = ['-p', base, '-p', head];
  const [commit = ''] = await linesOf(at, ['commit-tree', tree, ...parents, '-m', 'merge']);
  return commit;
}

/** Maximum bytes of the file that `fileAtCommit` reads. */
const maxSize = 8 * 1024 * 1024;

/**
 * Reads one file of a commit as data, from the clone or from its remote.
 * @param path from the root of the repository, with slashes
 * @returns undefined if the commit has no such file
 * @throws LedgerError when neither the clone nor its remote has the commit, or it is not a regular file
 */
export async function fileAtCommit(
  at: GitContext,
  commit: string,
  path: string,
): Promise<string | undefined> {
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(commit))
    throw new LedgerError('it is not the id of a git commit');
  const borrowed = await borrowRepository(at);
  try {
    const found = await readFile(borrowed.at, commit, path);
    if (found !== 'incomplete') return found?.text;
    const { code, message } = await fetchInto(borrowed, { refs: [commit], depth: 1, content: 'files' });
    const fetched = await readFile(borrowed.at, commit, path);
    if (fetched !== 'incomplete') return fetched?.text;
    throw new LedgerError(
      `commit ${commit} cannot be read${code === 0 ? '' : `: ${message}`}; fetch the whole history, such as with "fetch-depth: 0"`,
    );
  } finally {
    await borrowed.close();
  }
}

async function readFile(
  at: GitContext,
  commit: string,
  path: string,
): Promise<{ readonly text: string } | undefined | 'incomplete'> {
  const tree = await runGit(['ls-tree', '-z', '--full-tree', commit, '--', `:(literal)${path}`], at);
  if (tree.code !== 0) return 'incomplete';
  const [entry = ''] = tree.out.toString().split('\0');
  if (entry === '') return undefined;
  const [mode = '', , id = ''] = entry.split(/[ \t]/);
  if (mode !== '100644' && mode !== '100755')
    throw new LedgerError(`${quoted(path)} of commit ${commit} is not a regular file`);
  const blob = await runGit(['cat-file', 'blob', id], at);
  if (blob.code !== 0) return 'incomplete';
  if (blob.out.length > maxSize) throw new LedgerError(`${quoted(path)} of commit ${commit} is too large`);
  return { text: blob.out.toString() };
}
