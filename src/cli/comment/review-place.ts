/**
 * Which pull request a plan belongs to, and how to get there: from the variables that a CI sets, each overridden by a flag. Nothing
 * is asked of a service.
 */
import type { RunOrder } from '../../report/comment/comment-state.ts';
import type { CliHost } from '../cli-host.ts';
import type { ReviewEvent } from './read-event.ts';

export const codeHosts = ['github', 'gitlab'] as const;
type CodeHostName = (typeof codeHosts)[number];

export interface PlaceFlags {
  readonly service?: CodeHostName;
  readonly url?: string;
  readonly repository?: string;
  readonly project?: string;
  readonly number?: number;
  readonly commit?: string;
  readonly tokenEnv?: string;
}

export interface ReviewPlace {
  readonly service: CodeHostName;
  /** without a trailing slash */
  readonly url: string;
  /** `owner/name`, or the id or path of a project */
  readonly repository: string;
  readonly number: number;
  /** the variable that holds the token */
  readonly tokenEnv: string;
  /** whether a job without that variable is one of a fork, as far as anybody can tell */
  readonly tokenMayLack: boolean;
}

/** What the run knows of its plan. */
interface PlanOrigin {
  /** the commit of the pull request; not that of a merge which the CI made for the job */
  readonly commit?: string;
  readonly run?: RunOrder;
}

type Env = CliHost['env'];

/** @returns what is missing, as a message, where the place is not known */
export function findReview(flags: PlaceFlags, env: Env, event: ReviewEvent): ReviewPlace | string {
  const service = flags.service ?? serviceOf(env);
  if (service === undefined)
    return 'this is no job of GitHub Actions or GitLab CI; name the service with --service, and --number, and --repository or --project';
  const known = service === 'github' ? onGithub(env, event) : onGitlab(env);
  const url = (flags.url ?? known.url)?.replace(/\/+$/, '');
  const repository = (service === 'github' ? flags.repository : flags.project) ?? known.repository;
  const number = flags.number ?? known.number;
  const problem = urlProblem(url) ?? repositoryProblem(service, repository);
  if (problem !== undefined || url === undefined || repository === undefined) return problem ?? '';
  if (number === undefined)
    return 'this job belongs to no pull request or merge request; run it for one, or name one with --number';
  const tokenEnv = flags.tokenEnv ?? tokenVariables[service];
  const tokenMayLack = service === 'gitlab' && env['GITLAB_CI'] === 'true';
  return { service, url, repository, number, tokenEnv, tokenMayLack };
}

const tokenVariables: Readonly<Record<CodeHostName, string>> = {
  github: 'GITHUB_TOKEN',
  gitlab: 'GITLAB_TOKEN',
};

function urlProblem(url: string | undefined): string | undefined {
  if (url === undefined)
    return 'the address of the API is not known; name it with --url, such as https://gitlab.example.com/api/v4';
  return isAddress(url)
    ? undefined
    : `"${url}" is no address of an API; --url looks like https://gitlab.example.com/api/v4`;
}

function repositoryProblem(service: CodeHostName, repository: string | undefined): string | undefined {
  if (service === 'gitlab')
    return repository === undefined
      ? 'the project is not known; name it with --project, by its id or its path'
      : undefined;
  return repository !== undefined && /^(?!\.{1,2}\/)[^/]+\/(?!\.{1,2}$)[^/]+$/.test(repository)
    ? undefined
    : 'the repository is not known; name it with --repository owner/name';
}

export function originOf(flags: PlaceFlags, env: Env, event: ReviewEvent): PlanOrigin {
  const service = flags.service ?? serviceOf(env);
  const commit = flags.commit ?? (service === 'gitlab' ? gitlabCommit(env) : event.commit);
  const run = service === 'gitlab' ? gitlabRun(env) : githubRun(env);
  return { ...(commit ? { commit } : {}), ...(run === undefined ? {} : { run }) };
}

function serviceOf(env: Env): CodeHostName | undefined {
  if (env['GITHUB_ACTIONS'] === 'true') return 'github';
  return env['GITLAB_CI'] === 'true' ? 'gitlab' : undefined;
}

interface KnownPlace {
  readonly url: string | undefined;
  readonly repository: string | undefined;
  readonly number: number | undefined;
}

/** Source: docs.github.com, "Variables reference" (default environment variables). */
function onGithub(env: Env, { number }: ReviewEvent): KnownPlace {
  const ref = /^refs\/pull\/(\d+)\//.exec(env['GITHUB_REF'] ?? '')?.[1];
  return {
    url: env['GITHUB_API_URL'] || 'https://api.github.com',
    repository: env['GITHUB_REPOSITORY'] || undefined,
    number: number ?? wholeNumber(ref),
  };
}

/** A pipeline of a fork runs in the fork; the merge request is the other project's. Source: docs.gitlab.com, "Predefined CI/CD variables". */
function onGitlab(env: Env): KnownPlace {
  return {
    url: env['CI_API_V4_URL'] || undefined,
    repository: env['CI_MERGE_REQUEST_PROJECT_ID'] || env['CI_PROJECT_ID'] || undefined,
    number: wholeNumber(env['CI_MERGE_REQUEST_IID']),
  };
}

/** In a pipeline for merged results, CI_COMMIT_SHA is a merge that nobody pushed. */
function gitlabCommit(env: Env): string | undefined {
  return env['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'] || env['CI_COMMIT_SHA'];
}

function githubRun(env: Env): RunOrder | undefined {
  const number = wholeNumber(env['GITHUB_RUN_NUMBER']);
  const series = env['GITHUB_WORKFLOW'];
  if (number === undefined || !series) return undefined;
  return { series, number, attempt: wholeNumber(env['GITHUB_RUN_ATTEMPT']) ?? 1 };
}

function gitlabRun(env: Env): RunOrder | undefined {
  const number = wholeNumber(env['CI_PIPELINE_ID']);
  if (number === undefined) return undefined;
  return { series: 'pipelines', number, attempt: wholeNumber(env['CI_JOB_ID']) ?? 1 };
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

function isAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
