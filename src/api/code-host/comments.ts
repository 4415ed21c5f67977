/**
 * The comments of one pull request of GitHub or merge request of GitLab: lists, writes and removes them, and finds out which user the
 * token belongs to. Each service has a table of its paths and members. Source: wire/code-hosts 1, 2
 */
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import type { CodeHost, CodeHostAnswer, CodeHostRequest } from '../code-host.ts';
import type { Comment } from './pull-requests.ts';
import { type Reading, readPages } from './reading.ts';

/** The paths and members of one service. All paths are below the API's address. */
interface CommentApi {
  /** for messages */
  readonly serviceName: string;
  /** a page of comments, oldest first, a hundred each */
  listPath(page: number): string;
  readonly createPath: string;
  commentPath(id: number): string;
  readonly updateMethod: 'PATCH' | 'PUT';
  /** the pull request, whose newest commit `headOf` returns */
  readonly pullRequestPath: string;
  headOf(review: JsonObject): Json | undefined;
  /** the name of the author of a comment; undefined for system notes */
  authorOf(comment: JsonObject): Json | undefined;
  /** whether an app wrote the comment: the token of an app belongs to no user */
  isApp(comment: JsonObject): boolean;
  /** the path of the user that the token belongs to; the service may refuse it to tokens of apps */
  readonly selfPath: string;
  selfOf(user: JsonObject): Json | undefined;
  /** whether this status of a write, or of the list, means only that the token has no rights here */
  lacksRights(status: number): boolean;
}

export interface PostedComment {
  readonly id: number;
  readonly body: string;
  readonly author: string;
  readonly isApp: boolean;
  /** the address of its web page */
  readonly url?: string;
}

/** The token may not see or write the comments, as in a run for a fork. */
export class NoRights extends Error {
  override readonly name = 'NoRights';
}

/** The service refuses for another reason than missing rights. */
export class CodeHostRefusal extends Error {
  override readonly name = 'CodeHostRefusal';
  /** for a comment: the service failed, and may still have carried out the request; for an issue: other issues would be refused as well */
  readonly isFault: boolean;

  constructor(message: string, isFault = false) {
    super(message);
    this.isFault = isFault;
  }
}

/** The comments of one pull request, and its newest commit. */
export class Review {
  readonly #host: CodeHost;
  readonly #api: CommentApi;

  constructor(host: CodeHost, api: CommentApi) {
    this.#host = host;
    this.#api = api;
  }

