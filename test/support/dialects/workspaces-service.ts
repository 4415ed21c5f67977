/**
 * A small workspaces service on loopback. It behaves like a real one where that matters to a client, and records requests.
 * Source: wire/workspaces. It is closed at the end of the test.
 */
import { type Loopback, listen, type Recorded, type Reply } from '../http/loopback.ts';
import { type Members, type Names, type Project, Refusal, WorkspaceRecord } from './workspace-record.ts';

/** How workspaces services differ from each other. */
export interface Habits {
  readonly names: Names;
  /** how it handles `include=effective_tag_bindings` */
  readonly include: 'answered' | 'refused' | 'ignored';
  /** PATCH /workspaces/:id/tag-bindings adds (wire/workspaces 1.5.4) */
  readonly additive: boolean;
  /** a create connects an app installation too (wire/workspaces 1.5.2) */
  readonly appOnCreate: boolean;
  /** a create accepts flat tags (wire/workspaces 1.5.8) */
  readonly tagsOnCreate: boolean;
  /** requests may set `structured-run-output-enabled`, which is in responses in any case (wire/workspaces 1.5.24) */
  readonly structuredOutput: boolean;
  readonly projects: readonly Project[];
}

const projects = [{ id: 'prj-default' }, { id: 'prj-gold', tags: { tier: 'gold', env: 'shared' } }];

export const hcpTerraform: Habits = {
  names: { version: 'terraform-version', app: 'github-app-installation-id' },
  include: 'answered',
  additive: true,
  appOnCreate: true,
  tagsOnCreate: true,
  structuredOutput: true,
  projects,
};

/** The specifications as written, and the include, which is an addition of the embedded service. */
export const neutral: Habits = {
  names: { version: 'engine-version', app: 'vcs-app-installation-id' },
  include: 'answered',
  additive: false,
  appOnCreate: false,
  tagsOnCreate: false,
  structuredOutput: false,
  projects,
};

/** Tokens that may write everything, and that may only read. */
export const tokens = { writer: 'tfc-writer-token', reader: 'tfc-reader-token' };

/** The ids of the users of these tokens. */
export const users = { writer: 'user-writer', reader: 'user-reader' };

const mediaType = 'application/vnd.api+json';

export interface WorkspacesService {
  readonly url: string;
  readonly requests: Loopback['requests'];
  /** of writes only: `POST /organizations/acme/workspaces` */
  writes(): string[];
  /** the bodies of the requests whose line ends with this, in order */
  bodies(line: string): unknown[];
  /** members of request bodies that this service does not have */
  readonly unknownMembers: string[];
  workspace(name: string): WorkspaceRecord;
  /** clears the recorded requests */
  clear(): void;
  /** creates a workspace without a request, as a user of the service's pages does */
  create(name: string): WorkspaceRecord;
}

export async function serveWorkspaces(habits: Habits): Promise<WorkspacesService> {
  const service = new Service(habits);
  const server = await listen((request) => service.answer(request));
  const isWrite = ({ method }: Recorded) => method !== 'GET';
  const lineOf = ({ method, path }: Recorded) => `${method} ${path.replace('/api/v2', '')}`;
  return {
    url: server.url,
    requests: server.requests,
    writes: () => server.requests.filter(isWrite).map(lineOf),
    bodies: (line) =>
      server.requests.filter((request) => lineOf(request).endsWith(line)).map(({ body }) => body),
    unknownMembers: service.unknownMembers,
    workspace: (name) => service.byName(name),
    clear: () => {
      server.requests.length = 0;
      server.lines.length = 0;
    },
    create: (name) => service.create({ name }, {}),
  };
}

interface Asked {
  readonly method: string;
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Members;
  readonly mayWrite: boolean;
}

const notFound = () => new Refusal(404, 'not found', 'Not found');

class Service {
  readonly unknownMembers: string[] = [];
  readonly #habits: Habits;
  readonly #workspaces: WorkspaceRecord[] = [];

  constructor(habits: Habits) {
    this.#habits = habits;
  }

  byName(name: string): WorkspaceRecord {
    const found = this.#workspaces.find((workspace) => workspace.name === name);
    if (found === undefined) throw notFound();
    return found;
  }

