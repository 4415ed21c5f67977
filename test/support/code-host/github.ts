/**
 * GitHub as its REST API documents it, as far as comments and approvals need it: one repository, `acme/infra`. Tokens of jobs and
 * apps belong to no user, links between pages have another path than the request, and anybody who may write may also edit the
 * comments of others. Source: docs/internals/wire/code-hosts.md
 */
import {
  type ApiDouble,
  type AskedRequest,
  type GivenAnswer,
  type KeptComment,
  openApi,
  pageOf,
} from './api-double.ts';
import {
  activity,
  approvalShown,
  commitShown as shownCommit,
  eventShown,
  pullShown,
  reviewShown,
  runShown,
} from './github-answers.ts';
import { type GithubPull, GithubState } from './github-state.ts';

export const githubTokens = {
  /** of a job, with `pull-requests: write` */
  job: 'ghs_0123456789abcdefghijklmnopqrstuvwxyzAB',
  /** of a job in a fork: it may read */
  fork: 'ghs_forkforkforkforkforkforkforkforkforkfo',
  /** of an app, outside of jobs and in them */
  app: 'ghs_appappappappappappappappappappappappap',
  /** of a person */
  person: 'ghp_personpersonpersonpersonpersonperson0',
};

const owners: Readonly<Record<string, string>> = {
  [githubTokens.job]: 'github-actions[bot]',
  [githubTokens.fork]: 'github-actions[bot]',
  [githubTokens.app]: 'deployer[bot]',
  [githubTokens.person]: 'ann',
};

export interface GithubDouble extends ApiDouble {
  readonly state: GithubState;
  /** of pull request 7, which is there from the beginning */
  readonly comments: KeptComment[];
  /** pull request 7 */
  readonly pull: GithubPull;
}

const repository = 'acme/infra';
const notAccessible = {
  status: 403,
  body: { message: 'Resource not accessible by integration', status: '403' },
};
const notFound = { status: 404, body: { message: 'Not Found', status: '404' } };

export async function openGithub(): Promise<GithubDouble> {
  const state = new GithubState(repository);
  const pull = state.openPull({ number: 7, author: 'ann', head: 'a'.repeat(40) });
  const api = await openApi((asked, url) => answer(asked, url, state));
  return Object.assign(api, { state, comments: pull.comments, pull });
}

function answer(asked: AskedRequest, url: string, state: GithubState): GivenAnswer {
  const token = /^Bearer (.*)$/.exec(asked.headers.authorization ?? '')?.[1] ?? '';
  const self = owners[token];
  if (self === undefined) return { status: 401, body: { message: 'Bad credentials', status: '401' } };
  const { method, path, body } = asked;
  const log = /^\/repos\/([^/]+\/[^/]+)\/activity$/.exec(path)?.[1];
  if (log !== undefined) return activity(decodeURIComponent(log), asked.query, { url, state });
  if (method === 'GET') return read(asked, url, { state, token, self });
  if (method === 'POST' && path === '/graphql') return queryAnswer(body.variables, state);
  if (token === githubTokens.fork) return notAccessible;
  const pull = state.pulls.get(Number(/\/issues\/(\d+)\/comments$/.exec(path)?.[1]));
  if (method === 'POST' && pull !== undefined) {
    if (isTooLong(body.body)) return tooLong;
    return { status: 201, body: commentShown(state.comment(pull, { by: self, body: body.body ?? '' })) };
  }
  return change(asked, state);
}

function change({ method, path, body }: AskedRequest, state: GithubState): GivenAnswer {
  const id = Number(/^\/repos\/acme\/infra\/issues\/comments\/(\d+)$/.exec(path)?.[1]);
  const list = [...state.pulls.values()]
    .map(({ comments }) => comments)
    .find((all) => all.some((one) => one.id === id));
  const found = list?.find((one) => one.id === id);
  if (list === undefined || found === undefined) return notFound;
  if (method === 'DELETE') {
    list.splice(list.indexOf(found), 1);
    return { status: 204 };
  }
  if (method !== 'PATCH') return notFound;
  if (isTooLong(body.body)) return tooLong;
  state.editComment(found, body.body ?? '');
  return { status: 200, body: commentShown(found) };
}

function read(
  { path, query }: AskedRequest,
  url: string,
  { state, token, self }: { readonly state: GithubState; readonly token: string; readonly self: string },
): GivenAnswer {
  if (path === '/user')
    return token.startsWith('ghs_') ? notAccessible : { status: 200, body: { login: self, type: 'User' } };
  const [, kind = '', key = '', rest = ''] =
    /^\/repos\/acme\/infra\/(pulls|issues|commits|collaborators|actions\/runs)\/([^/]+)(\/.*)?$/.exec(path) ??
    [];
  const list = (all: readonly object[]) => listed(all, query, `${url}/repositories/42/${kind}/${key}${rest}`);
  const pull = state.pulls.get(Number(key));
  const found = pull && ofPull(pull, `${kind}${rest}`, state);
  if (Array.isArray(found)) return list(found as object[]);
  if (found !== undefined) return { status: 200, body: found };
  if (kind === 'commits' && rest === '/pulls') return list(pullsOf(key, state));
  if (kind === 'collaborators') return permissionOf(decodeURIComponent(key), state);
  const run = state.runs.get(Number(key));
  if (kind === 'actions/runs' && run !== undefined)
    return {
      status: 200,
      body:
        rest === '/approvals' ? run.approvals.map((one) => approvalShown(one, state)) : runShown(run, state),
    };
  return commitAnswer(path, state) ?? branchAnswer(path, state) ?? ofPeople(path, state);
}

