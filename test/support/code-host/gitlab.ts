/** GitLab as its API documents it, as far as a note needs it: the notes of merge request 3 of project 5. */
import {
  type ApiDouble,
  type AskedRequest,
  type GivenAnswer,
  type KeptComment,
  openApi,
  pageOf,
} from './api-double.ts';

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
  readonly notes: KeptComment[];
}

const root = '/api/v4/projects/5/merge_requests/3';
const notFound = { status: 404, body: { message: '404 Not found' } };

export async function openGitlab(): Promise<GitlabDouble> {
  const state = { notes: [] as KeptComment[], lastId: 300 };
  const api = await openApi((asked) => answer(asked, state));
  return Object.assign(api, { notes: state.notes });
}

interface State {
  readonly notes: KeptComment[];
  lastId: number;
}

function answer(asked: AskedRequest, state: State): GivenAnswer {
  const token = /^Bearer (.*)$/.exec(asked.headers.authorization ?? '')?.[1] ?? '';
  const self = owners[token];
  if (self === undefined) return { status: 401, body: { message: '401 Unauthorized' } };
  const { method, path, query, body } = asked;
  if (method === 'GET') return read(path, query, { state, self });
  if (token === gitlabTokens.reader) return { status: 403, body: { message: '403 Forbidden' } };
  if (method === 'POST' && path === `${root}/notes`) {
    state.lastId += 1;
    const made = { id: state.lastId, body: body.body ?? '', author: self };
    state.notes.push(made);
    return { status: 201, body: shown(made) };
  }
  const id = Number(/\/notes\/(\d+)$/.exec(path)?.[1]);
  const at = state.notes.findIndex((one) => one.id === id);
  const found = state.notes[at];
  if (found === undefined) return notFound;
  if (method === 'DELETE') {
    state.notes.splice(at, 1);
    return { status: 204 };
  }
  if (method !== 'PUT') return { status: 405, body: { error: '405 Not Allowed' } };
  found.body = body.body ?? '';
  return { status: 200, body: shown(found) };
}

function read(
  path: string,
  query: URLSearchParams,
  { state, self }: { readonly state: State; readonly self: string },
): GivenAnswer {
  if (path === '/api/v4/user') return { status: 200, body: { id: 9, username: self } };
  if (path === root) return { status: 200, body: { iid: 3, sha: 'a'.repeat(40) } };
  if (path !== `${root}/notes`) return notFound;
  const ascending = query.get('sort') === 'asc' ? state.notes : state.notes.toReversed();
  const { items, page, next } = pageOf(ascending, query, 20);
  return {
    status: 200,
    body: items.map(shown),
    headers: { 'x-page': String(page), 'x-next-page': String(next ?? '') },
  };
}

function shown({ id, body, author, system = undefined }: KeptComment): object {
  return { id, body, author: { id: 9, username: author }, system: system ?? false, noteable_iid: 3 };
}

/** What a pipeline of merge request 3 has in its environment. */
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
