// An embedded service for one test: started on a free port with a known seed, and closed at the end of the test.
// The client uses plain HTTP and none of the server's code, because tests are about requests and responses.

import { onTestFinished } from 'vitest';

import type { Seed } from '../../../src/server/seed/seed-schema.ts';
import { type ServerOptions, startServer } from '../../../src/server/start-server.ts';

export interface TestResource {
  readonly id: string;
  readonly type: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly relationships: Readonly<Record<string, { data?: unknown; links?: { related: string } }>>;
  readonly links?: Readonly<Record<string, string>>;
}

export interface TestError {
  readonly status: unknown;
  readonly title: string;
  readonly detail: string;
  readonly source?: { readonly pointer?: string; readonly parameter?: string };
}

interface TestDocument {
  readonly data?: unknown;
  readonly included?: TestResource[];
  readonly errors?: TestError[];
  readonly links?: Record<string, string | null>;
  readonly meta?: { readonly pagination: Record<string, number | null> };
}

export class TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;

  constructor(status: number, headers: Headers, text: string) {
    this.status = status;
    this.headers = headers;
    this.text = text;
  }

  get document(): TestDocument {
    return JSON.parse(this.text) as TestDocument;
  }

  get resource(): TestResource {
    return this.document.data as TestResource;
  }

  get resources(): TestResource[] {
    return this.document.data as TestResource[];
  }

  get errors(): TestError[] {
    return this.document.errors ?? [];
  }

  /** The JSON pointers of all problems of a 422. */
  get pointers(): string[] {
    return this.errors.map((error) => error.source?.pointer ?? '');
  }

  /** The `name` attributes of a list, in its order. */
  get names(): unknown[] {
    return this.resources.map((resource) => resource.attributes['name']);
  }
}

type Attributes = Readonly<Record<string, unknown>>;

export class TestClient {
  readonly url: string;
  readonly #token: string | undefined;

  constructor(url: string, token: string | undefined) {
    this.url = url;
    this.#token = token;
  }

  as(token: string | undefined): TestClient {
    return new TestClient(this.url, token);
  }

  get(path: string): Promise<TestAnswer> {
    return this.send('GET', path);
  }

  post(path: string, body?: unknown): Promise<TestAnswer> {
    return this.send('POST', path, body);
  }

  patch(path: string, body?: unknown): Promise<TestAnswer> {
    return this.send('PATCH', path, body);
  }

  delete(path: string, body?: unknown): Promise<TestAnswer> {
    return this.send('DELETE', path, body);
  }

  /** `path` is below /api/v2; texts and bytes are sent unchanged. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<TestAnswer> {
    const response = await fetch(`${this.url}/api/v2${path}`, {
      method,
      headers: {
        ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/vnd.api+json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isSentAsIs(body) ? body : JSON.stringify(body) }),
    });
    return new TestAnswer(response.status, response.headers, await response.text());
  }

  /** Sends the creation of a workspace of `acme`, which may be refused. */
  create(attributes: Attributes, relationships: Attributes = {}): Promise<TestAnswer> {
    return this.post('/organizations/acme/workspaces', workspaceBody(attributes, relationships));
  }

  /** Creates a workspace. @returns its id; @throws if that is refused */
  async created(attributes: Attributes, relationships: Attributes = {}): Promise<string> {
    const answer = await this.create(attributes, relationships);
    if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${answer.text}`);
    return answer.resource.id;
  }

  update(id: string, attributes: Attributes, relationships: Attributes = {}): Promise<TestAnswer> {
    return this.patch(`/workspaces/${id}`, workspaceBody(attributes, relationships));
  }

  async attributes(id: string): Promise<Attributes> {
    return (await this.get(`/workspaces/${id}`)).resource.attributes;
  }
}

function isSentAsIs(body: unknown): body is string | Buffer<ArrayBuffer> {
  return typeof body === 'string' || Buffer.isBuffer(body);
}

export function workspaceBody(attributes: Attributes, relationships: Attributes = {}): unknown {
  return { data: { type: 'workspaces', attributes, relationships } };
}

/** The relationship with bindings of these tags. */
export function bindings(tags: Readonly<Record<string, unknown>>): Attributes {
  const data = Object.entries(tags).map(([key, value]) => ({
    type: 'tag-bindings',
    attributes: { key, value },
  }));
  return { 'tag-bindings': { data } };
}

/** The body with identifiers of these workspaces, or of objects of another type. */
export function identifiers(ids: readonly string[], type = 'workspaces'): unknown {
  return { data: ids.map((id) => ({ type, id })) };
}

/** ann is an owner, bob has the workspaces that a test gives him, eve owns another organization. Tokens are the names of users. */
export const SEED: Seed = {
  users: [
    { username: 'ann', email: 'ann@example.com', token: 'ann' },
    { username: 'bob', token: 'bob' },
    { username: 'eve', token: 'eve' },
  ],
  organizations: [
    {
      name: 'acme',
      token: 'acme-organization',
      projects: [
        { name: 'platform', id: 'prj-platform', 'tag-bindings': { tier: 'gold', env: 'shared' } },
        { name: 'sandbox', id: 'prj-sandbox', 'auto-destroy-activity-duration': '7d' },
      ],
      'agent-pools': [{ name: 'builders', id: 'apool-builders' }],
      'ssh-keys': [{ name: 'deploy', id: 'sshkey-deploy' }],
      'oauth-tokens': [
        { id: 'ot-git', name: 'git', 'service-provider': 'github', 'http-url': 'https://git.example.com/' },
        { id: 'ot-other' },
      ],
      'vcs-app-installations': [{ id: 'ghain-app' }],
      teams: [
        { name: 'owners', members: ['ann'] },
        { name: 'managers', token: 'managers', 'manage-workspaces': true },
        { name: 'readers', token: 'readers', 'read-workspaces': true },
        { name: 'platform-admins', token: 'platform-admins', 'project-access': { platform: 'admin' } },
      ],
    },
    {
      name: 'rival',
      projects: [{ name: 'theirs', id: 'prj-theirs' }],
      'agent-pools': [{ name: 'theirs', id: 'apool-theirs' }],
      'ssh-keys': [{ name: 'theirs', id: 'sshkey-theirs' }],
      'oauth-tokens': [{ id: 'ot-theirs' }],
      teams: [{ name: 'owners', members: ['eve'] }],
    },
  ],
};

/** A clock that moves by a second at each read, so that no two writes have the same time. */
export function tickingClock(): () => Date {
  let time = Date.parse('2026-01-01T00:00:00Z');
  return () => {
    time += 1000;
    return new Date(time);
  };
}

type AcmeSeed = NonNullable<Seed['organizations']>[number];

/** SEED with further members of `acme`: settings are replaced, lists are appended. */
export function seedWith(more: Partial<AcmeSeed>): Seed {
  const [acme, ...others] = SEED.organizations ?? [];
  const merged = Object.fromEntries(
    Object.entries({ ...acme, ...more }).map(([key, value]) => {
      const before: unknown = acme?.[key as keyof AcmeSeed];
      return [key, Array.isArray(before) && value !== before ? [...before, ...(value as unknown[])] : value];
    }),
  ) as unknown as AcmeSeed;
  return { ...SEED, organizations: [merged, ...others] };
}

/** Starts the service. @returns a client with the token of ann, an owner */
export async function serveForTest(options: Partial<ServerOptions> = {}): Promise<TestClient> {
  const server = await startServer({ data: ':memory:', seed: SEED, relaxed: true, ...options });
  onTestFinished(() => server.close());
  return new TestClient(server.url, 'ann');
}
