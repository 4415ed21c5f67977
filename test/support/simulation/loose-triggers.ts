/**
 * A service that stores run triggers in its own way, like a real server: setting a list or an expression does not clear all others,
 * `tags-regex: ""` is ignored, and `file-triggers-enabled` only shows whether one of the lists has elements. The service behind it
 * does not get any of these attributes.
 */
import type { Answer, SeenRequest, RequestHandler } from '../cli/faulty-proxy.ts';

interface Triggers {
  readonly prefixes: readonly string[];
  readonly patterns: readonly string[];
  readonly regex: string;
  readonly isConnected: boolean;
}

type Attributes = Readonly<Record<string, unknown>>;

interface Workspace {
  readonly type?: string;
  readonly id?: string;
  readonly attributes?: Attributes;
}

interface Document {
  readonly data?: Workspace | readonly Workspace[] | null;
}

const none: Triggers = { prefixes: [], patterns: [], regex: '', isConnected: false };

/** Makes a handler for the proxy in front of a service; it stores the triggers of each workspace. */
export function looseTriggers(): RequestHandler {
  const known = new Map<string, Triggers>();
  const before = ({ id = '', attributes }: Workspace) => known.get(id) ?? triggersIn(attributes);
  return async (request, pass) => {
    const write = writeIn(request);
    if (write === undefined) return shown(await pass(), before);
    const { id, attributes } = write;
    // A create ignores `file-triggers-enabled`.
    const next =
      id === undefined
        ? after(none, { ...attributes, 'file-triggers-enabled': null })
        : after(known.get(id) ?? none, attributes);
    if (typeof next === 'string') return refused(next);
    const answer = await pass(request.path, write.rest);
    const made = answer.status < 300 ? workspaceIn(answer.text) : undefined;
    if (made?.id !== undefined) {
      const isConnected = repositoryOf(made.attributes) !== undefined;
      known.set(made.id, { ...next, isConnected, regex: isConnected ? next.regex : '' });
    }
    return shown(answer, before);
  };
}

interface Write {
  /** undefined for a create */
  readonly id?: string | undefined;
  readonly attributes: Attributes;
  /** the body without triggers */
  readonly rest: string;
}

function writeIn({ method, path, text }: SeenRequest): Write | undefined {
  const isCreate = method === 'POST' && /^\/api\/v2\/organizations\/[^/]+\/workspaces$/.test(path);
  const [, id] = /^\/api\/v2\/workspaces\/([^/?]+)$/.exec(path) ?? [];
  const isUpdate = method === 'PATCH' && id !== undefined;
  const body = isCreate || isUpdate ? (JSON.parse(text) as Document) : {};
  if (body.data === undefined || body.data === null || isList(body.data)) return undefined;
  const attributes = body.data.attributes ?? {};
  const { 'trigger-prefixes': _, 'trigger-patterns': __, 'file-triggers-enabled': ___, ...rest } = attributes;
  const data = { ...body.data, attributes: withoutRegex(rest) };
  return { id: isCreate ? undefined : id, attributes, rest: JSON.stringify({ ...body, data }) };
}

function withoutRegex(attributes: Attributes): Attributes {
  const repository = repositoryOf(attributes);
  if (repository === undefined) return attributes;
  const { 'vcs-repo': _, ...others } = attributes;
  const { 'tags-regex': __, ...left } = repository;
  return Object.keys(left).length === 0 ? others : { ...others, 'vcs-repo': left };
}

/** The triggers after a write, or the text of an error. */
function after(old: Triggers, attributes: Attributes): Triggers | string {
  const repository = repositoryOf(attributes);
  const regex = repository?.['tags-regex'] as string | null | undefined;
  const setsRegex = typeof regex === 'string' && regex !== '';
  const patterns = attributes['trigger-patterns'] as string[] | null | undefined;
  const prefixes = (attributes['trigger-prefixes'] as string[] | null | undefined) ?? old.prefixes;
  if (setsRegex && Array.isArray(patterns)) return 'cannot specify both tags-regex and trigger-patterns';
  const isAlways = attributes['file-triggers-enabled'] === false && (regex ?? null) === null;
  if (isAlways && (patterns ?? []).length > 0)
    return 'cannot specify both trigger-patterns and always-trigger';
  if (setsRegex) return { ...old, prefixes, regex, patterns: old.isConnected ? [] : old.patterns };
  if (Array.isArray(patterns)) return { ...old, prefixes, patterns, regex: '' };
  return isAlways ? { ...old, prefixes, patterns: [], regex: '' } : { ...old, prefixes };
}

function refused(detail: string): Answer {
  const errors = [{ status: '422', title: 'Unprocessable Entity', detail }];
  return {
    status: 422,
    headers: { 'content-type': 'application/vnd.api+json' },
    text: JSON.stringify({ errors }),
  };
}

function shown(answer: Answer, triggers: (workspace: Workspace) => Triggers): Answer {
  const { text, headers } = answer;
  if (text === '' || !(headers['content-type'] ?? '').includes('json')) return answer;
  const document = JSON.parse(text) as Document;
  const { data } = document;
  if (data === undefined || data === null) return answer;
  const each = (one: Workspace) => (one.type === 'workspaces' ? withTriggers(one, triggers(one)) : one);
  return {
    ...answer,
    text: JSON.stringify({ ...document, data: isList(data) ? data.map(each) : each(data) }),
  };
}

function withTriggers(workspace: Workspace, { prefixes, patterns, regex }: Triggers): Workspace {
  const repository = repositoryOf(workspace.attributes);
  return {
    ...workspace,
    attributes: {
      ...workspace.attributes,
      'trigger-prefixes': prefixes,
      'trigger-patterns': patterns,
      'file-triggers-enabled': prefixes.length > 0 || patterns.length > 0,
      ...(repository === undefined ? {} : { 'vcs-repo': { ...repository, 'tags-regex': regex } }),
    },
  };
}

/** The triggers of a workspace that was created without the proxy. */
function triggersIn(attributes: Attributes = {}): Triggers {
  const repository = repositoryOf(attributes);
  return {
    prefixes: (attributes['trigger-prefixes'] as string[] | undefined) ?? [],
    patterns: (attributes['trigger-patterns'] as string[] | undefined) ?? [],
    regex: (repository?.['tags-regex'] as string | null | undefined) ?? '',
    isConnected: repository !== undefined,
  };
}

function repositoryOf(attributes: Attributes = {}): Attributes | undefined {
  const repository = attributes['vcs-repo'];
  return typeof repository === 'object' && repository !== null ? (repository as Attributes) : undefined;
}

function workspaceIn(text: string): Workspace | undefined {
  const { data } = JSON.parse(text) as Document;
  return data === undefined || data === null || isList(data) ? undefined : data;
}

function isList(data: Document['data']): data is readonly Workspace[] {
  return Array.isArray(data);
}
