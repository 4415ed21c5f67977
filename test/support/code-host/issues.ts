/** The issues of `acme/infra`, a repository of GitHub or a project of GitLab, by their REST APIs. Source: wire/code-hosts 14 */
import { type ApiDouble, type AskedRequest, type GivenAnswer, openApi, pageOf } from './api-double.ts';

export interface KeptIssue {
  readonly number: number;
  title: string;
  body: string;
  state: 'open' | 'closed';
  labels: readonly string[];
  updated: number;
  readonly comments: { readonly body: string; readonly at: number; readonly edited?: number }[];
}

export interface IssuesDouble extends ApiDouble {
  readonly issues: KeptIssue[];
  /** requests that write, as `METHOD path` */
  writes(): string[];
}

export const issuesToken = 'token-of-issues-0123456789';

type Sent = Readonly<Record<string, string | readonly string[] | undefined>>;

interface Dialect {
  readonly root: string;
  readonly comments: string;
  readonly number: string;
  readonly text: string;
  readonly updates: string;
  readonly since: string;
  stateIn(sent: Sent): KeptIssue['state'] | undefined;
  labelsIn(sent: Sent): readonly string[];
}

const dialects: Readonly<Record<'github' | 'gitlab', Dialect>> = {
  github: {
    ...{ root: '/repos/acme/infra/issues', comments: 'comments', number: 'number', text: 'body' },
    ...{ updates: 'PATCH', since: 'since' },
    stateIn: ({ state }) => (state === 'open' || state === 'closed' ? state : undefined),
    labelsIn: ({ labels }) => (Array.isArray(labels) ? (labels as readonly string[]) : []),
  },
  gitlab: {
    ...{
      root: '/api/v4/projects/acme%2Finfra/issues',
      comments: 'notes',
      number: 'iid',
      text: 'description',
    },
    ...{ updates: 'PUT', since: 'updated_after' },
    stateIn: ({ state_event: event }) =>
      event === 'reopen' ? 'open' : event === 'close' ? 'closed' : undefined,
    labelsIn: ({ labels }) => (typeof labels === 'string' ? labels.split(',') : []),
  },
};

/** @param others issues that are there from the beginning */
export async function openIssues(service: 'github' | 'gitlab', others = 0): Promise<IssuesDouble> {
  const dialect = dialects[service];
  const issues: KeptIssue[] = Array.from({ length: others }, (_, index) => ({
    ...{ number: index + 1, title: 'another', body: 'about other things', state: 'open', labels: [] },
    ...{ updated: Date.now(), comments: [] },
  }));
  const api = await openApi((asked) => answer(asked, { dialect, issues, service }));
  const writes = () =>
    api.asked.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);
  return Object.assign(api, { issues, writes });
}

interface Served {
  readonly dialect: Dialect;
  readonly issues: KeptIssue[];
  readonly service: 'github' | 'gitlab';
}

function answer(asked: AskedRequest, served: Served): GivenAnswer {
  const { method, path, headers } = asked;
  const { dialect, issues } = served;
  if (headers.authorization !== `Bearer ${issuesToken}`)
    return { status: 401, body: { message: 'Unauthorized' } };
  const sent = asked.body as Sent;
  if (path === dialect.root) return method === 'POST' ? create(sent, served) : list(asked, served);
  const [, number, part] = new RegExp(`^${dialect.root}/(\\d+)(?:/(\\w+))?$`).exec(path) ?? [];
  const found = issues.find((one) => one.number === Number(number));
  if (found === undefined) return { status: 404, body: { message: 'Not Found' } };
  if (part === dialect.comments) return comments(asked, found, served);
  if (part !== undefined || method !== dialect.updates)
    return { status: 404, body: { message: 'Not Found' } };
  const { title, [dialect.text]: body } = sent;
  if (typeof title === 'string') found.title = title;
  if (typeof body === 'string') found.body = body;
  found.state = dialect.stateIn(sent) ?? found.state;
  found.updated = Date.now();
  return { status: 200, body: shown(found, dialect) };
}

function create(sent: Sent, { dialect, issues }: Served): GivenAnswer {
  const body = String(sent[dialect.text] ?? '');
  if (body.length > 65_536) return { status: 422, body: { message: 'Validation Failed' } };
  const issue: KeptIssue = {
    ...{ number: issues.length + 1, title: String(sent['title']), body, state: 'open' },
    ...{ labels: dialect.labelsIn(sent), updated: Date.now(), comments: [] },
  };
  issues.push(issue);
  return { status: 201, body: shown(issue, dialect) };
}

function list({ query }: AskedRequest, { dialect, issues, service }: Served): GivenAnswer {
  const since = Date.parse(query.get(dialect.since) ?? '1970-01-01T00:00:00Z');
  const label = query.get('labels');
  const wantsClosed = service === 'gitlab' || query.get('state') === 'all';
  const found = issues
    .filter((one) => one.updated >= since && (label === null || one.labels.includes(label)))
    .filter((one) => wantsClosed || one.state === 'open')
    .toReversed();
  return paged(
    found.map((one) => shown(one, dialect)),
    query,
    service,
  );
}

function comments({ method, body, query }: AskedRequest, issue: KeptIssue, { service }: Served): GivenAnswer {
  if (method === 'POST') {
    issue.comments.push({ body: body.body ?? '', at: Date.now() });
    return { status: 201, body: { id: issue.comments.length } };
  }
  const since = Date.parse(query.get('since') ?? '1970-01-01T00:00:00Z');
  const newer = issue.comments
    .filter(({ at, edited = at }) => edited >= since)
    .map(({ body: text, at }) => ({ body: text, created_at: new Date(at).toISOString() }));
  return paged(query.get('sort') === 'desc' ? newer.toReversed() : newer, query, service);
}

function paged(all: readonly object[], query: URLSearchParams, service: 'github' | 'gitlab'): GivenAnswer {
  const { items, next } = pageOf(all, query, service === 'github' ? 30 : 20);
  // The client must take only the page number from the link, and send its token to no other host.
  const link = `<https://elsewhere.example.com/?page=${next}>; rel="next"`;
  return {
    status: 200,
    body: items,
    headers:
      service === 'gitlab'
        ? { 'x-next-page': next === undefined ? '' : String(next) }
        : next === undefined
          ? {}
          : { link },
  };
}

function shown({ number, title, body, state, labels, updated }: KeptIssue, dialect: Dialect): object {
  return {
    ...{ [dialect.number]: number, title, [dialect.text]: body, labels },
    ...{ state: dialect.number === 'iid' && state === 'open' ? 'opened' : state },
    updated_at: new Date(updated).toISOString(),
  };
}
