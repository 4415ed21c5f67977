/**
 * Which pull request a plan belongs to, from the variables and the event file that a CI sets, each overridden by a flag.
 * Sends no requests.
 */
import { megabyte, readRegularText } from '../files/read-file.ts';
import { isJsonObject, type Json, memberOf } from '../model/json.ts';
import { quoted } from '../model/quoted.ts';
import { CommandStop } from './command-stop.ts';
import type { CliHost } from './host.ts';

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

/** A repository in a code host, and the token for it. */
export interface HostPlace {
  readonly service: CodeHostName;
  /** without a trailing slash */
  readonly url: string;
  /** `owner/name`, or the id or path of a project */
  readonly repository: string;
  /** the variable that holds the token */
  readonly tokenEnv: string;
  /** the author of comments with the token of the job, if the service does not show whose token it is */
  readonly usualAuthor?: string;
  /** whether `tokenEnv` may be missing because the job is one of a fork */
  readonly tokenMayBeMissing: boolean;
}

export interface PullRequestPlace extends HostPlace {
  readonly number: number;
}

type Env = CliHost['env'];

/** @throws CommandStop where the place is not known */
export function findPullRequest(flags: PlaceFlags, env: Env, event: PullRequestEvent): PullRequestPlace {
  const { known, ...place } = findPlace(flags, env, event);
  const number = flags.number ?? known.number;
  if (number === undefined)
    throw placeNotKnown(
      'this job belongs to no pull request or merge request; run it for one, or name one with --number',
    );
  return { ...place, number };
}

/** The code host of this job; undefined if the job has none and no flag names one. @throws CommandStop for a place that is incomplete */
export function findCodeHost(flags: PlaceFlags, env: Env): HostPlace | undefined {
  if ((flags.service ?? serviceOf(env)) === undefined) return undefined;
  const { known: _, ...place } = findPlace(flags, env, {});
  return place;
}

function findPlace(
  flags: PlaceFlags,
  env: Env,
  event: PullRequestEvent,
): HostPlace & { readonly known: KnownPlace } {
  const service = flags.service ?? serviceOf(env);
  if (service === undefined)
    throw placeNotKnown(
      'this is not a job of GitHub Actions or GitLab CI; name the service with --service, and --number, and --repository or --project',
    );
  const known = service === 'github' ? onGithub(env, event) : onGitlab(env);
  const url = (flags.url ?? known.url)?.replace(/\/+$/, '');
  const repository = (service === 'github' ? flags.repository : flags.project) ?? known.repository;
  const problem = urlProblem(url) ?? repositoryProblem(service, repository);
  if (problem !== undefined || url === undefined || repository === undefined)
    throw placeNotKnown(problem ?? '');
  const tokenEnv = flags.tokenEnv ?? tokenVariables[service];
  const tokenMayBeMissing = service === 'gitlab' && env['GITLAB_CI'] === 'true';
  return { service, url, repository, tokenEnv, ...usualAuthor(service, env), tokenMayBeMissing, known };
}

function placeNotKnown(message: string): CommandStop {
  return new CommandStop('review-unknown', message);
}

