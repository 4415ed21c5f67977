/**
 * A service that lacks parts of the workspaces API: a filter in front of the embedded one, which removes those parts from requests
 * and responses, as a real server of that kind does (wire/workspaces 4).
 */
import type { Answer, SeenRequest, RequestHandler } from '../cli/faulty-proxy.ts';
import { looseTriggers } from './loose-triggers.ts';

/** Parts of the API that can be missing, alone or together. */
export const lacks = [
  'included-tags',
  'tag-filter',
  'tag-bindings',
  'consumers',
  'safe-delete',
  'own-mode',
  'pool-relationship',
  'full-lists',
  'error-documents',
  'page-size',
  'rate-headers',
] as const;

/** These parts, and further ones without which the corpus is not tested. */
export type Lack =
  | (typeof lacks)[number]
  | 'mode-resets'
  | 'projects'
  | 'hosted-fields'
  | 'lock-facts'
  | 'exclusive-triggers';

interface Filter {
  /** changes the path of a request */
  readonly path?: (path: string) => string;
  /** whether the service responds to this path with 404 */
  readonly unknown?: (path: string) => boolean;
  readonly body?: (body: Document) => Document;
  /** changes each workspace in a response */
  readonly workspace?: (workspace: Workspace) => Workspace;
  readonly answer?: (answer: Answer) => Answer;
}

interface Workspace {
  readonly type?: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly relationships?: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly data?: Workspace | readonly Workspace[] | null;
  readonly included?: unknown;
}

const withoutInclude = (path: string) => path.replace(/[?&]include=[^&]*/, '').replace(/^([^?]*)&/, '$1?');
const withoutFilter = (path: string) =>
  path.replace(/[?&]filter(%5B|\[)tagged[^&]*/g, '').replace(/^([^?]*)&/, '$1?');

function without<T extends object>(members: T | undefined, ...names: string[]): T {
  return Object.fromEntries(Object.entries(members ?? {}).filter(([name]) => !names.includes(name))) as T;
}

const includes: Filter = {
  path: withoutInclude,
  workspace: (one) => ({ ...one, relationships: without(one.relationships, 'effective-tag-bindings') }),
};

const filters: Readonly<Record<Lack, Filter>> = {
  'included-tags': includes,
  'tag-filter': { ...includes, path: (path) => withoutFilter(withoutInclude(path)) },
  'tag-bindings': {
    ...includes,
    path: (path) => withoutFilter(withoutInclude(path)),
    unknown: (path) => path.includes('tag-bindings'),
    body: (body) =>
      body.data === undefined || body.data === null || isList(body.data)
        ? body
        : {
            ...body,
            data: { ...body.data, relationships: without(body.data.relationships, 'tag-bindings') },
          },
  },
  consumers: { unknown: (path) => path.includes('remote-state-consumers') },
  'safe-delete': {
    unknown: (path) => path.includes('/actions/safe-delete'),
    workspace: (one) => {
      const permissions = without(one.attributes?.['permissions'] as object, 'can-force-delete');
      return { ...one, attributes: { ...one.attributes, permissions } };
    },
  },
  'own-mode': {
    workspace: (one) => {
      const overwrites = { 'execution-mode': false, 'agent-pool': false };
      return { ...one, attributes: { ...one.attributes, 'setting-overwrites': overwrites } };
    },
  },
  'lock-facts': {
    workspace: (one) => ({
      ...one,
      attributes: without(one.attributes, 'locked-reason'),
      relationships: without(one.relationships, 'locked-by'),
    }),
  },
  // Without projects, automatic destroys and health assessments.
  'hosted-fields': {
    workspace: (one) => ({
      ...one,
      attributes: without(
        one.attributes,
        'assessments-enabled',
        'auto-destroy-at',
        'auto-destroy-activity-duration',
      ),
      relationships: without(one.relationships, 'project'),
    }),
  },
  // Without resets of the execution mode.
  'mode-resets': {
    body: (body) => {
      if (body.data === undefined || body.data === null || isList(body.data)) return body;
      return {
        ...body,
        data: { ...body.data, attributes: without(body.data.attributes, 'setting-overwrites') },
      };
    },
  },
  projects: { unknown: (path) => path.includes('/projects') },
  // Needs a memory, so it is not a filter but `looseTriggers`.
  'exclusive-triggers': {},
  'pool-relationship': {
    workspace: (one) => {
      const link = one.relationships?.['agent-pool'] as { data?: { id?: string } | null } | undefined;
      return {
        ...one,
        attributes: { ...one.attributes, 'agent-pool-id': link?.data?.id ?? '' },
        relationships: without(one.relationships, 'agent-pool'),
      };
    },
  },
  'full-lists': {
    workspace: (one) => ({
      ...one,
      attributes: Object.fromEntries(
        Object.entries(one.attributes ?? {}).map(([name, value]) => [name, isEmpty(value) ? null : value]),
      ),
    }),
    answer: inJson((document) => (isEmpty(document.data) ? { ...document, data: null } : document)),
  },
  'error-documents': {
    answer: (answer) =>
      answer.status === 404
        ? { ...answer, headers: { 'content-type': 'text/plain; charset=utf-8' }, text: 'not found\n' }
        : answer,
  },
  'page-size': { path: (path) => path.replace(/page(%5B|\[)size(%5D|\])=\d+/, 'page[size]=2') },
  'rate-headers': {
    answer: (answer) => ({
      ...answer,
      headers: Object.fromEntries(
        Object.entries(answer.headers).filter(([name]) => !name.startsWith('x-ratelimit')),
      ),
    }),
  },
};

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function isList(data: Document['data']): data is readonly Workspace[] {
  return Array.isArray(data);
}

function inJson(change: (document: Document) => Document): (answer: Answer) => Answer {
  return (answer) => {
    if (answer.text === '' || !(answer.headers['content-type'] ?? '').includes('json')) return answer;
    return { ...answer, text: JSON.stringify(change(JSON.parse(answer.text) as Document)) };
  };
}

const inWorkspaces = (change: (workspace: Workspace) => Workspace) => {
  const each = (one: Workspace) => (one.type === 'workspaces' ? change(one) : one);
  return inJson((document) => {
    const { data } = document;
    if (data === undefined || data === null) return document;
    return { ...document, data: isList(data) ? data.map(each) : each(data) };
  });
};

const notFound: Answer = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  text: '404 page not found\n',
};