function commitAnswer(path: string, state: GithubState): GivenAnswer | undefined {
  const commit = state.commit(/^\/repos\/acme\/infra\/commits\/(\w+)$/.exec(path)?.[1] ?? '');
  return commit && { status: 200, body: shownCommit(commit, state) };
}

function ofPull(pull: GithubPull, what: string, state: GithubState): object | undefined {
  switch (what) {
    case 'pulls':
      return pullShown(pull, state);
    case 'pulls/commits':
      return pull.commits.slice(0, 250).map((one) => shownCommit(one, state));
    case 'pulls/reviews':
      return pull.reviews.map((one) => reviewShown(one, state));
    case 'issues/comments':
      return pull.comments.map(commentShown);
    case 'issues/labels':
      return [...pull.labels].map((name) => ({ id: 1, name, color: 'ededed', default: false }));
    case 'issues/events':
      return pull.events.map((one) => eventShown(one, state));
    default:
      return undefined;
  }
}

/** For a commit of the default branch, the pull request that introduced it; for another one, those that contain it. */
function pullsOf(sha: string, state: GithubState): object[] {
  const brought = state.introduced.get(sha);
  const pulls = [...state.pulls.values()].filter((one) =>
    brought === undefined ? one.commits.some((commit) => commit.sha === sha) : one.number === brought,
  );
  return pulls.map((one) => pullShown(one, state));
}

function permissionOf(login: string, state: GithubState): GivenAnswer {
  const permission = state.permissions.get(login.toLowerCase()) ?? 'none';
  return {
    status: 200,
    body: { permission, role_name: permission, user: { login, id: 1, type: state.typeOf(login) } },
  };
}

function branchAnswer(path: string, { protection }: GithubState): GivenAnswer | undefined {
  const [, kind, name = ''] = /^\/repos\/acme\/infra\/(branches|rules\/branches)\/([^/]+)$/.exec(path) ?? [];
  if (kind === undefined) return undefined;
  const how = protection.get(decodeURIComponent(name));
  if (kind === 'branches') return { status: 200, body: { name, protected: how === 'flag' } };
  return { status: 200, body: how === 'ruleset' ? [{ type: 'pull_request', ruleset_id: 42 }] : [] };
}

function ofPeople(path: string, state: GithubState): GivenAnswer {
  const [, owner = '', list] = /^\/users\/([^/]+)\/(keys|ssh_signing_keys)$/.exec(path) ?? [];
  if (list !== undefined) {
    const keys = list === 'keys' ? (state.keys.get(decodeURIComponent(owner)) ?? []) : [];
    return { status: 200, body: keys.map((key, at) => ({ id: at + 1, key })) };
  }
  const [, organization, team, member] =
    /^\/orgs\/([^/]+)\/teams\/([^/]+)\/memberships\/([^/]+)$/.exec(path) ?? [];
  const membership = state.teams.get(`${organization}/${team}`)?.get(decodeURIComponent(member ?? ''));
  if (membership !== undefined) return { status: 200, body: { role: 'member', state: membership } };
  const login = decodeURIComponent(/^\/users\/([^/]+)$/.exec(path)?.[1] ?? '');
  return login === '' ? notFound : { status: 200, body: { login, id: 1, type: state.typeOf(login) } };
}

function queryAnswer(variables: AskedRequest['body']['variables'], state: GithubState): GivenAnswer {
  const oid = variables?.['oid'];
  if (oid === undefined) return labelAnswer(variables, state);
  const { author, coAuthors = [] } = state.commit(oid) ?? {};
  const nodes = [author, ...coAuthors].map((login) => ({ user: login === undefined ? null : { login } }));
  return { status: 200, body: { data: { repository: { object: { authors: { nodes } } } } } };
}

function labelAnswer(variables: AskedRequest['body']['variables'], { labels }: GithubState): GivenAnswer {
  const at = labels.get(variables?.['label'] ?? '');
  const label = at === undefined ? null : { createdAt: at, updatedAt: at };
  return { status: 200, body: { data: { repository: { label } } } };
}

function listed(all: readonly object[], query: URLSearchParams, address: string): GivenAnswer {
  const { items, page, next, last } = pageOf(all, query, 30);
  const link = (to: number, rel: string) => `<${address}?per_page=100&page=${to}>; rel="${rel}"`;
  const links = [
    ...(page > 1 ? [link(page - 1, 'prev'), link(1, 'first')] : []),
    ...(next === undefined ? [] : [link(next, 'next'), link(last, 'last')]),
  ];
  return {
    status: 200,
    body: items,
    headers: {
      ...(links.length === 0 ? {} : { link: links.join(', ') }),
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '990',
      'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3000),
    },
  };
}

const isTooLong = (body = '') => body.length > 65_536;

const tooLong = {
  status: 422,
  body: {
    message: 'Validation Failed',
    errors: [
      {
        resource: 'IssueComment',
        code: 'unprocessable',
        field: 'data',
        message: 'Body is too long (maximum is 65536 characters)',
      },
    ],
  },
};

function commentShown({ id, body, author, createdAt, updatedAt }: KeptComment): object {
  const type = author.endsWith('[bot]') ? 'Bot' : 'User';
  return {
    id,
    body,
    user: { login: author, type },
    html_url: `https://github.test/acme/infra/pull/7#issuecomment-${id}`,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

/** The environment of a GitHub Actions job for pull request 7, without the event. */
export function githubJob(github: GithubDouble, token = githubTokens.job): Record<string, string> {
  return {
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: github.url,
    GITHUB_REPOSITORY: 'acme/infra',
    GITHUB_REF: 'refs/pull/7/merge',
    GITHUB_SHA: 'f'.repeat(40),
    GITHUB_WORKFLOW: 'plan',
    GITHUB_RUN_NUMBER: '12',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_TOKEN: token,
  };
}
