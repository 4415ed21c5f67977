/** What git says of the manifests of a run: their commit, their repository, and how they stand to what was applied before. */
import { relative } from 'node:path';
import type { GitContext } from '../ledger/git/git-command.ts';
import {
  isInHistory,
  type NoCommit,
  type RepositoryCommit,
  repositoryCommit,
  stackRepository,
  type StackRepository,
  untrackedFiles,
} from '../ledger/git/checkout.ts';
import { orderCommits } from '../ledger/git/order-commits.ts';
import { findRepository, slashes } from '../manifest/files/find-stack.ts';
import { matchStackFiles } from '../manifest/files/match-files.ts';
import type { CommitOrder } from '../model/checkout.ts';
import type { AppliedCommit, HistoryStore, Ledger } from '../model/ledger.ts';
import type { Stack } from '../model/stack.ts';
import { fieldsSetSince } from './past-applies.ts';
import type { CliHost } from './host.ts';
import { type Declared, orderWithUncommitted, uncommittedHash, withUncommitted } from './ledger-head.ts';

/** The commit that is checked out, the manifests that git does not track, and the repository. */
export async function askGit(
  declared: Declared,
  stack: Stack,
  at: GitContext,
): Promise<[RepositoryCommit | NoCommit, readonly string[], StackRepository | undefined]> {
  const { directory, file } = stack;
  // Without a repository, git need not be started.
  const { root, isGit } = await findRepository(directory);
  if (!isGit) return [withUncommitted(noRepository, declared), [], undefined];
  const files = declared.paths.map((path) => slashes(relative(directory, path)));
  const { resources } = declared;
  const untracked = untrackedFiles(at, files);
  const [commit, uncommitted, ignored, place] = await Promise.all([
    repositoryCommit(at),
    untracked.then(({ length }) => uncommittedHash({ ...declared, hasIgnored: length > 0 }, stack, at)),
    untracked,
    stackRepository(at, root, file),
  ]);
  const from = withUncommitted(commit, { uncommitted, hasIgnored: ignored.length > 0, resources });
  return [from, ignored, place];
}

const noRepository: NoCommit = { why: 'not a git repository (or any of the parent directories)' };

interface CommitOrderInput {
  readonly stack: Stack;
  readonly declared: Declared;
  readonly untracked: readonly string[];
  readonly host: Pick<CliHost, 'env' | 'secrets'>;
  readonly signal: AbortSignal;
}

/** How ours stands to the ledger's commit, and then to its other commits. @throws LedgerError when the history cannot be read, WaitEnded */
export function ordersOf(
  { commit, otherCommits = [] }: Ledger,
  ours: RepositoryCommit | NoCommit,
  history: Pick<HistoryStore, 'readEntries'>,
  input: CommitOrderInput,
): Promise<readonly CommitOrder[]> {
  const applied = [...(commit === undefined ? [] : [commit]), ...otherCommits];
  return Promise.all(applied.map((each) => orderOf(each, ours, history, input)));
}

async function orderOf(
  commit: AppliedCommit,
  ours: RepositoryCommit | NoCommit,
  history: Pick<HistoryStore, 'readEntries'>,
  { stack, declared, untracked, host, signal }: CommitOrderInput,
): Promise<CommitOrder> {
  const { env, secrets } = host;
  const at = { directory: stack.directory, env, secrets, signal };
  // It is unknown which files an untracked manifest was made from, so it is treated like a piped one.
  const files = matchStackFiles(stack, declared.isPiped || untracked.length > 0);
  const order = await orderCommits({ at, applied: commit.id, ours, files, untracked });
  return order.is === 'unknown' && order.nowhere === true
    ? { ...order, set: await fieldsSetSince(history, (id) => isInHistory(id, ours.commit ?? '', at)) }
    : orderWithUncommitted(order, { ...declared, commit, ours, hasIgnored: untracked.length > 0, history });
}
