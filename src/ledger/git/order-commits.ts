/**
 * Checks whether a plan from this commit would undo a later one. Uses the clone, and its remote only if the clone is shallow or lacks
 * the other commit. The clone is not changed.
 */
import { messageOf } from '../../model/error-message.ts';
import { posix } from 'node:path';
import { type CommitOrder, type StackPaths, shortCommit } from '../../model/checkout.ts';
import { LedgerError } from '../../model/ledger.ts';
import { maskUrls } from '../../redaction/mask-text.ts';
import { quoted } from '../../model/quoted.ts';
import {
  type BorrowedRepository,
  borrowRepository,
  type CommitPair,
  commitsWithoutParents,
  fetchInto,
  type FetchRequest,
  hasCommit,
  linesOf,
  type CommitRelation,
  relationOf,
} from './borrowed-repository.ts';
import { type GitContext, runGit } from './git-command.ts';
import { locate } from './git-place.ts';
import type { NoCommit, RepositoryCommit } from './checkout.ts';

interface OrderInput {
  /** where the manifests are */
  readonly at: GitContext;
  /** the commit that was applied last, from the ledger */
  readonly applied: string;
  readonly ours: RepositoryCommit | NoCommit;
  /** relative to the directory of `at` */
  readonly files: StackPaths;
  /** manifests that git does not track; `files` must also match the files that they may be made from */
  readonly untracked?: readonly string[];
  /** milliseconds; 60 seconds when absent */
  readonly timeout?: number;
}

/** Compares our commit with the applied one. Never rejects: an error becomes the reason why the order is unknown. */
export async function orderCommits(input: OrderInput): Promise<CommitOrder> {
  const { at, applied, ours, timeout = 60_000 } = input;
  const unknown = (why: string) => ({ is: 'unknown', applied, why }) as const;
  if (ours.commit === undefined) return unknown(ours.why);
  if (ours.commit === applied) return { is: 'ahead' };
  // The text is passed to git as an argument, so it must be a commit id and nothing else.
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(applied)) return unknown('it is not the id of a git commit');
  const timer = AbortSignal.timeout(timeout);
  const signal = at.signal === undefined ? timer : AbortSignal.any([at.signal, timer]);
  const pair = { applied, ours: ours.commit };
  try {
    return await compare({ ...at, signal }, pair, input);
  } catch (error) {
    if (timer.aborted) return unknown(`git did not answer within ${timeout / 1000} seconds`);
    const order = unknown(messageOf(error));
    return error instanceof CommitNotFound ? { ...order, isLost: true } : order;
  }
}

async function compare(
  at: GitContext,
  pair: CommitPair,
  { files, untracked = [] }: Pick<OrderInput, 'files' | 'untracked'>,
): Promise<CommitOrder> {
  const borrowed = await borrowRepository(at);
  try {
    const known = await relationOf(borrowed.at, pair);
    const relation = known === 'unknown' ? await relateWithRemote(borrowed, pair) : known;
    if (relation === 'ahead') return { is: 'ahead' };
    const changed = await changedFiles(borrowed, pair);
    const differs = changed.length > 0 && (await changesStack(at, changed, { borrowed, pair, files }));
    const [first] = untracked;
    return !differs && changed.length > 0 && first !== undefined
      ? { is: 'unknown', applied: pair.applied, why: untrackedReason(first, untracked.length - 1) }
      : { is: relation, ...pair, differs };
  } finally {
    await borrowed.close();
  }
}

interface CommitComparison {
  readonly borrowed: BorrowedRepository;
  readonly pair: CommitPair;
  readonly files: StackPaths;
}

/** Whether any of the changed files is, or may be, a file of the stack. */
async function changesStack(
  at: GitContext,
  changed: readonly ChangedFile[],
  { borrowed, pair, files }: CommitComparison,
): Promise<boolean> {
  const { prefix } = await locate(at);
  const fromStack = (path: string) => posix.relative(`/${prefix}`, `/${path}`);
  const isOfStack = changed.some(({ path, isSubmodule }) =>
    // Git reports any change in a submodule as a change of the submodule's own path.
    isSubmodule ? files.isAncestor(fromStack(path)) : files.isFile(fromStack(path)),
  );
  if (isOfStack) return true;
  // A file behind a symbolic link has another path in git, so any changed file may belong to the stack.
  return (await symbolicLinks(borrowed.at, pair)).some((path) => files.isAncestor(fromStack(path)));
}

function untrackedReason(first: string, more: number): string {
  const which = more === 0 ? `${quoted(first)} is` : `${quoted(first)} and ${more} more manifests are`;
  return `${which} not tracked by git, and nothing that is tracked in the folder of the stack differs between the two`;
}

/** Depths of successive fetches: mostly a few commits are enough, and a full history may be long. */
const depths = [64, 4096, 0x7fffffff];