  answer(request: Recorded): Reply {
    try {
      return this.#route(this.#admit(request));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, title, message: detail } = error;
      return reply(status, { errors: [{ status: String(status), title, detail }] });
    }
  }

  #admit({ method, path, headers, body }: Recorded): Asked {
    const { pathname, searchParams: query } = new URL(path, 'http://localhost');
    const mayWrite = headers['authorization'] === `Bearer ${tokens.writer}`;
    if (!mayWrite && headers['authorization'] !== `Bearer ${tokens.reader}`)
      throw new Refusal(401, 'unauthorized', '');
    if (method !== 'GET' && headers['content-type'] !== mediaType)
      throw new Refusal(415, 'unsupported media type', `${method} needs ${mediaType}`);
    if (method !== 'GET' && !mayWrite) throw notFound();
    const segments = pathname.split('/').slice(3).map(decodeURIComponent);
    if (!pathname.startsWith('/api/v2/')) throw notFound();
    return { method, segments, query, body: (body ?? {}) as Members, mayWrite };
  }

  #route(asked: Asked): Reply {
    const [collection, id = '', below, ...rest] = asked.segments;
    if (collection === 'organizations') {
      if (id === 'acme' && below === undefined && asked.method === 'GET')
        return reply(200, { data: { id, type: 'organizations', attributes: { name: id } } });
      if (id !== 'acme' || below !== 'workspaces') throw notFound();
      const [name] = rest;
      return name === undefined ? this.#collection(asked) : this.#one(asked, this.byName(name));
    }
    if (asked.segments.join('/') === 'account/details') return account(asked);
    const workspace = this.#workspaces.find((candidate) => candidate.id === id);
    if (collection !== 'workspaces' || workspace === undefined) throw notFound();
    return below === undefined
      ? this.#one(asked, workspace)
      : this.#below(asked, workspace, [below, ...rest].join('/'));
  }

  #collection(asked: Asked): Reply {
    if (asked.method === 'GET') return this.#list(asked);
    const known = this.#habits.tagsOnCreate ? ['project', 'tag-bindings', 'tags'] : undefined;
    const { attributes, relationships } = this.#resource(asked, known);
    const taken = this.#workspaces.some(({ name }) => name === attributes['name']);
    if (taken) throw new Refusal(422, 'invalid attribute', 'Name has already been taken');
    const repository = attributes['vcs-repo'] as Members | undefined;
    if (!this.#habits.appOnCreate && repository?.[this.#habits.names.app] !== undefined)
      throw new Refusal(422, 'invalid attribute', 'An app installation can only be set by an update');
    const workspace = this.create(attributes, relationships);
    const tags = relationships['tags'] as { data: Members[] } | undefined;
    if (tags !== undefined) this.#tag(workspace, tags.data, true);
    return reply(201, { data: workspace.document(asked.mayWrite) });
  }

  create(attributes: Members, relationships: Members): WorkspaceRecord {
    const [first = { id: 'prj-default' }] = this.#habits.projects;
    const workspace = new WorkspaceRecord(this.#habits.names, first);
    this.#relate(workspace, relationships);
    workspace.write(attributes, true);
    this.#workspaces.push(workspace);
    return workspace;
  }

  #resource(
    { body }: Asked,
    related = ['project', 'tag-bindings'],
  ): { attributes: Members; relationships: Members } {
    const { attributes = {}, relationships = {} } = body['data'] as Record<string, Members>;
    const { names, structuredOutput } = this.#habits;
    const more = structuredOutput ? ['structured-run-output-enabled'] : [];
    const known = [...knownAttributes, names.version, ...more];
    const repository = (attributes['vcs-repo'] ?? {}) as Members;
    const knownOfRepository = [...knownRepository, names.app];
    this.unknownMembers.push(
      ...Object.keys(attributes).filter((name) => !known.includes(name)),
      ...Object.keys(repository).filter((name) => !knownOfRepository.includes(name)),
      ...Object.keys(relationships).filter((name) => !related.includes(name)),
    );
    return { attributes, relationships };
  }

  #relate(workspace: WorkspaceRecord, relationships: Members): void {
    const project = (relationships['project'] as { data: { id: string } } | undefined)?.data.id;
    const moved = this.#habits.projects.find(({ id }) => id === project);
    if (project !== undefined && moved === undefined) throw notFound();
    if (moved !== undefined) workspace.project = moved;
    const bindings = relationships['tag-bindings'] as { data: Members[] } | undefined;
    if (bindings !== undefined) workspace.bind(bindings.data, true);
  }

  #list(asked: Asked): Reply {
    const { query } = asked;
    const key = query.get('filter[tagged][0][key]');
    const all = this.#workspaces
      .filter((workspace) => key === null || workspace.effectiveTags().some((tag) => keyOf(tag) === key))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#page(asked, all);
  }

  #page(asked: Asked, all: readonly WorkspaceRecord[]): Reply {
    const size = Math.min(100, Number(asked.query.get('page[size]') ?? 20));
    const number = Number(asked.query.get('page[number]') ?? 1);
    const shown = all.slice((number - 1) * size, number * size);
    const pages = Math.max(1, Math.ceil(all.length / size));
    const pagination = {
      'current-page': number,
      'page-size': size,
      'total-count': all.length,
      'total-pages': pages,
    };
    return this.#included(asked, shown, (documents) => ({ data: documents, meta: { pagination } }));
  }

  #included(
    { query, mayWrite }: Asked,
    shown: readonly WorkspaceRecord[],
    wrap: (documents: Members[]) => Members,
  ): Reply {
    const asksTags = query.get('include')?.split(',').includes('effective_tag_bindings') ?? false;
    const { include } = this.#habits;
    if (asksTags && include === 'refused')
      throw new Refusal(400, 'bad request', 'Invalid include parameter: effective_tag_bindings');
    if (!asksTags || include === 'ignored')
      return reply(200, wrap(shown.map((one) => one.document(mayWrite))));
    const included: Members[] = [];
    const documents = shown.map((one) => {
      const { relationships, ...rest } = one.document(mayWrite);
      const tags = one.effectiveTags();
      included.push(...tags);
      const data = tags.map(({ id, type }) => ({ id, type }));
      return {
        ...rest,
        relationships: { ...(relationships as Members), 'effective-tag-bindings': { data } },
      };
    });
    return reply(200, { ...wrap(documents), included });
  }

  #one(asked: Asked, workspace: WorkspaceRecord): Reply {
    if (asked.method === 'GET')
      return this.#included(asked, [workspace], ([document]) => ({ data: document }));
    if (asked.method === 'DELETE') return this.#remove(workspace);
    const { attributes, relationships } = this.#resource(asked);
    this.#relate(workspace, relationships);
    workspace.write(attributes, false);
    return reply(200, { data: workspace.document(asked.mayWrite) });
  }

  #remove(workspace: WorkspaceRecord): Reply {
    this.#workspaces.splice(this.#workspaces.indexOf(workspace), 1);
    return reply(204);
  }

  #below(asked: Asked, workspace: WorkspaceRecord, below: string): Reply {
    const { method } = asked;
    const show = () => reply(200, { data: workspace.document(asked.mayWrite) });
    const found = this.#operations(asked, workspace, show)[`${method} ${below}`];
    if (found === undefined) throw notFound();
    return found();
  }

  #operations(asked: Asked, workspace: WorkspaceRecord, show: () => Reply): Record<string, () => Reply> {
    const { body } = asked;
    const data = () => body['data'] as Members[];
    const consumers = 'relationships/remote-state-consumers';
    const retention = 'relationships/data-retention-policy';
    return {
      'GET tag-bindings': () =>
        reply(200, {
          data: [...workspace.tags].map(([key, value]) => ({
            id: `tb-${key}`,
            type: 'tag-bindings',
            attributes: { key, value, 'created-at': '2026-01-01T00:00:00.000Z' },
          })),
        }),
      'GET effective-tag-bindings': () => reply(200, { data: workspace.effectiveTags() }),
      ...(this.#habits.additive
        ? {
            'PATCH tag-bindings': () => {
              workspace.bind(data(), false);
              return reply(200, { data: data() });
            },
          }
        : {}),
      'PATCH relationships/ssh-key': () => {
        const { attributes } = body['data'] as { attributes: { id: string | null } };
        workspace.sshKey = attributes.id;
        return show();
      },
      'POST relationships/tags': () => this.#tag(workspace, data(), true),
      'DELETE relationships/tags': () => this.#tag(workspace, data(), false),
      [`GET ${consumers}`]: () =>
        this.#page(
          asked,
          this.#workspaces.filter((other) =>
            workspace.projectSharing ? other !== workspace : workspace.consumers.has(other.id),
          ),
        ),
      [`POST ${consumers}`]: () => this.#consume(workspace, data(), (id) => workspace.consumers.add(id)),
      [`DELETE ${consumers}`]: () => this.#consume(workspace, data(), (id) => workspace.consumers.delete(id)),
      [`PATCH ${consumers}`]: () => {
        workspace.consumers.clear();
        return this.#consume(workspace, data(), (id) => workspace.consumers.add(id));
      },
      [`GET ${retention}`]: () => {
        if (workspace.retention === undefined) throw notFound();
        return reply(200, { data: { id: `drp-${workspace.id}`, ...workspace.retention } });
      },
      [`POST ${retention}`]: () => {
        workspace.retention = body['data'] as { type: string; attributes: Members };
        return reply(200, { data: { id: `drp-${workspace.id}`, ...workspace.retention } });
      },
      [`DELETE ${retention}`]: () => {
        workspace.retention = undefined;
        return reply(204);
      },
      'POST actions/lock': () => {
        if (workspace.lock !== undefined) throw new Refusal(409, 'conflict', 'already locked');
        workspace.lock = { reason: String(body['reason'] ?? ''), by: users.writer };
        workspace.everLocked = true;
        return show();
      },
      'POST actions/unlock': () => {
        if (workspace.lock === undefined) throw new Refusal(409, 'conflict', 'already unlocked');
        if (workspace.lock.by !== users.writer)
          throw new Refusal(409, 'conflict', `The workspace is locked by User ${workspace.lock.by}`);
        workspace.lock = undefined;
        return show();
      },
      'POST actions/safe-delete': () => {
        if (workspace.resources > 0 || workspace.lock !== undefined)
          throw new Refusal(409, 'conflict', 'The workspace is locked or manages resources');
        return this.#remove(workspace);
      },
    };
  }

  /** Names are stored in lower case (wire/workspaces 1.5.18). */
  #tag(workspace: WorkspaceRecord, tags: readonly Members[], adds: boolean): Reply {
    for (const { attributes } of tags) {
      const name = String((attributes as Members)['name']).toLowerCase();
      const at = workspace.flatTags.indexOf(name);
      if (adds && at === -1) workspace.flatTags.push(name);
      if (!adds && at !== -1) workspace.flatTags.splice(at, 1);
    }
    return reply(204);
  }

  #consume(workspace: WorkspaceRecord, items: readonly Members[], each: (id: string) => void): Reply {
    if (workspace.settings['global-remote-state'] === true)
      throw new Refusal(422, 'invalid attribute', 'Remote state is shared with the whole organization');
    for (const { id } of items) each(String(id));
    return reply(204);
  }
}

