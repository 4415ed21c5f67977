/** What the target of a new stack has: places, resources, their owners, and the rights of the token. Sends only what a plan may send. */
import { mountName, mountSegments } from '../../api/cluster-auth-mount.ts';
import { organizationAnswer } from '../../api/workspaces/organization.ts';
import { readPages } from '../../api/read-pages.ts';
import { describeAnswer, type Reader, WireError } from '../../model/http.ts';
import { isJsonObject, memberOf } from '../../model/json.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { LiveResource } from '../../model/resource.ts';
import type { ExportReading } from '../../run/export/read.ts';

export interface Overview {
  readonly target: string;
  /** texts with their subjects, such as `workspaces` and `2: 1 without an owner, 1 claimed by stack "other"` */
  readonly facts: readonly Fact[];
  /** the number of resources by kind, without children */
  readonly resources: Readonly<Record<string, number>>;
  /** the number of parents that an export would write */
  readonly unowned: number;
  /** the number of resources with an owner, by a clause about the owner */
  readonly owned: Readonly<Record<string, number>>;
  /** why something could not be read, as sentences */
  readonly unread: readonly string[];
}

interface Fact {
  readonly about: string;
  readonly is: string;
}

/** @throws WireError when the target cannot be reached */
export async function describeTarget(reading: ExportReading): Promise<Overview> {
  const { connected, parents, sets, leftOut } = reading;
  const { target } = connected;
  const isOfWorkspaces = target.service === 'workspaces';
  return {
    target: target.name,
    facts: await (isOfWorkspaces ? describeOrganization(reading) : describeMount(reading)),
    resources: Object.fromEntries([...sets].map(([kind, set]) => [kind, set.resources.length])),
    unowned: unownedOf(parents).length,
    owned: Object.fromEntries(leftOut),
    unread: [...new Set([...sets.values()].flatMap(({ incomplete }) => incomplete))],
  };
}

async function describeOrganization(reading: ExportReading): Promise<Fact[]> {
  const { session, sets } = reading;
  const resources = sets.get('Workspace')?.resources ?? [];
  const answer = await organizationAnswer(session);
  const attributes = memberOf(memberOf(answer?.body, 'data'), 'attributes');
  const mayCreate = memberOf(memberOf(attributes, 'permissions'), 'can-create-workspace');
  return [
    { about: 'organizations', is: await organizationsText(session.reader) },
    { about: 'workspaces', is: ownersText(reading, resources.length) },
    { about: 'token', is: rightsText(resources, mayCreate) },
  ];
}

/** The names of the organizations that a token sees. @throws WireError when the service cannot be reached */
export async function listOrganizations(
  reader: Reader,
): Promise<{ readonly names: readonly string[]; readonly problem?: string }> {
  const { items, problem } = await readPages(reader, '/organizations');
  const names = items.flatMap(({ attributes, id }) => {
    const name = memberOf(attributes, 'name') ?? id;
    return typeof name === 'string' ? [name] : [];
  });
  if (problem === undefined) return { names };
  return { names, problem: typeof problem === 'string' ? problem : describeAnswer(problem) };
}

async function organizationsText(reader: Reader): Promise<string> {
  const { names, problem } = await listOrganizations(reader);
  if (problem !== undefined) return 'not known, because the token cannot list them';
  return names.length === 0 ? 'none that this token sees' : `${names.length}: ${quoteSome(names)}`;
}

/** The parents that an export may write. The default project is left out, because it belongs to all stacks. */
function unownedOf(parents: ExportReading['parents']): LiveResource[] {
  return [...parents.values()].filter(({ facts }) => facts['isDefault'] !== true);
}

function ownersText({ sets, parents, leftOut }: ExportReading, count: number): string {
  if (count === 0) return isWhole(sets) ? 'none' : 'not known';
  const unowned = unownedOf(parents).filter(({ address }) => address.kind === 'Workspace').length;
  const parts = [`${unowned} without an owner`, ...[...leftOut].map(([why, some]) => `${some} ${why}`)];
  return `${count}: ${parts.join(', ')}`;
}

function isWhole(sets: ExportReading['sets']): boolean {
  return [...sets.values()].every(({ incomplete }) => incomplete.length === 0);
}

/** The rights that usual plans need, with what they allow. */
const usualRights: Readonly<Record<string, string>> = {
  'can-update': 'update',
  'can-manage-tags': 'change the tags of',
  'can-destroy': 'delete',
};

function rightsText(resources: readonly LiveResource[], mayCreate: unknown): string {
  const known = resources.flatMap(({ rights }) => (rights === undefined ? [] : [rights]));
  const create =
    mayCreate === true ? ['may create workspaces'] : mayCreate === false ? ['may not create workspaces'] : [];
  const parts = Object.entries(usualRights).map(([right, does]) => {
    const able = known.filter((rights) => rights[right] === true).length;
    return `${does} ${able} of ${known.length}`;
  });
  const own = known.length === 0 ? [] : [`may ${parts.join(', ')}`];
  const all = [...create, ...own];
  return all.length === 0 ? 'what it may do is not known' : all.join('; ');
}

async function describeMount(reading: ExportReading): Promise<Fact[]> {
  const { session, sets } = reading;
  const { owns = ['*'] } = session.target;
  const names = owns.includes('*') ? 'the stack owns all names' : `the stack owns ${owns.join(', ')}`;
  const counts = [...sets].map(([kind, { resources }]) => `${resources.length} ${kind}`);
  return [
    { about: 'mounts', is: await mountsText(reading) },
    { about: 'resources', is: isWhole(sets) ? `${counts.join(', ')}; ${names}` : `not known; ${names}` },
    { about: 'token', is: await mountRightsText(reading) },
  ];
}

/** The mounts of this method, or why this token cannot list them. */
async function mountsText({ session }: ExportReading): Promise<string> {
  const own = quoted(mountName(session.target, session.dialect));
  const type = session.dialect.mountType ?? 'cluster';
  try {
    const answer = await session.reader.get('/sys/auth');
    const data = memberOf(answer.body, 'data') ?? answer.body;
    if (answer.status !== 200 || !isJsonObject(data)) return `${own}; this token may not list the others`;
    const names = Object.keys(data)
      .filter((path) => memberOf(data[path], 'type') === type)
      .map((path) => path.replace(/\/$/, ''));
    return `${names.length} of type ${quoted(type)}: ${quoteSome(names)}`;
  } catch (error) {
    if (error instanceof WireError) return `${own}; the others could not be listed: ${error.message}`;
    throw error;
  }
}

/** In the order in which the text names them. */
const capabilities = ['read', 'list', 'create', 'update', 'delete', 'root', 'sudo', 'deny'];

async function mountRightsText({ session, connected }: ExportReading): Promise<string> {
  const { target, dialect } = session;
  const path = (...below: readonly string[]) => mountSegments(target, dialect, ...below).join('/');
  const asked = new Map([
    ['config', path('config')],
    ...(target.owns ?? ['*']).map((pattern) => [`role ${pattern}`, path('role', pattern)] as const),
  ]);
  const rights = await connected.connection.askRights?.([...asked.values()]);
  if (rights?.is !== 'known') return 'what it may do is not known: it may not ask the service';
  const parts = [...asked].map(([name, at]) => {
    const found = rights.on.get(at) ?? new Set<string>();
    const may = capabilities.filter((capability) => found.has(capability));
    return `${name}: ${may.length === 0 || found.has('deny') ? 'nothing' : may.join(', ')}`;
  });
  return parts.join('; ');
}