function usualAuthor(service: CodeHostName, env: Env): Pick<PullRequestPlace, 'usualAuthor'> {
  const isAction = service === 'github' && env['GITHUB_ACTIONS'] === 'true';
  return isAction ? { usualAuthor: 'github-actions[bot]' } : {};
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
    : `${quoted(url)} is not an address of an API; --url looks like https://gitlab.example.com/api/v4`;
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

/** The commit that a CI job names: for a pull request its commit, and never the merge that the CI made for the job. */
export function jobCommit(
  env: Env,
  event: PullRequestEvent,
  service: CodeHostName | undefined = serviceOf(env),
): string | undefined {
  return (service === 'gitlab' ? gitlabCommit(env) : event.commit) || undefined;
}

function serviceOf(env: Env): CodeHostName | undefined {
  if (env['GITHUB_ACTIONS'] === 'true') return 'github';
  return env['GITLAB_CI'] === 'true' ? 'gitlab' : undefined;
}

/** The pull request of this CI job, for people; undefined where the job names none. */
export function pullRequestLink(
  env: Env,
  event: PullRequestEvent,
): { readonly name: string; readonly url?: string } | undefined {
  const service = serviceOf(env);
  if (service === undefined) return undefined;
  const { number } = service === 'github' ? onGithub(env, event) : onGitlab(env);
  if (number === undefined) return undefined;
  const [path, page, sign] =
    service === 'github'
      ? [
          env['GITHUB_REPOSITORY'],
          `${env['GITHUB_SERVER_URL'] || 'https://github.com'}/${env['GITHUB_REPOSITORY']}/pull/`,
          '#',
        ]
      : [
          env['CI_MERGE_REQUEST_PROJECT_PATH'],
          `${env['CI_MERGE_REQUEST_PROJECT_URL']}/-/merge_requests/`,
          '!',
        ];
  if (!path) return { name: `${sign}${number}` };
  const url = `${page}${number}`;
  return { name: `${path}${sign}${number}`, ...(isAddress(url) ? { url } : {}) };
}

interface KnownPlace {
  readonly url: string | undefined;
  readonly repository: string | undefined;
  readonly number: number | undefined;
}

/** Source: docs.github.com, "Variables reference" (default environment variables). */
function onGithub(env: Env, { number }: PullRequestEvent): KnownPlace {
  const ref = /^refs\/pull\/(\d+)\//.exec(env['GITHUB_REF'] ?? '')?.[1];
  return {
    url: env['GITHUB_API_URL'] || 'https://api.github.com',
    repository: env['GITHUB_REPOSITORY'] || undefined,
    number: number ?? wholeNumber(ref),
  };
}

/** A pipeline of a fork runs in the fork; the merge request is in the other project. Source: docs.gitlab.com, "Predefined variables". */
function onGitlab(env: Env): KnownPlace {
  return {
    url: env['CI_API_V4_URL'] || undefined,
    repository: env['CI_MERGE_REQUEST_PROJECT_ID'] || env['CI_PROJECT_ID'] || undefined,
    number: wholeNumber(env['CI_MERGE_REQUEST_IID']),
  };
}

/** The commit of the merge request. In a pipeline for merged results, CI_COMMIT_SHA is a merge that GitLab made for the job. */
function gitlabCommit(env: Env): string | undefined {
  return env['CI_MERGE_REQUEST_SOURCE_BRANCH_SHA'] || env['CI_COMMIT_SHA'];
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

function isAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

// The event that started a job of GitHub Actions, as far as it names a pull request. `GITHUB_SHA` is a merge that was made for the
// job; only the event has the commit of the pull request.

interface PullRequestEvent {
  readonly number?: number;
  readonly commit?: string;
  /** the commit is in another repository, or in one that was deleted */
  readonly isOfFork?: true;
}

/** The maximal size of an event file; GitHub's own limit is 25 megabytes. */
const maxSize = 32 * megabyte;

/** The pull request that the event names. An event that cannot be read names none; flags may name it. */
export async function readEvent(host: Pick<CliHost, 'env'>): Promise<PullRequestEvent> {
  return eventIn(await readEventFile(host));
}

/** The whole event; null where there is none, or none that can be read. */
export async function readEventFile({ env }: Pick<CliHost, 'env'>): Promise<Json> {
  const file = env['GITHUB_EVENT_PATH'];
  if (file === undefined || file === '') return null;
  const text = await readRegularText(file, maxSize).catch(() => '');
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The pull request in an event. A comment is an event of an issue; only that of a pull request has a member `pull_request`. */
function eventIn(event: Json): PullRequestEvent {
  const pull = memberOf(event, 'pull_request');
  const issue = memberOf(event, 'issue');
  const isPull = isJsonObject(memberOf(issue, 'pull_request'));
  const number = memberOf(pull, 'number') ?? (isPull ? memberOf(issue, 'number') : undefined);
  const commit = memberOf(memberOf(pull, 'head'), 'sha');
  const repositoryOf = (side: string) => memberOf(memberOf(memberOf(pull, side), 'repo'), 'full_name');
  const isOfFork = isJsonObject(pull) && repositoryOf('head') !== repositoryOf('base');
  return {
    ...(typeof number === 'number' ? { number } : {}),
    ...(typeof commit === 'string' && commit !== '' ? { commit } : {}),
    ...(isOfFork ? { isOfFork } : {}),
  };
}
