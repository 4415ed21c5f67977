/**
 * GitHub as its REST API documents it, as far as a comment needs it: the comments of one pull request, pull request 7 of `acme/infra`.
 * Tokens of jobs and apps belong to no user, and there is no GraphQL, links of pages lead to another path than the one that was asked, and whoever may write may also
 * edit what others wrote.
 */
import {
  type ApiDouble,
  type AskedRequest,
  type GivenAnswer,
  type KeptComment,
  openApi,
  pageOf,
} from './api-double.ts';

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
  readonly comments: KeptComment[];
  /** the pull request, with its newest commit */
  readonly pull: { head: string };
}

const root = '/repos/acme/infra';
const comments = `${root}/issues/7/comments`;
const notAccessible = {
  status: 403,
  body: { message: 'Resource not accessible by integration', status: '403' },
};
const notFound = { status: 404, body: { message: 'Not Found', status: '404' } };

export async function openGithub(): Promise<GithubDouble> {
  const state: State = { comments: [], pull: { head: 'a'.repeat(40) }, lastId: 1000 };
  const api = await openApi((asked, url) => answer(asked, url, state));
  return Object.assign(api, { comments: state.comments, pull: state.pull });
}

interface State {
  readonly comments: KeptComment[];
  readonly pull: { head: string };
  lastId: number;
}

function answer(asked: AskedRequest, url: string, state: State): GivenAnswer {
  const token = /^Bearer (.*)$/.exec(asked.headers.authorization ?? '')?.[1] ?? '';
  const self = owners[token];
  if (self === undefined) return { status: 401, body: { message: 'Bad credentials', status: '401' } };
  const { method, path, body } = asked;
  if (method === 'GET') return read(asked, url, { state, token, self });
  if (token === githubTokens.fork) return notAccessible;
  if (method === 'POST' && path === comments) return create(body.body ?? '', self, state);
  const id = Number(/^\/repos\/acme\/infra\/issues\/comments\/(\d+)$/.exec(path)?.[1]);
  const at = state.comments.findIndex((one) => one.id === id);
  const found = state.comments[at];
  if (found === undefined) return notFound;
  if (method === 'DELETE') {
    state.comments.splice(at, 1);
    return { status: 204 };
  }
  if (method !== 'PATCH') return notFound;
  if (isTooLong(body.body)) return tooLong;
  found.body = body.body ?? '';
  return { status: 200, body: shown(found) };
}

function read(
  { path, query }: AskedRequest,
  url: string,
  { state, token, self }: { readonly state: State; readonly token: string; readonly self: string },
): GivenAnswer {
  if (path === '/user')
    return token.startsWith('ghs_') ? notAccessible : { status: 200, body: { login: self } };
  if (path === `${root}/pulls/7`) return { status: 200, body: { number: 7, head: { sha: state.pull.head } } };
  if (path !== comments) return notFound;
  const { items, page, next, last } = pageOf(state.comments, query, 30);
  const link = (to: number, rel: string) =>
    `<${url}/repositories/42/issues/7/comments?per_page=100&page=${to}>; rel="${rel}"`;
  const links = [
    ...(page > 1 ? [link(page - 1, 'prev'), link(1, 'first')] : []),
    ...(next === undefined ? [] : [link(next, 'next'), link(last, 'last')]),
  ];
  return {
    status: 200,
    body: items.map(shown),
    headers: {
      ...(links.length === 0 ? {} : { link: links.join(', ') }),
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': '990',
      'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3000),
    },
  };
}

function create(body: string, author: string, state: State): GivenAnswer {
  if (isTooLong(body)) return tooLong;
  state.lastId += 1;
  const made = { id: state.lastId, body, author };
  state.comments.push(made);
  return { status: 201, body: shown(made) };
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

function shown({ id, body, author }: KeptComment): object {
  const type = author.endsWith('[bot]') ? 'Bot' : 'User';
  return {
    id,
    body,
    user: { login: author, type },
    html_url: `https://github.test/acme/infra/pull/7#issuecomment-${id}`,
  };
}

/** What a job of GitHub Actions for pull request 7 has in its environment, but for the event. */
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
