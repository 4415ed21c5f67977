/**
 * Sends the requests of a transcript to a new service, in order, as the client sent them. Ids, links and tokens of recorded
 * responses are replaced by those of our responses in later requests.
 */
import { createHash } from 'node:crypto';
import type { Seed } from '../../../../src/server/seed/seed-schema.ts';
import { startService } from '../../rig/embedded-service.ts';
import type { Exchange } from './transcript.ts';

export interface Replayed {
  readonly recorded: Exchange;
  readonly answered: { readonly status: number; readonly headers: Headers; readonly text: string };
}

export async function replay(exchanges: readonly Exchange[], edition: string): Promise<Replayed[]> {
  const server = await startService({
    dialects: ['hcp-terraform'],
    edition,
    relaxed: true,
    seed: seedOf(exchanges),
  });
  try {
    const ours = new Map<string, string>();
    const replayed: Replayed[] = [];
    for (const [index, recorded] of exchanges.entries()) {
      const answered = await send(server.url, prepare(exchanges, index), ours);
      learn(ours, recorded.answer.body, parsed(answered.text));
      replayed.push({ recorded, answered });
    }
    return replayed;
  } finally {
    await server.close();
  }
}

const ID = /\b(?:ws|prj|sshkey|apool|sv|cv|run|plan|apply|tag|tb|ot|oc|at|wsout|drp)-[0-9]{16}\b/g;
const ORGANIZATION = /^\/api\/v2\/organizations\/([\w-]+)/;

/** The user, their organization, and the workspaces that existed before the first request. */
function seedOf(exchanges: readonly Exchange[]): Seed {
  const named = exchanges.flatMap(({ request }) => ORGANIZATION.exec(request.path)?.[1] ?? []);
  const made = exchanges.flatMap(({ request }) =>
    request.method === 'POST' && request.path === '/api/v2/organizations'
      ? [String(attributesOf(request.body)['name'])]
      : [],
  );
  const names = new Set(named.filter((name) => !made.includes(name)));
  const [first = 'elsewhere', ...others] = names;
  // An audit trail is read with the token of an organization.
  const isOrganization = exchanges.every(
    ({ request }) => request.path === '/api/v2/organization/audit-trail',
  );
  const ann = { username: 'ann', email: 'ann@example.com' };
  return {
    users: [isOrganization ? ann : { ...ann, token: 'TOKEN' }],
    organizations: [
      {
        name: first,
        ...(isOrganization ? { token: 'TOKEN' } : {}),
        teams: [{ name: 'owners', members: ['ann'] }],
        workspaces: workspacesBefore(exchanges),
        projects: projectsBefore(exchanges).map((id) => ({ id, name: id })),
      },
      ...others.map((name) => ({ name, teams: [{ name: 'owners', members: ['ann'] }] })),
    ],
  };
}

function workspacesBefore(exchanges: readonly Exchange[]) {
  const made = new Set<string>();
  const before = new Map<string, string>();
  for (const { request, answer } of exchanges) {
    const isCreate = request.method === 'POST' && answer.status === 201;
    const answered = idsIn(answer.body);
    for (const id of [...idsIn([request.path, request.body]), ...(isCreate ? [] : answered)]) {
      if (id.startsWith('ws-') && !made.has(id) && !before.has(id))
        before.set(id, nameOf(exchanges, id) ?? id);
    }
    for (const id of answered) made.add(id);
  }
  return [...before].map(([id, name]) => ({ id, name }));
}

/** Projects that clients named, although the other server has none. */
function projectsBefore(exchanges: readonly Exchange[]): string[] {
  const sent = JSON.stringify(exchanges.map(({ request }) => request.body ?? null));
  return [...new Set(sent.match(/\bprj-[0-9a-z]{16}\b/g) ?? [])];
}

function idsIn(value: unknown): string[] {
  return [...new Set(JSON.stringify(value ?? null).match(ID) ?? [])];
}