/** For a service that does not send objects by id: trees are fetched at once, because it would not send them later. */
const everyBranch: Pick<FetchRequest, 'refs' | 'content'> = {
  refs: ['+refs/heads/*:refs/trueup/*'],
  content: 'trees',
};

/** The relation of two commits. Fetches as much history as that needs. @throws LedgerError when the remote does not have it */
export async function relateWithRemote(
  borrowed: BorrowedRepository,
  pair: CommitPair,
): Promise<Exclude<CommitRelation, 'unknown'>> {
  const { at } = borrowed;
  const missing = (await hasCommit(at, pair.applied)) ? [] : [pair.applied];
  const tips = [pair.ours, pair.applied].filter((id) => !missing.includes(id));
  let request: Pick<FetchRequest, 'refs' | 'content'> = {
    refs: [...missing, ...(await commitsWithoutParents(at, tips))],
    content: 'commits',
  };
  for (const depth of depths) {
    if ((await fetch(borrowed, { ...request, depth }, pair)) === 'refused') {
      request = everyBranch;
      await fetch(borrowed, { ...request, depth }, pair);
    }
    const relation = await relationOf(at, pair);
    if (relation !== 'unknown') return relation;
  }
  if (await hasCommit(at, pair.applied))
    throw new LedgerError(`the ${nameOf(borrowed)} does not have all commits between the two`);
  throw missingCommit(borrowed, pair.applied, pair);
}

/** @returns `refused` when the remote does not send objects by id. @throws LedgerError when the fetch fails in another way */
async function fetch(
  borrowed: BorrowedRepository,
  request: FetchRequest,
  pair: CommitPair,
): Promise<'fetched' | 'refused'> {
  if (borrowed.remote === undefined && !(await hasCommit(borrowed.at, pair.applied)))
    throw new CommitNotFound('this clone does not have it, and has no remote');
  const { code, message } = await fetchInto(borrowed, request);
  if (code === 0) return 'fetched';
  const unknown = /not our ref/.test(message) && request.refs.find((ref) => message.includes(ref));
  if (unknown) throw missingCommit(borrowed, unknown, pair);
  if (/unadvertised object/.test(message) && request.refs !== everyBranch.refs) return 'refused';
  throw new LedgerError(`the ${nameOf(borrowed)} cannot be read: ${message}`);
}

/** The applied commit is neither in the clone nor in its remote: it was never pushed, or its branch is gone. */
class CommitNotFound extends LedgerError {
  override readonly name = 'CommitNotFound';
}

function missingCommit(borrowed: BorrowedRepository, id: string, { applied }: CommitPair): LedgerError {
  const message = `the ${nameOf(borrowed)} does not have commit ${shortCommit(id)}`;
  return id === applied ? new CommitNotFound(message) : new LedgerError(message);
}

function nameOf({ remote = '' }: BorrowedRepository): string {
  return `remote ${quoted(maskUrls(remote))}`;
}

interface ChangedFile {
  /** from the top of the repository, with slashes */
  readonly path: string;
  /** whether it is a submodule in one of the commits */
  readonly isSubmodule: boolean;
}

/** The files that differ between the commits. */
async function changedFiles(
  borrowed: BorrowedRepository,
  { ours, applied }: CommitPair,
): Promise<ChangedFile[]> {
  const { at } = borrowed;
  for (const id of [ours, applied]) {
    if (!(await hasTrees(at, id)))
      await fetch(borrowed, { refs: [id], depth: 1, content: 'trees' }, { ours, applied });
  }
  const entries = await entriesOf(at, ['diff-tree', '-r', '-z', '--raw', '--no-renames', ours, applied]);
  // Each file has two entries: `:160000 160000 <id> <id> M`, then the path.
  return entries.flatMap((modes, index) => {
    const path = entries[index + 1];
    return index % 2 === 1 || path === undefined ? [] : [{ path, isSubmodule: /\b160000 /.test(modes) }];
  });
}

/** The symbolic links of both commits, as paths from the top of the repository with slashes. */
async function symbolicLinks(at: GitContext, { ours, applied }: CommitPair): Promise<string[]> {
  const listed = [ours, applied].map((id) => entriesOf(at, ['ls-tree', '-r', '-z', '--full-tree', id]));
  return (await Promise.all(listed))
    .flat()
    .flatMap((entry) => (entry.startsWith('120000 ') ? [entry.slice(entry.indexOf('\t') + 1)] : []));
}

async function entriesOf(at: GitContext, args: readonly string[]): Promise<string[]> {
  const { code, out, message } = await runGit(args, at);
  if (code !== 0) throw new LedgerError(`git ${args[0]} failed: ${message}`);
  return out.toString().split('\0').filter(Boolean);
}

async function hasTrees(at: GitContext, id: string): Promise<boolean> {
  const args = ['rev-list', '--objects', '--filter=blob:none', '--missing=print', '--max-count=1', id];
  return (await linesOf(at, args)).every((line) => !line.startsWith('?'));
}
