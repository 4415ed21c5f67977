/**
 * GitLab as its API documents it, as far as notes and approvals need it: one project, 5 (`acme/infra`).
 * Source: docs/internals/wire/code-hosts.md
 */
import {
  type ApiDouble,
  type AskedRequest,
  type GivenAnswer,
  type KeptComment,
  openApi,
  pageOf,
} from './api-double.ts';
import { type GitlabCommit, type GitlabDeployment, type GitlabRequest, GitlabState } from './gitlab-state.ts';

export const gitlabTokens = {
  /** of the project, with the scope `api` */
  project: 'glpat-projectprojectproject',
  /** may read the merge request */
  reader: 'glpat-readerreaderreaderread',
};

const owners: Readonly<Record<string, string>> = {
  [gitlabTokens.project]: 'project_5_bot_1',
  [gitlabTokens.reader]: 'eve',
};

export interface GitlabDouble extends ApiDouble {
  readonly state: GitlabState;
  /** of merge request 3, which is there from the beginning */
  readonly notes: KeptComment[];
  /** merge request 3 */
  readonly request: GitlabRequest;
}

const api = '/api/v4';
const project = `${api}/projects/5`;
const notFound = { status: 404, body: { message: '404 Not found' } };

export async function openGitlab(): Promise<GitlabDouble> {
  const state = new GitlabState(5, 'acme/infra');
  const request = state.openRequest({ number: 3, author: 'ann', head: 'a'.repeat(40) });
  const double = await openApi((asked) => answer(asked, state));
  return Object.assign(double, { state, notes: request.notes, request });
}

function answer(asked: AskedRequest, state: GitlabState): GivenAnswer {
  const token = /^Bearer (.*)$/.exec(asked.headers.authorization ?? '')?.[1] ?? '';
  const self = owners[token];
  if (self === undefined) return { status: 401, body: { message: '401 Unauthorized' } };
  // A project can also be addressed by its path.
  const path = asked.path.replace(`${api}/projects/acme%2Finfra`, project);
  const { method, query, body } = asked;
  if (method === 'GET') return read(path, query, { state, self });
  if (method === 'POST' && path === '/api/graphql') return labelAnswer(body.variables, state);
  if (token === gitlabTokens.reader) return { status: 403, body: { message: '403 Forbidden' } };
  const request = state.requests.get(Number(/\/merge_requests\/(\d+)\/notes/.exec(path)?.[1]));
  if (method === 'POST' && request !== undefined)
    return {
      status: 201,
      body: noteShown(state.comment(request, { by: self, body: body.body ?? '' }), state),
    };
  const id = Number(/\/notes\/(\d+)$/.exec(path)?.[1]);
  const found = request?.notes.find((one) => one.id === id);
  if (request === undefined || found === undefined) return notFound;
  if (method === 'DELETE') {
    request.notes.splice(request.notes.indexOf(found), 1);
    return { status: 204 };
  }
  if (method !== 'PUT') return { status: 405, body: { error: '405 Not Allowed' } };
  state.editComment(found, body.body ?? '');
  return { status: 200, body: noteShown(found, state) };
}

function read(
  path: string,
  query: URLSearchParams,
  { state, self }: { readonly state: GitlabState; readonly self: string },
): GivenAnswer {
  if (path === `${api}/user`) return { status: 200, body: userShown(self, state) };
  if (path === project) return { status: 200, body: { id: state.project, path_with_namespace: state.path } };
  const [, number, rest = ''] = /^\/api\/v4\/projects\/5\/merge_requests\/(\d+)(\/.*)?$/.exec(path) ?? [];
  const request = state.requests.get(Number(number));
  const found =
    request === undefined
      ? (ofPeople(path, query, state) ?? ofProject(path, query, state))
      : ofRequest(request, rest, { query, state });
  if (found === undefined) return notFound;
  if (!Array.isArray(found)) return { status: 200, body: found };
  const { items, page, next } = pageOf(found as object[], query, 20);
  return {
    status: 200,
    body: items,
    headers: { 'x-page': String(page), 'x-next-page': String(next ?? '') },
  };
}