/** The first name of a workspace in a response. */
function nameOf(exchanges: readonly Exchange[], id: string): string | undefined {
  for (const { answer } of exchanges) {
    const { data } = (answer.body ?? {}) as { data?: unknown };
    const found = [data].flat().find((item) => (item as { id?: unknown } | undefined)?.id === id);
    const name = (found as { attributes?: { name?: unknown } } | undefined)?.attributes?.name;
    if (typeof name === 'string') return name;
  }
  return undefined;
}

interface Prepared {
  readonly request: Exchange['request'];
}

/** States were masked, so the MD5 of a new state version must be that of the masked state. */
function prepare(exchanges: readonly Exchange[], index: number): Prepared {
  const { request } = exchanges[index] as Exchange;
  if (!(request.method === 'POST' && request.path.endsWith('/state-versions'))) return { request };
  const attributes = { ...attributesOf(request.body) };
  const upload = exchanges
    .slice(index)
    .find((later) => later.request.method === 'PUT' && later.request.path.endsWith('/upload'));
  const state =
    upload === undefined ? '{"version":4,"serial":1,"resources":[]}' : JSON.stringify(upload.request.body);
  if ('state' in attributes) attributes['state'] = Buffer.from(state).toString('base64');
  if ('json-state-outputs' in attributes)
    attributes['json-state-outputs'] = Buffer.from('{}').toString('base64');
  attributes['md5'] = createHash('md5').update(state).digest('hex');
  const body = request.body as { data: object };
  return { request: { ...request, body: { data: { ...body.data, attributes } } } };
}

function attributesOf(body: unknown): Readonly<Record<string, unknown>> {
  return (body as { data?: { attributes?: Record<string, unknown> } } | undefined)?.data?.attributes ?? {};
}

async function send(
  url: string,
  { request }: Prepared,
  ours: ReadonlyMap<string, string>,
): Promise<Replayed['answered']> {
  const { method, headers } = request;
  const path = ours.get(request.path) ?? inOurs(request.path, ours);
  const query = request.query ? `?${inOurs(request.query, ours)}` : '';
  const sent = {
    'Content-Type': headers['Content-Type'],
    Accept: headers['Accept'],
    Authorization: headers['Authorization'],
  };
  const answer = await fetch(`${url}${path}${query}`, {
    method,
    headers: Object.fromEntries(
      Object.entries(sent).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    ...(request.body === undefined ? {} : { body: inOurs(JSON.stringify(request.body), ours) }),
    redirect: 'manual',
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

function inOurs(text: string, ours: ReadonlyMap<string, string>): string {
  return text.replaceAll(ID, (id) => ours.get(id) ?? id);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Records the values at the same place of both responses: ids, and the paths of signed links. */
function learn(ours: Map<string, string>, recorded: unknown, answered: unknown): void {
  if (typeof recorded === 'string' && typeof answered === 'string') {
    if (recorded.replace(ID, '') === '') ours.set(recorded, answered);
    const path = /^(?:https?:\/\/[^/]+)?(\/\S+)$/.exec(recorded)?.[1];
    if (path !== undefined && /^https?:/.test(answered)) ours.set(path, new URL(answered).pathname);
    return;
  }
  if (Array.isArray(recorded) && Array.isArray(answered)) {
    for (const [index, item] of recorded.entries())
      learn(ours, item, answered.find((other) => fits(item, other)) ?? answered[index]);
    return;
  }
  if (typeof recorded !== 'object' || typeof answered !== 'object' || recorded === null || answered === null)
    return;
  for (const [name, value] of Object.entries(recorded))
    learn(ours, value, (answered as Record<string, unknown>)[name]);
}

/** Whether two items of lists are the same object: they have the same name. */
function fits(recorded: unknown, answered: unknown): boolean {
  const [a, b] = [recorded, answered].map((item) => attributesOf({ data: item })['name']);
  return a !== undefined && a === b;
}