  /** All comments, oldest first. @throws NoRights, CodeHostRefusal */
  async list(): Promise<readonly PostedComment[]> {
    const pages = readPages(
      (page) => this.#send({ method: 'GET', path: this.#api.listPath(page), repeatable: true }),
      {
        unexpected: (answer) => this.#unexpected(answer),
        endless: ({ method, url }) => new CodeHostRefusal(`${method} ${url} returned a list without an end`),
      },
    );
    const found = new Map<number, PostedComment>();
    for await (const { items } of pages)
      for (const one of items.flatMap((item) => this.#commentIn(item) ?? [])) found.set(one.id, one);
    return [...found.values()].sort((one, other) => one.id - other.id);
  }

  /** Creates a comment. The request is not repeated when its answer was lost: the list shows whether it was carried out. */
  async create(body: string): Promise<PostedComment> {
    const request = {
      method: 'POST',
      path: this.#api.createPath,
      body: { body },
      repeatable: false,
    } as const;
    const answer = await this.#send(request);
    const created = this.#commentIn(answer.body);
    if (created === undefined) throw this.#unexpected(answer);
    return created;
  }

  /** @returns undefined when the comment no longer exists */
  async update(id: number, body: string): Promise<PostedComment | undefined> {
    const path = this.#api.commentPath(id);
    const request = { method: this.#api.updateMethod, path, body: { body }, repeatable: true };
    const answer = await this.#send(request, isGone);
    if (isGone(answer.status)) return undefined;
    const updated = this.#commentIn(answer.body);
    if (updated === undefined) throw this.#unexpected(answer);
    return updated;
  }

  /** Does not fail when the comment cannot be removed: a superfluous comment does no harm. */
  async remove(id: number): Promise<void> {
    await this.#host.send({ method: 'DELETE', path: this.#api.commentPath(id), repeatable: true });
  }

  /** The newest commit of the pull request; undefined if the token may not see it. */
  async head(): Promise<string | undefined> {
    const request = { method: 'GET', path: this.#api.pullRequestPath, repeatable: true } as const;
    const { body } = await this.#host.send(request);
    const head = isJsonObject(body) ? this.#api.headOf(body) : undefined;
    return typeof head === 'string' && head !== '' ? head : undefined;
  }

  /** The user that the token belongs to; undefined if the service does not say. */
  async self(): Promise<string | undefined> {
    const request = { method: 'GET', path: this.#api.selfPath, repeatable: true } as const;
    const { status, body } = await this.#host.send(request);
    const name = status === 200 && isJsonObject(body) ? this.#api.selfOf(body) : undefined;
    return typeof name === 'string' && name !== '' ? name : undefined;
  }

  async #send(
    request: CodeHostRequest,
    accepts: (status: number) => boolean = () => false,
  ): Promise<CodeHostAnswer> {
    const answer = await this.#host.send(request);
    if (answer.status < 300 || accepts(answer.status)) return answer;
    const message = `${answer.method} ${answer.url} answered ${answer.status}${answer.words === '' ? '' : `: ${answer.words}`}`;
    throw this.#api.lacksRights(answer.status)
      ? new NoRights(message)
      : new CodeHostRefusal(message, answer.status >= 500);
  }

  #commentIn(value: Json): PostedComment | undefined {
    if (!isJsonObject(value)) return undefined;
    const { id, body, html_url: url } = value;
    const author = this.#api.authorOf(value);
    if (typeof id !== 'number' || typeof body !== 'string' || typeof author !== 'string') return undefined;
    const isApp = this.#api.isApp(value);
    return { id, body, author, isApp, ...(typeof url === 'string' ? { url } : {}) };
  }

  #unexpected({ method, url }: CodeHostAnswer): CodeHostRefusal {
    return new CodeHostRefusal(
      `${method} ${url} gave another answer than ${this.#api.serviceName} gives; check that "--url" leads to its API`,
    );
  }
}

function isGone(status: number): boolean {
  return status === 404 || status === 410;
}

// A pull request of GitHub. Its comments are those of the issue with the same number.
// Source: wire/code-hosts 1, 2

export const githubHeaders = {
  accept: 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28',
};

/** @param repository `owner/name` */
export function githubComments(repository: string, number: number): CommentApi {
  const root = `/repos/${repository.split('/').map(encodeURIComponent).join('/')}`;
  const comments = `${root}/issues/${number}/comments`;
  return {
    serviceName: 'GitHub',
    listPath: (page) => `${comments}?per_page=100&page=${page}`,
    createPath: comments,
    commentPath: (id) => `${root}/issues/comments/${id}`,
    updateMethod: 'PATCH',
    pullRequestPath: `${root}/pulls/${number}`,
    headOf: ({ head }) => memberOf(head, 'sha'),
    authorOf: ({ user }) => memberOf(user, 'login'),
    isApp: ({ user }) => memberOf(user, 'type') === 'Bot',
    // The token of an app or a job belongs to no user: the answer is "Resource not accessible by integration".
    selfPath: '/user',
    selfOf: ({ login }) => login,
    lacksRights: (status) => status === 403 || status === 404,
  };
}

// A merge request of GitLab, and its notes.
// Source: wire/code-hosts 1, 2

export const gitlabHeaders = { accept: 'application/json' };

/** @param project its id, or its path with slashes */
export function gitlabComments(project: string, number: number): CommentApi {
  const root = `/projects/${encodeURIComponent(project)}/merge_requests/${number}`;
  return {
    serviceName: 'GitLab',
    listPath: (page) => `${root}/notes?sort=asc&order_by=created_at&per_page=100&page=${page}`,
    createPath: `${root}/notes`,
    commentPath: (id) => `${root}/notes/${id}`,
    updateMethod: 'PUT',
    pullRequestPath: root,
    headOf: ({ sha }) => sha,
    authorOf: ({ author, system }) => (system === true ? undefined : memberOf(author, 'username')),
    isApp: () => false,
    selfPath: '/user',
    selfOf: ({ username }) => username,
    lacksRights: (status) => status === 401 || status === 403 || status === 404,
  };
}

/** The comments of a pull request with their times, for approvals; without those of the system and of deleted accounts. */
export async function commentsIn(
  reading: Reading,
  api: Pick<CommentApi, 'createPath' | 'authorOf'>,
): Promise<readonly Comment[]> {
  const items = await reading.list(api.createPath);
  return items.flatMap((item) => {
    const comment = {
      id: item.number('id'),
      body: item.mayText('body') ?? '',
      createdAt: item.time('created_at'),
      updatedAt: item.time('updated_at'),
    };
    const author = api.authorOf(item.value);
    return typeof author === 'string' ? [{ ...comment, author }] : [];
  });
}