function keyOf(tag: Members): unknown {
  return (tag['attributes'] as Members)['key'];
}

function account({ mayWrite }: Asked): Reply {
  const [id, username] = mayWrite ? [users.writer, 'writer'] : [users.reader, 'reader'];
  return reply(200, { data: { id, type: 'users', attributes: { username, 'is-service-account': false } } });
}

function reply(status: number, body?: unknown): Reply {
  const headers = { 'tfp-api-version': '2.6', 'content-type': mediaType };
  return body === undefined ? { status, headers } : { status, headers, body };
}

const knownRepository = ['branch', 'identifier', 'ingress-submodules', 'oauth-token-id', 'tags-regex'];
const knownAttributes = [
  'name',
  'agent-pool-id',
  'allow-destroy-plan',
  'assessments-enabled',
  'auto-apply',
  'auto-apply-run-trigger',
  'auto-destroy-at',
  'auto-destroy-activity-duration',
  'inherits-project-auto-destroy',
  'description',
  'execution-mode',
  'file-triggers-enabled',
  'global-remote-state',
  'queue-all-runs',
  'source-name',
  'source-url',
  'speculative-enabled',
  'trigger-patterns',
  'trigger-prefixes',
  'working-directory',
  'setting-overwrites',
  'vcs-repo',
];
