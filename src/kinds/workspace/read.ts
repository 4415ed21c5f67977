/**
 * Reads the workspaces of an organization: the shared list, and what it cannot carry, for those workspaces only that
 * the stack has to do with (rules 8, 9).
 */
import { type Address, formatAddress, parseAddress } from '../../model/resource/address.ts';
import { isJsonObject, type Json } from '../../model/json/json.ts';
import { type LiveSet, noResources, type Session, type ReadRequest } from '../../model/kind/kind.ts';
import type { Spec } from '../../model/resource/resource.ts';
import { WireError } from '../../model/wire.ts';
import { listWorkspaces, type WorkspaceList } from '../../services/workspaces/list-workspaces.ts';
import {
  belongs,
  readWorkspace,
  readWorkspaceAnywhere,
  readWorkspaceWithTags,
  unread,
} from '../../services/workspaces/read-workspace.ts';
import { relatedId, type WorkspaceItem } from '../../services/workspaces/workspace-item.ts';
import { enforcesAssessments } from '../../services/workspaces/read-organization.ts';
import { fields } from './fields.ts';
import { predictCreations } from './predict-creations.ts';
import { liveWorkspace } from './live-workspace.ts';
import { wantsNone } from './prepare/prepare-assessments.ts';
import { readRetention } from './retention.ts';
import type { WorkspaceSpec } from './schema.ts';
import type { LiveWorkspace } from './workspace-types.ts';

type Wanted = ReadRequest<WorkspaceSpec>;

/** A service that cannot be reached throws; whatever it answers is told in the set. */
export async function read(session: Session, wanted: Wanted): Promise<LiveSet<LiveWorkspace>> {
  const list = await listWorkspaces(session);
  if (list.unread !== undefined) return { ...noResources, unread: list.unread };
  const missing = await readMissing(session, list, wanted);
  const ours = stackConcern(wanted);
  const items = [...list.items, ...missing.items];
  const looked = await Promise.all(items.map((item) => lookAt(session, list, { item, ours: ours(item) })));
  const looks = await withEnforcement(session, wanted, looked);
  const resources = looks.map(({ live }) => live);
  const creations = await predictCreations(session, wanted, resources);
  const unseen = looks.flatMap(({ live, incomplete: [why] }) =>
    why === undefined ? [] : [[formatAddress(live.address), why] as const],
  );
  return {
    resources,
    unseen: new Map([...missing.unseen, ...unseen]),
    ...(missing.elsewhere.length === 0 ? {} : { elsewhere: new Map(missing.elsewhere) }),
    ...creations,
    ...(list.total === undefined ? {} : { total: list.total }),
    incomplete: [...list.incomplete, ...missing.incomplete, ...looks.flatMap(({ incomplete }) => incomplete)],
    invisible: invisibleFields(wanted, resources),
    notes: list.notes,
  };
}

/** @throws WireError when the service answers neither the workspace nor that there is none */
export async function readOne(
  session: Session,
  address: Address,
  id?: string,
): Promise<LiveWorkspace | undefined> {
  const found = await readWorkspaceWithTags(session, address.name, id);
  if (found === undefined) return undefined;
  const answer = await readRetention(session, found.item);
  if (answer.policy === undefined) throw unread({ method: 'GET', url: found.item.name }, answer.problem);
  return liveWorkspace(address, { ...found, retention: answer.policy });
}

/** @returns why the workspace, of whose id there is none, is not certainly gone: by its name it is still found */
export async function doubtGone(
  session: Session,
  { name }: Address,
  id?: string,
): Promise<string | undefined> {
  const named = await readWorkspace(session, name);
  if (named === undefined || named.id !== id) return undefined;
  return `workspace "${name}" was not read: it is found by its name, and answers by its id that there is none`;
}

/**
 * Workspaces that the ledger knows and the list lacks: a list can miss one that is renamed while it is read (rule 8).
 * One that cannot be read is not absent, unless another one bears its name by now (rule 39).
 */
async function readMissing(session: Session, list: WorkspaceList, { records }: Wanted) {
  const missing = [...records].flatMap(([text, { id }]) =>
    id === undefined || list.byId.has(id) ? [] : [{ text, id }],
  );
  const looks = await Promise.all(
    missing.map(async ({ text, id }) => ({ text, ...(await readById(session, id)) })),
  );
  return {
    items: looks.flatMap(({ item }) => item ?? []),
    incomplete: looks.flatMap(({ unread }) => unread ?? []),
    elsewhere: looks.flatMap(({ text, elsewhere }) =>
      elsewhere === undefined ? [] : [[text, elsewhere] as const],
    ),
    unseen: looks.flatMap(({ text, unread }) =>
      unread === undefined || list.byName.has(parseAddress(text).name) ? [] : [[text, unread] as const],
    ),
  };
}

