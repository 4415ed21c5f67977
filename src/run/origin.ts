/**
 * Where a run and its plan come from: person, machine, CI job, and the commit of the manifests, with its order to the commits that
 * were applied before. All attempts of one CI job have the same id, so that a repeated job may take over the lock of its earlier attempt.
 */
import { relative } from 'node:path';
import {
  isInHistory,
  isParent,
  type NoCommit,
  type RepositoryCommit,
  repositoryCommit,
  stackRepository,
  type StackRepository,
  untrackedFiles,
} from '../ledger/git/checkout.ts';
import type { GitContext } from '../ledger/git/git-command.ts';
import { orderCommits } from '../ledger/git/order-commits.ts';
import { findRepository, slashes } from '../manifest/files/find-stack.ts';
import { matchStackFiles } from '../manifest/files/match-files.ts';
import type { CommitOrder } from '../model/checkout.ts';
import type { AppliedCommit, HistoryStore, Ledger, RunIdentity } from '../model/ledger.ts';
import type { Plan, PlanOrigin } from '../model/plan.ts';
import type { Stack } from '../model/stack.ts';
import type { CliHost } from './host.ts';
import { type Declared, orderWithUncommitted, uncommittedHash, withUncommitted } from './ledger-head.ts';
import { fieldsSetSince } from './past-applies.ts';
import { jobCommit, readEvent } from './pull-request.ts';

type Env = CliHost['env'];
type CiJob = Pick<RunIdentity, 'id' | 'attempt' | 'sole' | 'url'>;

export function identifyRun({
  env,
  machine,
  newId,
  fleet,
}: Pick<CliHost, 'env' | 'fleet' | 'machine' | 'newId'>): RunIdentity {
  const { hostname, pid, pidNamespace, userName } = machine();
  const local = { id: `local:${newId()}`, who: userName ?? 'unknown' };
  return {
    // Variables of a worker's environment must not identify an attempt of its fleet.
    ...(fleet?.apply?.run ?? { ...local, ...jobOf(env), ...actorOf(env) }),
    where: hostname,
    pid,
    ...(pidNamespace === undefined ? {} : { pidNamespace }),
  };
}

/** The CI job in the environment: from `TRUEUP_RUN_ID` if it is set, else from the variables of known CI systems. */
function jobOf(env: Env): CiJob | undefined {
  if (env['TRUEUP_RUN_ID']) return { id: `run:${env['TRUEUP_RUN_ID']}`, sole: true };
  if (env['GITHUB_RUN_ID']) return githubJob(env, env['GITHUB_RUN_ID']);
  if (env['CI_PIPELINE_ID']) return gitlabJob(env, env['CI_PIPELINE_ID']);
  if (env['BUILD_ID']) return buildJob(env, env['BUILD_ID']);
  return undefined;
}

/** All jobs of a matrix have the same id; only their hosts differ. Each re-run of a job increases the attempt. */
function githubJob(env: Env, run: string): CiJob {
  const { GITHUB_REPOSITORY: repository, GITHUB_JOB: job, GITHUB_SERVER_URL: server } = env;
  return {
    id: ['github', repository, run, job].filter(Boolean).join('/'),
    ...attempt(env['GITHUB_RUN_ATTEMPT']),
    ...(server && repository ? { url: `${server}/${repository}/actions/runs/${run}` } : {}),
  };
}

/** A retried job gets a higher id under the same name, so this id is the attempt. It starts only after the earlier one has ended. */
function gitlabJob(env: Env, pipeline: string): CiJob {
  return {
    id: ['gitlab', env['CI_PROJECT_PATH'], pipeline, env['CI_JOB_NAME']].filter(Boolean).join('/'),
    ...attempt(env['CI_JOB_ID']),
    ...(env['CI_JOB_URL'] ? { url: env['CI_JOB_URL'] } : {}),
  };
}

function buildJob(env: Env, build: string): CiJob {
  return {
    id: ['build', env['JOB_NAME'], build].filter(Boolean).join('/'),
    ...(env['BUILD_URL'] ? { url: env['BUILD_URL'] } : {}),
  };
}

function attempt(text: string | undefined): Pick<CiJob, 'attempt'> {
  return text !== undefined && /^\d+$/.test(text) ? { attempt: Number(text) } : {};
}

function actorOf(env: Env): { readonly who?: string } {
  const names = ['TRUEUP_ACTOR', 'GITHUB_ACTOR', 'GITLAB_USER_LOGIN', 'USER'];
  const who = names.map((name) => env[name]).find((actor) => actor);
  return who ? { who } : {};
}

// When a plan was made, and from which commit. Its file records both, so that later reports of the plan need not guess.

interface OriginInput {
  /** milliseconds since 1970: before anything was read */
  readonly began: number;
  readonly from: RepositoryCommit | NoCommit;
  readonly at: GitContext;
}

export async function planOrigin({ began, from, at }: OriginInput): Promise<PlanOrigin> {
  const origin = { at: new Date(began).toISOString() };
  const { commit } = from;
  if (commit === undefined) return origin;
  const named = jobCommit(at.env, await readEvent(at));
  const isOfJob =
    named !== undefined && (named === commit || (isCommit(named) && (await isParent(named, commit, at))));
  return {
    ...origin,
    commit,
    ...(from.dirty ? { dirty: true as const } : {}),
    ...(isOfJob ? { pullRequestCommit: named } : {}),
  };
}

/** Adds its origin to a plan, with the end of an earlier approval of the same plan, which shows that this plan is newer. */
export function withOrigin(
  plan: Plan,
  { origin, ledger }: { readonly origin: PlanOrigin; readonly ledger: Ledger },
): Plan {
  const lastEnded = ledger.endedApprovals?.get(plan.digest) ?? null;
  return { ...plan, made: { ...origin, lastEnded } };
}

function isCommit(text: string): boolean {
  return /^[0-9a-f]{40,64}$/.test(text);
}

// What git knows about the manifests.

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

/** How our commit is ordered relative to the ledger's, then to each of its other commits. @throws LedgerError for the history, WaitEnded */
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
  if (order.is !== 'unknown' || order.isLost !== true)
    return orderWithUncommitted(order, {
      ...declared,
      commit,
      ours,
      hasIgnored: untracked.length > 0,
      history,
    });
  const appliedFields = await fieldsSetSince(history, (id) => isInHistory(id, ours.commit ?? '', at));
  return { ...order, appliedFields };
}