function ofRequest(
  request: GitlabRequest,
  rest: string,
  { query, state }: { readonly query: URLSearchParams; readonly state: GitlabState },
): object | undefined {
  switch (rest) {
    case '':
      return requestShown(request, state);
    case '/notes': {
      const notes = query.get('sort') === 'asc' ? request.notes : request.notes.toReversed();
      return notes.map((note) => noteShown(note, state));
    }
    case '/commits':
      return request.commits.toReversed().map(commitShown);
    case '/approvals':
      return {
        approved: request.approvals.length > 0,
        approved_by: request.approvals.map(({ by, at }) => ({
          user: userShown(by, state),
          ...(state.isOld ? {} : { approved_at: at }),
        })),
      };
    case '/versions':
      return request.versions
        .toReversed()
        .map(({ id, head, at }) => ({ id, head_commit_sha: head, created_at: at, state: 'collected' }));
    case '/resource_label_events':
      return request.events.map(({ id, action, by, label, at }) => ({
        id,
        action,
        user: by === null ? null : userShown(by, state),
        label: label === null ? null : { id: 1, name: label },
        created_at: at,
      }));
    default:
      return undefined;
  }
}

function commitShown({
  sha,
  author = 'stranger',
  committer = 'stranger',
  trailers = '',
}: GitlabCommit): object {
  return {
    id: sha,
    message: `Change it\n\n${trailers}`,
    author_email: `${author}@example.com`,
    committer_email: `${committer}@example.com`,
  };
}

function ofProject(path: string, query: URLSearchParams, state: GitlabState): object | undefined {
  const branch = /^\/api\/v4\/projects\/5\/repository\/branches\/([^/]+)$/.exec(path)?.[1];
  if (branch !== undefined)
    return { name: branch, protected: state.protectedBranches.has(decodeURIComponent(branch)) };
  const one = /^\/api\/v4\/projects\/5\/repository\/commits\/(\w+)$/.exec(path)?.[1];
  const all = [...state.direct, ...[...state.requests.values()].flatMap(({ commits }) => commits)];
  const commit = all.find(({ sha }) => sha === one);
  if (commit !== undefined) return commitShown(commit);
  const [, sha] = /^\/api\/v4\/projects\/5\/repository\/commits\/(\w+)\/merge_requests$/.exec(path) ?? [];
  if (sha !== undefined)
    return [...state.requests.values()]
      .filter(
        (one) => state.introduced.get(sha) === one.number || one.commits.some((commit) => commit.sha === sha),
      )
      .map((one) => requestShown(one, state));
  const events = Number(/^\/api\/v4\/projects\/(\d+)\/events$/.exec(path)?.[1]);
  if (events > 0) return eventsOf(events, query, state);
  const pipeline = Number(/^\/api\/v4\/projects\/5\/pipelines\/(\d+)$/.exec(path)?.[1]);
  const run = state.deployments.find((one) => one.pipeline === pipeline);
  if (run !== undefined) return { id: pipeline, sha: run.commit, user: userShown(run.triggeredBy, state) };
  if (path === `${project}/deployments`)
    return state.deployments
      .filter(({ environment }) => environment === query.get('environment'))
      .toReversed()
      .map((one) => deploymentShown(one, state, false));
  const id = Number(/^\/api\/v4\/projects\/5\/deployments\/(\d+)$/.exec(path)?.[1]);
  const deployment = state.deployments.find((one) => one.id === id);
  return deployment && deploymentShown(deployment, state, true);
}

function eventsOf(id: number, query: URLSearchParams, state: GitlabState): object[] {
  return state.pushes
    .filter(({ project: of, at }) => of === id && at >= (query.get('after') ?? ''))
    .toReversed()
    .map(({ branch, head, by, at }) => ({
      action_name: 'pushed to',
      created_at: at,
      author_username: by,
      push_data: { action: 'pushed', ref_type: 'branch', ref: branch, commit_to: head, commit_count: 1 },
    }));
}

