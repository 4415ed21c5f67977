/** The code hosts of scenes, which are doubles of GitHub and GitLab, and the variables of their jobs. */
import { githubTokens, type GithubDouble, openGithub } from '../code-host/github.ts';
import type { GithubPull } from '../code-host/github-state.ts';
import { gitlabTokens, type GitlabDouble, openGitlab } from '../code-host/gitlab.ts';
import type { GitlabRequest } from '../code-host/gitlab-state.ts';
import type { MergeResult } from './author.ts';

type Variables = Readonly<Record<string, string>>;

/** The part of a pull request that both doubles have. */
export interface HostedPull {
  readonly number: number;
  readonly author: string;
  readonly branch: string;
  readonly base: string;
  readonly head: string;
}

export interface SceneHost<Pull extends HostedPull> {
  /** gives these people write access */
  admit(...names: readonly string[]): void;
  open(about: Pick<HostedPull, 'number' | 'author' | 'head' | 'branch'>): Pull;
  push(pull: Pull, about: { readonly by: string; readonly head: string }): void;
  /** pushes to a branch of the repository without a pull request */
  pushTo(
    branch: string,
    about: {
      readonly by: string;
      readonly commits: readonly { readonly sha: string; readonly author: string }[];
    },
  ): void;
  /** writes a comment as the jobs do */
  post(pull: Pull, body: string): void;
  approve(pull: Pull, by: string): void;
  merge(pull: Pull, made: MergeResult): void;
  bodiesOf(pull: Pull): readonly string[];
  /** the variables of a job of the protected branch */
  readonly applyEnv: Variables;
  /** the variables and the event of a job of a pull request. @param main the newest commit of the protected branch */
  planJob(pull: Pull, main: string): { readonly env: Variables; readonly event?: object };
  /** the name of the variable with the token */
  readonly tokenVariable: string;
  /** whether a squashed commit gets a merge commit */
  readonly mergesSquashed: boolean;
}

export interface OnGithub {
  readonly github: GithubDouble;
  readonly host: SceneHost<GithubPull>;
}

export async function openGithubHost(): Promise<OnGithub> {
  const github = await openGithub();
  const { state } = github;
  state.pulls.clear();
  const repo = { full_name: state.repository };
  const host: SceneHost<GithubPull> = {
    admit: (...names) => {
      for (const name of names) state.permissions.set(name, 'write');
    },
    open: (about) => state.openPull(about),
    push: (pull, about) => state.push(pull, about),
    pushTo: (branch, about) => state.pushTo(branch, about),
    post: (pull, body) => void state.comment(pull, { by: 'github-actions[bot]', body }),
    approve: (pull, by) => void state.review(pull, { by }),
    merge: (pull, { commits }) => state.merge(pull, { by: 'ann', commits }),
    bodiesOf: ({ comments }) => comments.map(({ body }) => body),
    applyEnv: {
      GITHUB_ACTIONS: 'true',
      GITHUB_API_URL: github.url,
      GITHUB_REPOSITORY: state.repository,
      GITHUB_REF: 'refs/heads/main',
      GITHUB_RUN_ID: '771',
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_JOB: 'apply',
      GITHUB_TOKEN: githubTokens.job,
    },
    planJob: ({ number, author, head, branch, base }, main) => ({
      env: { GITHUB_EVENT_NAME: 'pull_request' },
      event: {
        number,
        pull_request: {
          number,
          state: 'open',
          user: { login: author },
          head: { sha: head, ref: branch, repo },
          base: { sha: main, ref: base, repo },
        },
      },
    }),
    tokenVariable: 'GITHUB_TOKEN',
    mergesSquashed: false,
  };
  return { github, host };
}

export interface OnGitlab {
  readonly gitlab: GitlabDouble;
  readonly host: SceneHost<GitlabRequest>;
}

export async function openGitlabHost(): Promise<OnGitlab> {
  const gitlab = await openGitlab();
  const { state } = gitlab;
  state.requests.clear();
  state.pushes.splice(0);
  const project = String(state.project);
  const host: SceneHost<GitlabRequest> = {
    admit: (...names) => {
      for (const name of names) {
        state.user(name);
        state.members.set(name, 30);
      }
    },
    open: (about) => state.openRequest(about),
    push: (request, about) => state.push(request, about),
    pushTo: (branch, about) => state.pushTo(branch, about),
    post: (request, body) => void state.comment(request, { by: 'project_5_bot_1', body }),
    approve: (request, by) => state.approve(request, by),
    // After a fast-forward, the base branch has the commits of the merge request itself.
    merge: (request, { commits, squash }) =>
      state.merge(request, {
        commits: commits.filter((id) => !request.commits.some(({ sha }) => sha === id)),
        squash,
      }),
    bodiesOf: ({ notes }) => notes.map(({ body }) => body),
    applyEnv: {
      GITLAB_CI: 'true',
      CI_API_V4_URL: `${gitlab.url}/api/v4`,
      CI_PROJECT_ID: project,
      CI_PROJECT_PATH: state.path,
      CI_PIPELINE_SOURCE: 'push',
      CI_PIPELINE_ID: '100',
      CI_COMMIT_BRANCH: 'main',
      CI_JOB_ID: '1000',
      CI_JOB_NAME: 'apply',
      CI_JOB_URL: `https://gitlab.test/${state.path}/-/jobs/1000`,
      GITLAB_TOKEN: gitlabTokens.project,
    },
    planJob: ({ number, head, base }, main) => ({
      env: {
        CI_PIPELINE_SOURCE: 'merge_request_event',
        CI_PIPELINE_ID: '99',
        CI_COMMIT_BRANCH: '',
        CI_COMMIT_SHA: head,
        CI_MERGE_REQUEST_IID: String(number),
        CI_MERGE_REQUEST_PROJECT_ID: project,
        CI_MERGE_REQUEST_SOURCE_PROJECT_ID: project,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME: base,
        CI_MERGE_REQUEST_DIFF_BASE_SHA: main,
      },
    }),
    tokenVariable: 'GITLAB_TOKEN',
    mergesSquashed: true,
  };
  return { gitlab, host };
}
