/**
 * Whether a plan from this commit would take a later one back (rule 43). The clone is asked first; only what it cannot
 * tell, for it is shallow or older than the other commit, is asked of its remote, and the clone is left as it is.
 */
import { messageOf } from '../../model/message-of.ts';
import { posix } from 'node:path';
import { type CommitOrder, type StackPaths, shortCommit } from '../../model/stack/commit-order.ts';
import { LedgerError } from '../../model/stack/ledger.ts';
import { maskAddresses } from '../../model/mask-addresses.ts';
import {
  type BorrowedRepository,
  borrowRepository,
  fetchInto,
  type FetchRequest,
} from './borrowed-repository.ts';
import { type CommitPair, cutBehind, hasCommit, linesOf, type Standing, standingOf } from './commit-graph.ts';
import { type GitContext, runGit } from './git-command.ts';
import type { NoCommit, RepositoryCommit } from './repository-commit.ts';

export interface CommitQuestion {
  /** where the manifests are */
  readonly at: GitContext;
  /** what was applied last, as the ledger has it */
  readonly applied: string;
  readonly ours: RepositoryCommit | NoCommit;
  /** relative to that directory */
  readonly files: StackPaths;
  /** manifests that git does not track: by `files` it must be told what they may be made from */
  readonly untracked?: readonly string[];
  /** milliseconds until a remote that does not tell is given up */
  readonly patience?: number;
}

/** Never rejects: what goes wrong is why nobody can tell. */
export async function orderCommits(question: CommitQuestion): Promise<CommitOrder> {
  const { at, applied, ours, patience = 60_000 } = question;
  const unknown = (why: string) => ({ is: 'unknown', applied, why }) as const;
  if (ours.commit === undefined) return unknown(ours.why);
  if (ours.commit === applied) return { is: 'onward' };
  // It becomes an argument of git.
  if (!/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(applied)) return unknown('it is no commit of git');
  const enough = AbortSignal.timeout(patience);
  const signal = at.signal === undefined ? enough : AbortSignal.any([at.signal, enough]);
  const pair = { applied, ours: ours.commit };
  try {
    return await compare({ ...at, signal }, pair, question);
  } catch (error) {
    if (enough.aborted) return unknown(`git did not tell within ${patience / 1000} seconds`);
    return unknown(messageOf(error));
  }
}

async function compare(
  at: GitContext,
  pair: CommitPair,
  { files, untracked = [] }: Pick<CommitQuestion, 'files' | 'untracked'>,
): Promise<CommitOrder> {
  const known = await standingOf(at, pair);
  if (known === 'onward') return { is: 'onward' };
  const borrowed = await borrowRepository(at);
  try {
    const standing = known === 'open' ? await askRemote(borrowed, pair) : known;
    if (standing === 'onward') return { is: 'onward' };
    const changed = await changedFiles(borrowed, pair);
    const differs = changed.length > 0 && (await concerns(at, changed, { borrowed, pair, files }));
    const [first] = untracked;
    return !differs && changed.length > 0 && first !== undefined
      ? { is: 'unknown', applied: pair.applied, why: untold(first, untracked.length - 1) }
      : { is: 'behind', ...pair, differs };
  } finally {
    await borrowed.close();
  }
}

interface Concerned {
  readonly borrowed: BorrowedRepository;
  readonly pair: CommitPair;
  readonly files: StackPaths;
}

/** Whether any of what changed is the stack's, or may be. */
async function concerns(
  at: GitContext,
  changed: readonly ChangedFile[],
  { borrowed, pair, files }: Concerned,
): Promise<boolean> {
  const [prefix = ''] = await linesOf(at, ['rev-parse', '--show-prefix']);
  const fromStack = (path: string) => posix.relative(`/${prefix}`, `/${path}`);
  const isOfStack = changed.some(({ path, isSubmodule }) =>
    // All that is in a submodule changes as the one path that it has.
    isSubmodule ? files.isOnTheWay(fromStack(path)) : files.isFile(fromStack(path)),
  );
  if (isOfStack) return true;
  // Behind a symbolic link a file of the stack has another name: then whatever changed may be one.
  return (await symbolicLinks(borrowed.at, pair)).some((path) => files.isOnTheWay(fromStack(path)));
}

function untold(first: string, more: number): string {
  const which = more === 0 ? `"${first}" is` : `"${first}" and ${more} more manifests are`;
  return `${which} not tracked by git, and nothing that is tracked in the folder of the stack differs between the two`;
}