function ofPeople(path: string, query: URLSearchParams, state: GitlabState): object | undefined {
  const users = [...state.users.values()];
  if (path === `${api}/users`) {
    const name = query.get('username')?.toLowerCase();
    return users
      .filter((one) => one.username.toLowerCase() === name)
      .map(({ username }) => userShown(username, state));
  }
  const keysOf = Number(/^\/api\/v4\/users\/(\d+)\/keys$/.exec(path)?.[1]);
  const owner = users.find((one) => one.id === keysOf);
  if (owner !== undefined)
    return (state.keys.get(owner.username) ?? []).map((key, at) => ({ id: at + 1, key }));
  const id = Number(/\/(?:users|members|all)\/(\d+)$/.exec(path)?.[1]);
  const user = users.find((one) => one.id === id);
  if (user === undefined) return undefined;
  const shown = userShown(user.username, state);
  if (path === `${api}/users/${id}`) return { ...shown, bot: user.bot };
  const group = decodeURIComponent(/^\/api\/v4\/groups\/([^/]+)\/members\/\d+$/.exec(path)?.[1] ?? '');
  const level = path.startsWith(`${project}/members/all/`)
    ? state.members.get(user.username)
    : state.groups.get(group)?.get(user.username);
  return level === undefined ? undefined : { ...shown, access_level: level };
}

function userShown(name: string, state: GitlabState): object {
  const { id, username, state: standing } = state.user(name);
  return { id, username, name: username, state: standing };
}

function requestShown(request: GitlabRequest, state: GitlabState): object {
  const { number, head, branch, base, from, merged, createdAt, labels } = request;
  return {
    iid: number,
    project_id: state.project,
    web_url: `https://gitlab.test/${state.path}/-/merge_requests/${number}`,
    state: merged === undefined ? 'opened' : 'merged',
    author: userShown(request.author, state),
    sha: head,
    source_branch: branch,
    source_project_id: from,
    target_branch: base,
    created_at: createdAt,
    merged_at: merged?.at ?? null,
    merge_commit_sha: merged?.commit ?? null,
    squash_commit_sha: merged?.squash ?? null,
    labels: [...labels],
  };
}

function deploymentShown(deployment: GitlabDeployment, state: GitlabState, isWhole: boolean): object {
  const { id, job, pipeline, environment, commit, triggeredBy, startedBy, approvals } = deployment;
  return {
    id,
    sha: commit,
    status: 'running',
    user: userShown(triggeredBy, state),
    environment: { id: 1, name: environment },
    deployable: { id: job, name: 'apply', user: userShown(startedBy, state), pipeline: { id: pipeline } },
    ...(isWhole && !state.isFree
      ? {
          pending_approval_count: 0,
          approvals: approvals.map(({ by, status, at }) => ({
            user: userShown(by, state),
            status,
            created_at: at,
          })),
        }
      : {}),
  };
}

function labelAnswer(
  variables: AskedRequest['body']['variables'],
  { labels, path }: GitlabState,
): GivenAnswer {
  const at = labels.get(variables?.['label'] ?? '');
  const label = at === undefined ? null : { updatedAt: at };
  const found = variables?.['path'] === path ? { label } : null;
  return { status: 200, body: { data: { project: found } } };
}

function noteShown(
  { id, body, author, system, createdAt, updatedAt }: KeptComment,
  state: GitlabState,
): object {
  return {
    id,
    body,
    author: userShown(author, state),
    system: system ?? false,
    noteable_iid: 3,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

/** The environment of a pipeline of merge request 3. */
export function gitlabJob(
  gitlab: GitlabDouble,
  token: string | undefined = gitlabTokens.project,
): Record<string, string> {
  return {
    GITLAB_CI: 'true',
    CI_API_V4_URL: `${gitlab.url}/api/v4`,
    CI_PROJECT_ID: '77',
    CI_MERGE_REQUEST_PROJECT_ID: '5',
    CI_MERGE_REQUEST_IID: '3',
    CI_COMMIT_SHA: 'a'.repeat(40),
    CI_PIPELINE_ID: '100',
    CI_JOB_ID: '1000',
    CI_JOB_TOKEN: 'glcbt-64_jobjobjobjobjobjob',
    ...(token === undefined ? {} : { GITLAB_TOKEN: token }),
  };
}
