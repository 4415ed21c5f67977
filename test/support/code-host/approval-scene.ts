/** Code hosts with pull requests to approve, and the connection of a CI job to them. */
import { onTestFinished } from 'vitest';
import { hiddenLines } from '../../../src/approvals/hidden-lines.ts';
import { githubHeaders, gitlabHeaders } from '../../../src/api/code-host/comments.ts';
import { openPullRequests } from '../../../src/api/code-host/open-pull-requests.ts';
import type { PullRequests } from '../../../src/api/code-host/pull-requests.ts';
import { openCodeHost } from '../../../src/api/code-host.ts';
import { KnownSecrets } from '../../../src/redaction/known-secrets.ts';
import { FakeClock } from '../http/fake-clock.ts';
import { githubTokens, openGithub } from './github.ts';
import { gitlabTokens, openGitlab } from './gitlab.ts';

export const stack = 'web';
export const digest = '0123456789abcdef0123456789abcdef';

/** A commit id of one digit. */
export const sha = (digit: string) => digit.repeat(40);

/** The comment that a CI job posts: the plan of a stack at a commit. */
export function planComment(
  commit: string,
  about: { digest?: string; stack?: string; dirty?: true } = {},
): string {
  const shown = {
    ...{ post: 'p1', at: '2026-11-22T21:36:28Z', commit, summary: '1 to create' },
    digest: about.digest ?? digest,
    ...(about.dirty === undefined ? {} : { dirty: about.dirty }),
  };
  return [...hiddenLines(about.stack ?? stack, { shown, earlier: [] }), '', 'The plan.'].join('\n');
}

/** With a clock that does not wait: a failing request is sent the usual number of times. */
function connect(
  place: { readonly service: 'github' | 'gitlab'; readonly repository: string },
  {
    url,
    token,
    signal = new AbortController().signal,
  }: { readonly url: string; readonly token: string; readonly signal?: AbortSignal },
): PullRequests {
  const clock = new FakeClock();
  const host = openCodeHost({
    url,
    headers: place.service === 'github' ? githubHeaders : gitlabHeaders,
    token,
    userAgent: 'trueup/test',
    env: {},
    signal,
    until: clock.now() + 3_600_000,
    onWait: () => {},
    secrets: new KnownSecrets(),
    clock,
    random: () => 1,
  });
  onTestFinished(() => host.close());
  return openPullRequests(place, host);
}

/** Pull request 7 of ann, with a plan in its comment; bob, carol and dave may write. */
export async function openGithubScene(token: string = githubTokens.job) {
  const github = await openGithub();
  for (const one of ['ann', 'bob', 'carol', 'dave']) github.state.permissions.set(one, 'write');
  const reader = (signal?: AbortSignal) =>
    connect(
      { service: 'github', repository: 'acme/infra' },
      { url: github.url, token, ...(signal && { signal }) },
    );
  const post = (commit = github.pull.head, about = {}) =>
    github.state.comment(github.pull, { by: 'github-actions[bot]', body: planComment(commit, about) });
  return { github, state: github.state, pull: github.pull, reader, post };
}

/** Merge request 3 of ann, with the same people as developers. */
export async function openGitlabScene() {
  const gitlab = await openGitlab();
  for (const one of ['ann', 'bob', 'carol', 'dave']) {
    gitlab.state.user(one);
    gitlab.state.members.set(one, 30);
  }
  const reader = (signal?: AbortSignal) =>
    connect(
      { service: 'gitlab', repository: '5' },
      { url: `${gitlab.url}/api/v4`, token: gitlabTokens.project, ...(signal && { signal }) },
    );
  const post = (commit = gitlab.request.head, about = {}) =>
    gitlab.state.comment(gitlab.request, { by: 'project_5_bot_1', body: planComment(commit, about) });
  return { gitlab, state: gitlab.state, request: gitlab.request, reader, post };
}
