/**
 * The issues of one repository of GitHub or project of GitLab. A hidden marker at the beginning of its text identifies an issue. Each
 * service has a table of its paths and members. Source: wire/code-hosts 14
 */
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { CodeHost, CodeHostAnswer, CodeHostRequest } from '../code-host.ts';
import { CodeHostRefusal } from './comments.ts';
import { readPages } from './reading.ts';

/** The paths and members of one service. */
interface IssueApi {
  readonly serviceName: string;
  readonly root: string;
  /** the names of the members that hold the number and the text of an issue */
  readonly number: string;
  readonly text: string;
  readonly updateMethod: 'PATCH' | 'PUT';
  /** for a list of open and closed issues */
  listQuery(filter: IssueFilter): string;
  /** the last segment of the path to the comments of an issue */
  readonly comments: string;
  /** for a list of the comments that changed since a time, or of all comments */
  commentsQuery(since: string): string;
  readonly listsNewestCommentFirst: boolean;
  labels(label: string): Json;
  readonly states: { readonly open: JsonObject; readonly closed: JsonObject };
}

/** Issues that changed since a time (RFC 3339), or issues with a label. */
type IssueFilter = { readonly since: string } | { readonly label: string };

interface IssueText {
  readonly title: string;
  /** Markdown */
  readonly body: string;
}

export class Issues {
  readonly #host: CodeHost;
  readonly #api: IssueApi;

  constructor(host: CodeHost, api: IssueApi) {
    this.#host = host;
    this.#api = api;
  }

  /** The oldest issue whose text begins with the marker. @throws CodeHostRefusal, WireError */
  async find(marker: string, filter: IssueFilter): Promise<number | undefined> {
    const query = this.#api.listQuery(filter);
    let oldest: number | undefined;
    for await (const item of this.#list(`${this.#api.root}?${query}`)) {
      const number = item[this.#api.number];
      const text = item[this.#api.text];
      // GitHub lists pull requests as well.
      if (typeof number !== 'number' || typeof text !== 'string' || item['pull_request']) continue;
      if (begins(text, marker) && number < (oldest ?? Number.POSITIVE_INFINITY)) oldest = number;
    }
    return oldest;
  }

  /** Creates an issue. The request is not repeated when its answer was lost: the list shows whether it was carried out. */
  async create({ title, body }: IssueText, label: string): Promise<number> {
    const content = { title, [this.#api.text]: body, labels: this.#api.labels(label) };
    const answer = await this.#send({
      method: 'POST',
      path: this.#api.root,
      body: content,
      repeatable: false,
    });
    const number = isJsonObject(answer.body) ? answer.body[this.#api.number] : undefined;
    if (typeof number !== 'number') throw this.#unexpected(answer);
    return number;
  }

  /** @returns false when the issue no longer exists */
  async update(number: number, text: Partial<IssueText>, state: 'open' | 'closed'): Promise<boolean> {
    const { title, body } = text;
    const content = {
      ...(title === undefined ? {} : { title }),
      ...(body === undefined ? {} : { [this.#api.text]: body }),
      ...this.#api.states[state],
    };
    const path = `${this.#api.root}/${number}`;
    const request = { method: this.#api.updateMethod, path, body: content, repeatable: true };
    const { status } = await this.#send(request, [404, 410]);
    return status < 300;
  }

  async comment(number: number, body: string): Promise<void> {
    const path = `${this.#api.root}/${number}/${this.#api.comments}`;
    await this.#send({ method: 'POST', path, body: { body }, repeatable: false }, [404, 410]);
  }

  /** Whether a comment that is newer than `since` begins with the marker. @param since RFC 3339 */
  async hasComment(number: number, marker: string, since: string): Promise<boolean> {
    const query = this.#api.commentsQuery(since);
    for await (const { body, created_at: created } of this.#list(
      `${this.#api.root}/${number}/${this.#api.comments}?${query}`,
    )) {
      if (typeof body === 'string' && begins(body, marker)) return true;
      const isOlder = typeof created === 'string' && Date.parse(created) < Date.parse(since);
      if (isOlder && this.#api.listsNewestCommentFirst) return false;
    }
    return false;
  }

  async *#list(path: string): AsyncGenerator<JsonObject> {
    const pages = readPages(
      (page) => this.#send({ method: 'GET', path: `${path}&per_page=100&page=${page}`, repeatable: true }),
      {
        unexpected: (answer) => this.#unexpected(answer),
        endless: ({ method, url }) => new CodeHostRefusal(`${method} ${url} returned a list without an end`),
      },
    );
    for await (const { items } of pages) for (const item of items) if (isJsonObject(item)) yield item;
  }

  async #send(request: CodeHostRequest, accepted: readonly number[] = []): Promise<CodeHostAnswer> {
    const answer = await this.#host.send(request);
    const { method, url, status, words } = answer;
    if (status < 300 || accepted.includes(status)) return answer;
    const reason = words === '' ? '' : `: ${words}`;
    // These statuses concern the whole repository, not one issue.
    const isOfRepository = status >= 500 || [401, 403, 404, 410, 429].includes(status);
    throw new CodeHostRefusal(`${method} ${url} answered ${status}${reason}`, isOfRepository);
  }

  #unexpected({ method, url }: CodeHostAnswer): CodeHostRefusal {
    return new CodeHostRefusal(
      `${method} ${url} gave another answer than ${this.#api.serviceName} gives`,
      true,
    );
  }
}

/** Whether the text begins with the marker. Elsewhere, the marker may be part of a value that the text shows. */
function begins(text: string, marker: string): boolean {
  return text.trimStart().startsWith(marker);
}

/** @param repository `owner/name` */
export function githubIssues(host: CodeHost, repository: string): Issues {
  return new Issues(host, {
    serviceName: 'GitHub',
    root: `/repos/${repository.split('/').map(encodeURIComponent).join('/')}/issues`,
    number: 'number',
    text: 'body',
    updateMethod: 'PATCH',
    listQuery: (filter) =>
      'since' in filter
        ? `state=all&since=${encodeURIComponent(filter.since)}`
        : `state=all&labels=${encodeURIComponent(filter.label)}`,
    comments: 'comments',
    commentsQuery: (since) => `since=${encodeURIComponent(since)}`,
    listsNewestCommentFirst: false,
    labels: (label) => [label],
    states: { open: { state: 'open' }, closed: { state: 'closed' } },
  });
}

/** @param project its id, or its path with slashes */
export function gitlabIssues(host: CodeHost, project: string): Issues {
  return new Issues(host, {
    serviceName: 'GitLab',
    root: `/projects/${encodeURIComponent(project)}/issues`,
    number: 'iid',
    text: 'description',
    updateMethod: 'PUT',
    listQuery: (filter) =>
      'since' in filter
        ? `scope=all&updated_after=${encodeURIComponent(filter.since)}`
        : `scope=all&labels=${encodeURIComponent(filter.label)}`,
    comments: 'notes',
    commentsQuery: () => 'sort=desc&order_by=created_at',
    listsNewestCommentFirst: true,
    labels: (label) => label,
    states: { open: { state_event: 'reopen' }, closed: { state_event: 'close' } },
  });
}