/** Commits behind each, a step at a time: most questions are answered by a few, and a whole history may be long. */
const depths = [64, 4096, 0x7fffffff];

/** For a service that gives nothing by its id, also not the trees of a commit later on. */
const everyBranch: Pick<FetchRequest, 'refs' | 'content'> = {
  refs: ['+refs/heads/*:refs/trueup/*'],
  content: 'trees',
};

async function askRemote(borrowed: BorrowedRepository, pair: CommitPair): Promise<Exclude<Standing, 'open'>> {
  const { at } = borrowed;
  const missing = (await hasCommit(at, pair.applied)) ? [] : [pair.applied];
  const tips = [pair.ours, pair.applied].filter((id) => !missing.includes(id));
  let wanted: Pick<FetchRequest, 'refs' | 'content'> = {
    refs: [...missing, ...(await cutBehind(at, tips))],
    content: 'commits',
  };
  for (const depth of depths) {
    if ((await fetch(borrowed, { ...wanted, depth })) === 'refused') {
      wanted = everyBranch;
      await fetch(borrowed, { ...wanted, depth });
    }
    const standing = await standingOf(at, pair);
    if (standing !== 'open') return standing;
  }
  throw lacking(borrowed, pair.applied);
}

/** @returns `refused` when the remote gives nothing by its id. @throws LedgerError when it gives nothing at all */
async function fetch(borrowed: BorrowedRepository, wanted: FetchRequest): Promise<'fetched' | 'refused'> {
  const { code, words } = await fetchInto(borrowed, wanted);
  if (code === 0) return 'fetched';
  const unknown = /not our ref/.test(words) && wanted.refs.find((ref) => words.includes(ref));
  if (unknown) throw lacking(borrowed, unknown);
  if (/unadvertised object/.test(words) && wanted.refs !== everyBranch.refs) return 'refused';
  throw new LedgerError(`the ${nameOf(borrowed)} cannot be asked: ${words}`);
}

function lacking(borrowed: BorrowedRepository, id: string): LedgerError {
  return new LedgerError(`the ${nameOf(borrowed)} does not have commit ${shortCommit(id)}`);
}

function nameOf({ remote = '' }: BorrowedRepository): string {
  return `remote "${maskAddresses(remote)}"`;
}

interface ChangedFile {
  /** from the top of the repository, with slashes */
  readonly path: string;
  /** in one of the commits */
  readonly isSubmodule: boolean;
}

/** What one of the commits has and the other has not, or otherwise. */
async function changedFiles(
  borrowed: BorrowedRepository,
  { ours, applied }: CommitPair,
): Promise<ChangedFile[]> {
  const { at } = borrowed;
  for (const id of [ours, applied]) {
    if (!(await hasTrees(at, id))) await fetch(borrowed, { refs: [id], depth: 1, content: 'trees' });
  }
  const entries = await entriesOf(at, ['diff-tree', '-r', '-z', '--raw', '--no-renames', ours, applied]);
  // Each is two: `:160000 160000 <id> <id> M`, then the path.
  return entries.flatMap((modes, index) => {
    const path = entries[index + 1];
    return index % 2 === 1 || path === undefined ? [] : [{ path, isSubmodule: /\b160000 /.test(modes) }];
  });
}

/** Of either commit; from the top of the repository, with slashes. */
async function symbolicLinks(at: GitContext, { ours, applied }: CommitPair): Promise<string[]> {
  const listed = [ours, applied].map((id) => entriesOf(at, ['ls-tree', '-r', '-z', '--full-tree', id]));
  return (await Promise.all(listed))
    .flat()
    .flatMap((entry) => (entry.startsWith('120000 ') ? [entry.slice(entry.indexOf('\t') + 1)] : []));
}

async function entriesOf(at: GitContext, args: readonly string[]): Promise<string[]> {
  const { code, out, words } = await runGit(args, at);
  if (code !== 0) throw new LedgerError(`git ${args[0]} says: ${words}`);
  return out.toString().split('\0').filter(Boolean);
}

async function hasTrees(at: GitContext, id: string): Promise<boolean> {
  const args = ['rev-list', '--objects', '--filter=blob:none', '--missing=print', '--max-count=1', id];
  return (await linesOf(at, args)).every((line) => !line.startsWith('?'));
}
