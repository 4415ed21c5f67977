/** What a CI job is about: its clone, the commit that is planned, the commits that it is compared with, and the stacks of all of them. */
import { shortCommit } from '../../model/checkout.ts';
import { messageOf } from '../../model/error-message.ts';
import { type CommitReader, openCommits } from '../../ledger/git/read-commits.ts';
import { findRepository } from '../../manifest/files/find-stack.ts';
import { quoted } from '../../model/quoted.ts';
import { CommandStop } from '../command-stop.ts';
import type { CliHost } from '../host.ts';
import { CommitStacks } from './commit-stacks.ts';
import { type CiJob, findJob } from './job.ts';

/** The clone of a CI job. */
export interface CiClone {
  readonly job: CiJob;
  /** the top of the work tree */
  readonly root: string;
  readonly reader: CommitReader;
  /** The stacks of a commit. @throws LedgerError when it cannot be read */
  open(commit: string, isRepository?: boolean): Promise<CommitStacks>;
  close(): Promise<void>;
}

export interface CiScope extends Omit<CiClone, 'open'> {
  /** the stacks of the commit that is planned; plans are made in its folder if the work tree is that of the base branch */
  readonly head: CommitStacks;
  /** the stacks of the merge base, or of the previous commit; absent for the first commit of a repository */
  readonly from: CommitStacks | undefined;
  /** the stacks of the newest commit of the base branch; the same as `from` if no other is known */
  readonly baseTip: CommitStacks | undefined;
}

interface ScopeOptions {
  /** a commit or branch, named by the user */
  readonly base?: string | undefined;
  /** whether a job without a base is an error */
  readonly needsBase: boolean;
  readonly signal: AbortSignal;
}

/** @throws CommandStop outside of a repository */
export async function openClone(host: CliHost, signal: AbortSignal): Promise<CiClone> {
  const { root, isGit } = await findRepository(host.cwd);
  if (!isGit)
    throw new CommandStop(
      'commit-unreadable',
      'this is not a git repository: run it in the checkout of the job',
    );
  const job = await findJob(host);
  const { env, secrets } = host;
  const at = { directory: root, env, secrets, signal };
  const reader = await openCommits(at).catch((error: unknown) => {
    throw unreadable('the repository', error);
  });
  const opened = new Map<string, Promise<CommitStacks>>();
  return {
    ...{ job, root, reader },
    open: (commit, isRepository = false) => {
      const stacks = opened.get(commit) ?? CommitStacks.open(reader, commit, { host, isRepository });
      opened.set(commit, stacks);
      return stacks;
    },
    close: async () => {
      for (const stacks of opened.values()) await stacks.then((one) => one.close()).catch(() => {});
      await reader.close();
    },
  };
}

/** @throws CommandStop when a commit is not known or cannot be read */
export async function openScope(host: CliHost, options: ScopeOptions): Promise<CiScope> {
  const { open, ...clone } = await openClone(host, options.signal);
  const { job, reader } = clone;
  try {
    const commits = await findCommits(job, reader, options);
    const head = await open(commits.planned, job.isOfBase);
    const from = commits.from === undefined ? undefined : await open(commits.from);
    const baseTip = commits.baseTip === undefined ? from : await open(commits.baseTip);
    return { ...clone, head, from, baseTip };
  } catch (error) {
    await clone.close();
    throw error instanceof CommandStop ? error : unreadable('the commits of this job', error);
  }
}

/** The error for what git cannot read; it ends the job. @param what for people: `the commits of this job` */
export function unreadable(what: string, error: unknown): CommandStop {
  return new CommandStop('commit-unreadable', `${what} cannot be read: ${messageOf(error)}`);
}

interface Commits {
  readonly planned: string;
  readonly from: string | undefined;
  readonly baseTip: string | undefined;
}

async function findCommits(job: CiJob, reader: CommitReader, options: ScopeOptions): Promise<Commits> {
  const here = await headOf(reader);
  if (job.isOfBase) return mergedForBase(job, reader, here);
  const baseTip = await findBaseTip(job, reader, { ...options, here });
  if (baseTip !== undefined) {
    const from = await reader.mergeBase(baseTip, here);
    return { planned: here, from, baseTip };
  }
  if (options.needsBase && job.event === 'other')
    throw new CommandStop(
      'base-unknown',
      'this is not a job of a pull request, a merge group or a push that trueup knows: name the commit to compare with, with --base, or plan all stacks with --all',
    );
  const [parent] = await reader.parentsOf(here);
  if (parent === undefined || job.event === 'other')
    return { planned: here, from: undefined, baseTip: undefined };
  await reader.obtainFiles(parent);
  return { planned: here, from: parent, baseTip: parent };
}

/** The commit that is checked out. @throws CommandStop where there is none */
export async function headOf(reader: CommitReader): Promise<string> {
  const here = await reader.resolve('HEAD');
  if (here === undefined) throw new CommandStop('commit-unreadable', 'the repository has no commit yet');
  return here;
}

/** The newest commit that the base branch is known to have. */
async function findBaseTip(
  job: CiJob,
  reader: CommitReader,
  { base: named, here }: Pick<ScopeOptions, 'base'> & { readonly here: string },
): Promise<string | undefined> {
  if (named !== undefined) {
    const commit = await reader.resolve(named);
    if (commit === undefined)
      throw new CommandStop(
        'base-unknown',
        `there is no commit or branch ${quoted(named)} in this repository`,
      );
    return commit;
  }
  const newestOfBase =
    job.event === 'pull-request' ? await baseTipOfPullRequest(job, reader, here) : undefined;
  const { base } = job;
  if (newestOfBase !== undefined || base === undefined) return newestOfBase;
  try {
    await reader.obtainFiles(base);
    return base;
  } catch (error) {
    // After a force push, the previous commit may be gone.
    if (job.event === 'push') return undefined;
    throw error;
  }
}

async function baseTipOfPullRequest(
  { head, baseBranch, isOfFork }: CiJob,
  reader: CommitReader,
  here: string,
): Promise<string | undefined> {
  const [first, ...merged] = await reader.parentsOf(here);
  // A job of a pull request checks out a merge of it into the newest commit of its base branch.
  if (first !== undefined && head !== undefined && merged.includes(head)) {
    await reader.obtainFiles(first);
    return first;
  }
  // In a fork the remote is the fork, whose branch may be older.
  return baseBranch === undefined || isOfFork ? undefined : reader.tipOf(baseBranch);
}

/** `pull_request_target`: the work tree is the base branch, and the pull request is read as data and merged with it. */
async function mergedForBase({ head, number }: CiJob, reader: CommitReader, here: string): Promise<Commits> {
  if (head === undefined || number === undefined)
    throw new CommandStop('base-unknown', 'the event does not name the commit of the pull request');
  const [, ...merged] = await reader.parentsOf(here);
  if (here === head || merged.includes(head))
    throw new CommandStop(
      'base-unknown',
      `the job checked out commit ${shortCommit(head)} of the pull request, and its event gives secrets to a job of the base branch: remove "ref" from the checkout step, trueup reads the pull request itself`,
    );
  await reader.obtainFiles(head, `refs/pull/${number}/head`);
  return { planned: await reader.merge(here, head), from: here, baseTip: here };
}
