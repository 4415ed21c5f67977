/**
 * The CI job that this process runs in, from the variables and the event file of GitHub Actions and GitLab CI.
 * Sends no requests.
 */
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import type { CliHost } from '../host.ts';
import { readEventFile } from '../pull-request.ts';

/** `merge-group`: several pull requests that a queue merges together. `other`: an event that trueup does not know. */
export type CiEvent = 'pull-request' | 'merge-group' | 'push' | 'other';

export interface CiJob {
  readonly event: CiEvent;
  readonly service?: 'github' | 'gitlab';
  /** of the pull request or merge request */
  readonly number?: number;
  /** who opened it; on GitLab the variables do not say so */
  readonly author?: string;
  /** the newest commit of the pull request, or the commit of the merge group */
  readonly head?: string;
  /** the branch that it is merged into, without `refs/heads/` */
  readonly baseBranch?: string;
  /** the commit of that branch, as the job names it; for a push the commit before it */
  readonly base?: string;
  /** the commits come from another repository */
  readonly isOfFork: boolean;
  /** the code host may not give the secrets of the repository to the job */
  readonly mayLackSecrets: boolean;
  /** the work tree is that of the base branch: `pull_request_target` */
  readonly isOfBase: boolean;
  /** merged or closed already */
  readonly isClosed: boolean;
}

/** The job without CI, or in a CI that trueup does not know. */
const noJob: CiJob = {
  event: 'other',
  isOfFork: false,
  mayLackSecrets: false,
  isOfBase: false,
  isClosed: false,
};

export async function findJob(host: Pick<CliHost, 'env'>): Promise<CiJob> {
  const { env } = host;
  if (env['GITHUB_ACTIONS'] === 'true') return githubJob(env, await readEventFile(host));
  return env['GITLAB_CI'] === 'true' ? gitlabJob(env) : noJob;
}

type Env = CliHost['env'];

/** Source: docs.github.com, "Events that trigger workflows" and "Webhook events and payloads". */
function githubJob(env: Env, event: Json): CiJob {
  const about = { ...noJob, service: 'github' as const };
  const pull = memberOf(event, 'pull_request');
  if (isJsonObject(pull)) return githubPullRequest(env, pull, about);
  const group = memberOf(event, 'merge_group');
  if (isJsonObject(group)) {
    const branch = branchOf(textOf(group, 'base_ref'));
    return {
      ...about,
      event: 'merge-group',
      ...defined({ head: textOf(group, 'head_sha'), base: textOf(group, 'base_sha'), baseBranch: branch }),
    };
  }
  if (env['GITHUB_EVENT_NAME'] !== 'push') return about;
  const branch = branchOf(env['GITHUB_REF']);
  return {
    ...about,
    event: 'push',
    ...defined({ base: commitOf(textOf(event, 'before')), baseBranch: branch }),
  };
}

function githubPullRequest(env: Env, pull: Json, about: CiJob): CiJob {
  const repositoryOf = (side: string) => memberOf(memberOf(memberOf(pull, side), 'repo'), 'full_name');
  const isOfFork = repositoryOf('head') !== repositoryOf('base');
  const isOfBase = env['GITHUB_EVENT_NAME'] === 'pull_request_target';
  const number = memberOf(pull, 'number');
  return {
    ...about,
    event: 'pull-request',
    ...(typeof number === 'number' ? { number } : {}),
    ...defined({
      author: textOf(memberOf(pull, 'user'), 'login'),
      head: commitOf(textOf(memberOf(pull, 'head'), 'sha')),
      base: commitOf(textOf(memberOf(pull, 'base'), 'sha')),
      baseBranch: textOf(memberOf(pull, 'base'), 'ref'),
    }),
    isOfFork,
    isOfBase,
    // Workflows that Dependabot starts get a separate list of secrets, which is mostly empty.
    mayLackSecrets: !isOfBase && (isOfFork || env['GITHUB_ACTOR'] === 'dependabot[bot]'),
    isClosed: textOf(pull, 'state') === 'closed',
  };
}

/** Source: docs.gitlab.com, "Predefined CI/CD variables reference". */
function gitlabJob(env: Env): CiJob {
  const about = { ...noJob, service: 'gitlab' as const };
  const number = Number(env['CI_MERGE_REQUEST_IID'] || Number.NaN);
  if (Number.isInteger(number)) {
    const source = env['CI_MERGE_REQUEST_SOURCE_PROJECT_ID'];
    const isOfFork = !source || source !== env['CI_MERGE_REQUEST_PROJECT_ID'];
    return {
      ...about,
      event: 'pull-request',
      number,
      ...defined({
        head: commitOf(env['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'] || env['CI_COMMIT_SHA']),
        base: commitOf(env['CI_MERGE_REQUEST_TARGET_BRANCH_SHA'] || env['CI_MERGE_REQUEST_DIFF_BASE_SHA']),
        baseBranch: env['CI_MERGE_REQUEST_TARGET_BRANCH_NAME'],
      }),
      isOfFork,
      mayLackSecrets: isOfFork || env['CI_COMMIT_REF_PROTECTED'] === 'false',
    };
  }
  if (env['CI_PIPELINE_SOURCE'] !== 'push') return about;
  return {
    ...about,
    event: 'push',
    ...defined({ base: commitOf(env['CI_COMMIT_BEFORE_SHA']), baseBranch: env['CI_COMMIT_BRANCH'] }),
  };
}

/** The id of a commit; undefined for other texts, and for the zeros that name the commit before the first push of a branch. */
function commitOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[0-9a-f]{40,64}$/.test(text) && /[1-9a-f]/.test(text) ? text : undefined;
}

function branchOf(ref: string | undefined): string | undefined {
  return /^refs\/heads\/(.+)$/s.exec(ref ?? '')?.[1];
}

function textOf(value: Json | undefined, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === 'string' && member !== '' ? member : undefined;
}

function defined<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(
    Object.entries(members).filter(([, member]) => member !== undefined && member !== ''),
  ) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** The branch of a job; undefined for other jobs, such as those of tags. */
export function branchOfJob(env: CliHost['env']): string | undefined {
  return branchOf(env['GITHUB_REF']) ?? (env['CI_COMMIT_BRANCH'] || undefined);
}
