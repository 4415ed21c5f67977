/** The checks of this machine, which need no stack: Node, git, and the CI job. */
import { runGit } from '../../ledger/git/git-command.ts';
import { findRepository } from '../../manifest/files/find-stack.ts';
import { LedgerError } from '../../model/ledger.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { CliHost } from '../../run/host.ts';
import { identifyRun } from '../../run/origin.ts';
import { readEvent } from '../../run/pull-request.ts';
import { type Finding, failed, info, ok, warning } from './finding.ts';

/** The oldest Node that runs trueup: `engines` of package.json. */
export const oldestNode = { major: 22, minor: 18 };

/** @param version `v24.11.0` */
export function checkNode(version: string): Finding[] {
  const [, major = '0', minor = '0'] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  const isNewEnough =
    Number(major) > oldestNode.major ||
    (Number(major) === oldestNode.major && Number(minor) >= oldestNode.minor);
  if (isNewEnough) return [ok('node', `Node ${version}`)];
  const oldest = `${oldestNode.major}.${oldestNode.minor}`;
  return [
    failed('node', {
      id: 'node-too-old',
      message: `Node ${version} is too old: trueup needs ${oldest} or newer`,
      fix: `install Node ${oldest} or newer`,
    }),
  ];
}

interface GitQuestion {
  /** absolute: the folder of the stack, or the working directory without a stack */
  readonly directory: string;
  /** whether the ledger is kept in git */
  readonly isNeeded: boolean;
  readonly signal: AbortSignal;
}

export async function checkGit(
  { directory, isNeeded, signal }: GitQuestion,
  { env, secrets }: CliHost,
): Promise<Finding[]> {
  const failedOrWarning = isNeeded ? failed : warning;
  const at = { directory, env, secrets, signal };
  try {
    const { out } = await runGit(['--version'], at);
    const version = out
      .toString()
      .trim()
      .replace(/^git version /, 'git ');
    const { isGit } = await findRepository(directory);
    if (isGit) return await checkRepository(version, at);
    const problem = {
      id: 'git-no-repository' as const,
      message: `${version}; ${quoted(directory)} is not in a git repository`,
      fix: 'run "git init": with commits, trueup stops jobs that would take back what a newer commit applied',
    };
    return [isNeeded ? failed('git', problem) : info('git', problem)];
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error;
    const fix = isNeeded
      ? 'install git: "ledger: git" of this stack needs it'
      : 'install git: without it, no apply records its commit, and no job of an older commit is stopped';
    return [failedOrWarning('git', { id: 'git-missing', message: error.message, fix })];
  }
}

async function checkRepository(version: string, at: Parameters<typeof runGit>[1]): Promise<Finding[]> {
  const head = await runGit(['rev-parse', '--verify', '--quiet', 'HEAD'], at);
  if (head.code !== 0) {
    const why = head.message.replace(/^fatal: /, '') || 'the repository has no commit yet';
    const fix = why.includes('dubious ownership')
      ? `make the repository yours, or run ${quoted(`git config --global --add safe.directory ${at.directory}`)}`
      : 'commit the stack: without commits, no job of an older commit is stopped';
    return [warning('git', { id: 'git-no-commit', message: `${version}; ${why}`, fix })];
  }
  const commit = head.out.toString().trim().slice(0, 10);
  const shallow = await runGit(['rev-parse', '--is-shallow-repository'], at);
  if (shallow.out.toString().trim() !== 'true') return [ok('git', `${version}, commit ${commit}`)];
  const count = Number((await runGit(['rev-list', '--count', 'HEAD'], at)).out.toString());
  return [
    warning('git', {
      id: 'git-shallow',
      message: `${version}; a shallow clone with ${counted(count, 'commit')}: trueup asks the remote which of two commits is newer`,
      fix: 'fetch the whole history with "git fetch --unshallow", or "fetch-depth: 0" of actions/checkout, if the remote cannot be asked from here',
    }),
  ];
}

type Env = CliHost['env'];

/** Checks the CI job by its variables: whether it has the secrets and tokens that a plan or an apply needs. */
export async function checkCi(host: CliHost): Promise<Finding[]> {
  const { env } = host;
  const run = identifyRun(host);
  if (run.id.startsWith('local:')) return [isUnknownCi(env) ? unknownJob : ok('ci', 'not in a CI job')];
  const problems =
    env['GITHUB_ACTIONS'] === 'true'
      ? await checkGithub(env)
      : env['GITLAB_CI'] === 'true'
        ? checkGitlab(env)
        : [];
  return problems.length > 0 ? problems : [ok('ci', `job ${quoted(run.id)}`)];
}

function isUnknownCi(env: Env): boolean {
  return !['', 'false', '0', undefined].includes(env['CI']);
}

const unknownJob = warning('ci', {
  id: 'ci-unknown-job',
  message: 'this is a job of a CI that trueup does not know, so a repeated job does not continue its apply',
  fix: 'set TRUEUP_RUN_ID to an id of the job that stays the same when the job is repeated',
});

const forkFix =
  'apply in a job of the target branch, after the merge; in jobs of forks run only "trueup validate"';

async function checkGithub(env: Env): Promise<Finding[]> {
  const event = await readEvent({ env });
  // With `pull_request_target` a job has the secrets of the base repository, also for a fork.
  const isOfFork = event.isOfFork === true && env['GITHUB_EVENT_NAME'] !== 'pull_request_target';
  const fork = warning('ci', {
    id: 'ci-fork',
    message:
      'the pull request comes from a fork: GitHub gives this job no secrets, and a GITHUB_TOKEN that cannot write',
    fix: forkFix,
  });
  const isReview = event.number !== undefined;
  return [
    ...(isOfFork ? [fork] : []),
    ...(isReview && !isOfFork && !env['GITHUB_TOKEN'] ? [commentToken] : []),
  ];
}

const commentToken = info('ci', {
  id: 'ci-no-comment-token',
  message: 'GITHUB_TOKEN is not set, so "trueup comment" cannot write into the pull request',
  fix: 'set the variable GITHUB_TOKEN of the step to the expression "github.token", and give the job "permissions: { pull-requests: write }"',
});

function checkGitlab(env: Env): Finding[] {
  const source = env['CI_MERGE_REQUEST_SOURCE_PROJECT_ID'];
  const isReview = Boolean(env['CI_MERGE_REQUEST_IID']);
  const isOfFork = Boolean(source) && source !== env['CI_MERGE_REQUEST_PROJECT_ID'];
  if (isOfFork)
    return [
      warning('ci', {
        id: 'ci-fork',
        message: 'the merge request comes from a fork: this job has the variables of the fork alone',
        fix: forkFix,
      }),
    ];
  const unprotected = info('ci', {
    id: 'ci-unprotected-branch',
    message: 'the branch of this job is not protected, so the job gets no protected variables',
    fix: 'apply on a protected branch; give plans unprotected variables with tokens that only read',
  });
  const noToken = info('ci', {
    id: 'ci-no-comment-token',
    message: 'GITLAB_TOKEN is not set, so "trueup comment" cannot write into the merge request',
    fix: 'set GITLAB_TOKEN to a token with the scope "api"; CI_JOB_TOKEN cannot write comments',
  });
  return [
    ...(env['CI_COMMIT_REF_PROTECTED'] === 'false' ? [unprotected] : []),
    ...(isReview && !env['GITLAB_TOKEN'] ? [noToken] : []),
  ];
}