interface ById {
  readonly item?: WorkspaceItem;
  /** why nobody knows whether it is there */
  readonly unread?: string;
  /** a workspace that is elsewhere is none of this target's, and a ledger that knows it knows another place */
  readonly elsewhere?: string;
}

async function readById(session: Session, id: string): Promise<ById> {
  try {
    const item = await readWorkspaceAnywhere(session, id);
    if (item === undefined || (await belongs(session, item))) return item === undefined ? {} : { item };
    const home = relatedId(item, 'organization');
    const where =
      home === null
        ? `not in organization "${session.target.organization ?? ''}"`
        : `in organization "${home}"`;
    return { elsewhere: `the workspace "${item.name}" (${id}) is ${where}` };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { unread: `a workspace that the ledger knows was not read: ${error.message}` };
  }
}

/** Whether a workspace is declared, was declared under its present name, stands in the ledger, or is asked for by name. */
function stackConcern({ declared, records, undeclared }: Wanted): (item: WorkspaceItem) => boolean {
  const names = new Set(
    declared.flatMap(({ address, metadata }) => [address.name, metadata.renamedFrom ?? []].flat()),
  );
  const ids = new Set([...records.values()].map(({ id }) => id));
  return ({ id, name }) => names.has(name) || ids.has(id) || undeclared?.(name) === true;
}

/** What the organization enforces is asked only where it may stand against a manifest: for all others it says nothing new. */
async function withEnforcement(
  session: Session,
  { declared, records, record }: Wanted,
  looks: readonly WorkspaceReading[],
): Promise<readonly WorkspaceReading[]> {
  const against = declared.filter(({ address, spec }) => wantsNone(spec, record(address)));
  const concerned = stackConcern({ declared: against, records: recordsOf(against, records), record });
  const isMeant = ({ live, item }: WorkspaceReading) =>
    live.spec.assessmentsEnabled === true && concerned(item);
  if (!looks.some(isMeant) || !(await enforcesAssessments(session))) return looks;
  return looks.map((look) => {
    const { live } = look;
    return isMeant(look)
      ? { ...look, live: { ...live, facts: { ...live.facts, assessmentsEnforced: true } } }
      : look;
  });
}

function recordsOf(declared: Wanted['declared'], records: Wanted['records']): Wanted['records'] {
  const known = new Set(declared.map(({ address }) => formatAddress(address)));
  return new Map([...records].filter(([text]) => known.has(text)));
}

interface WorkspaceReading {
  readonly item: WorkspaceItem;
  readonly live: LiveWorkspace;
  readonly incomplete: readonly string[];
}

async function lookAt(
  session: Session,
  list: WorkspaceList,
  { item, ours }: { item: WorkspaceItem; ours: boolean },
): Promise<WorkspaceReading> {
  const address = { kind: 'Workspace', target: session.target.name, name: item.name };
  const tagged = list.hasTags || ours || list.claimed.has(item.id);
  const [tags, retention] = await Promise.all([
    tagged ? list.tagsOf(item) : undefined,
    ours ? readRetention(session, item) : undefined,
  ]);
  const problems = [tags, retention].flatMap((answer) =>
    answer && 'problem' in answer ? [answer.problem] : [],
  );
  return {
    item,
    live: liveWorkspace(address, { item, tags: tags?.tags, retention: retention?.policy }),
    incomplete: problems,
  };
}

/** Declared fields that no answer holds (rule 12). */
function invisibleFields({ declared }: Wanted, resources: readonly LiveWorkspace[]): string[] {
  const live = new Map(
    resources.map((resource) => [formatAddress(resource.address), resource.spec] as const),
  );
  const unseen = declared.flatMap(({ address, spec }) => {
    const seen = live.get(formatAddress(address));
    if (seen === undefined) return [];
    const found: Spec = seen;
    const top = Object.keys(spec).filter((name) => isLiveField(name) && found[name] === undefined);
    return [...top, ...unseenMembers(spec.vcsRepo, seen.vcsRepo)];
  });
  return [...new Set(unseen)];
}

function isLiveField(name: string): boolean {
  return fields[name] !== undefined && fields[name].local !== true;
}

function unseenMembers(declared: Json | undefined, seen: Json | undefined): string[] {
  if (!isJsonObject(declared) || !isJsonObject(seen)) return [];
  return Object.keys(declared).flatMap((name) => (seen[name] === undefined ? [`vcsRepo.${name}`] : []));
}