/** A handler for the proxy between a stack and the embedded service, which removes these parts. */
export function lacking(...missing: readonly Lack[]): RequestHandler {
  const all = missing.map((lack) => filters[lack]);
  const triggers = missing.includes('exclusive-triggers') ? looseTriggers() : undefined;
  return async (request, pass) => {
    if (!request.path.startsWith('/api/v2/')) return pass();
    if (all.some(({ unknown }) => unknown?.(request.path) === true)) return notFound;
    const path = all.reduce((text, filter) => filter.path?.(text) ?? text, request.path);
    const text = bodyOf(request, all);
    const answer = await (triggers === undefined
      ? pass(path, text)
      : triggers({ ...request, path, text }, pass));
    if (answer === undefined) return answer;
    const documents = all.flatMap(({ workspace, answer: whole }) => [
      ...(workspace === undefined ? [] : [inWorkspaces(workspace)]),
      ...(whole === undefined ? [] : [whole]),
    ]);
    return documents.reduce((changed, filter) => filter(changed), answer);
  };
}

function bodyOf({ text }: SeenRequest, all: readonly Filter[]): string {
  if (text === '') return text;
  const body = all.reduce(
    (changed, filter) => filter.body?.(changed) ?? changed,
    JSON.parse(text) as Document,
  );
  return JSON.stringify(body);
}

/** A service that has tag bindings, but ignores all writes of them. */
export const droppingTags: RequestHandler = (request, pass) => {
  if (request.text === '') return pass();
  if (request.path.endsWith('/tag-bindings')) return pass(request.path, '{"data":[]}');
  const body = JSON.parse(request.text) as { data?: { relationships?: Record<string, unknown> } };
  delete body.data?.relationships?.['tag-bindings'];
  return pass(request.path, JSON.stringify(body));
};

/** A service whose flat tags are case-sensitive. */
export const keepingTagCase: RequestHandler = async (request, pass) => {
  const sent = request.text.replaceAll(
    /("type":"tags","attributes":\{"name":")([^"]*[A-Z][^"]*)"/g,
    (_, before: string, name: string) => `${before}upper-${name}"`,
  );
  const answer = await pass(request.path, sent);
  return {
    ...answer,
    text: answer.text.replaceAll(/"upper-([^"]*)"/g, (_, name: string) => `"${name.toUpperCase()}"`),
  };
};
