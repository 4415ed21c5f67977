/** The objects that a double of GitHub answers with. */
import type { GivenAnswer } from './api-double.ts';
import type {
  GithubCommit,
  GithubLabelEvent,
  GithubPull,
  GithubReview,
  GithubRun,
  GithubState,
} from './github-state.ts';

function userShown(login: string | null | undefined, state: GithubState): object | null {
  return login == null ? null : { login, id: 1, type: state.typeOf(login), site_admin: false };
}

export function pullShown(pull: GithubPull, state: GithubState): object {
  const { number, head, branch, base, from, createdAt, merged } = pull;
  return {
    number,
    state: merged === undefined ? 'open' : 'closed',
    html_url: `https://github.test/${state.repository}/pull/${number}`,
    user: userShown(pull.author, state),
    head: { sha: head, ref: branch, repo: from === null ? null : { full_name: from } },
    base: { sha: '9'.repeat(40), ref: base, repo: { full_name: state.repository } },
    created_at: createdAt,
    merged_at: merged?.at ?? null,
    merge_commit_sha: merged?.commit ?? 'e'.repeat(40),
    commits: pull.commits.length,
  };
}

/** Author and committer are users if GitHub knows their addresses, else empty objects. */
export function commitShown(
  { sha, author, committer, coAuthors = [] }: GithubCommit,
  state: GithubState,
): object {
  const trailers = coAuthors.map((login) => `\n\nCo-authored-by: ${login} <${login}@example.com>`);
  const signed = (login = 'stranger') => ({ name: login, email: `${login}@example.com` });
  return {
    sha,
    commit: {
      message: `Change it${trailers.join('')}`,
      author: signed(author),
      committer: signed(committer),
    },
    author: userShown(author, state) ?? {},
    committer: userShown(committer, state) ?? {},
    parents: [],
  };
}

export function reviewShown(
  { id, by, state: decision, commit, at }: GithubReview,
  state: GithubState,
): object {
  return { id, user: userShown(by, state), body: '', state: decision, submitted_at: at, commit_id: commit };
}

export function eventShown({ id, event, by, label, at }: GithubLabelEvent, state: GithubState): object {
  return { id, event, actor: userShown(by, state), label: { name: label, color: 'ededed' }, created_at: at };
}

export function runShown(
  { id, commit, startedBy, restartedBy, attempt }: GithubRun,
  state: GithubState,
): object {
  return {
    id,
    head_sha: commit,
    run_attempt: attempt,
    event: 'push',
    actor: userShown(startedBy, state),
    triggering_actor: userShown(restartedBy, state),
  };
}

export function approvalShown(
  { by, state: decision, environments }: GithubRun['approvals'][number],
  state: GithubState,
): object {
  return {
    state: decision,
    comment: '',
    environments: environments.map((name, at) => ({ id: at + 1, name })),
    user: userShown(by, state),
  };
}

/** The activity of branches. Its pages have no numbers; the cursor is the position of the next entry. */
export function activity(
  repository: string,
  query: URLSearchParams,
  { url, state }: { readonly url: string; readonly state: GithubState },
): GivenAnswer {
  const ref = query.get('ref');
  const all = state.pushes
    .map((push, at) => ({ ...push, at, time: push.at }))
    .filter((push) => push.repository === repository && (ref === null || push.ref === ref))
    .toReversed();
  const size = Number(query.get('per_page') ?? 30);
  const start = Number(query.get('after')?.replace(/^cursor:/, '') ?? 0);
  const next = start + size < all.length ? `cursor:${start + size}` : undefined;
  const link = `<${url}/repositories/42/activity?per_page=${size}&after=${encodeURIComponent(next ?? '')}>; rel="next"`;
  return {
    status: 200,
    body: all.slice(start, start + size).map((push) => ({
      id: push.at,
      ref: push.ref,
      before: push.before,
      after: push.after,
      activity_type: push.kind,
      timestamp: push.time,
      actor: userShown(push.by, state),
    })),
    ...(next === undefined ? {} : { headers: { link } }),
  };
}
