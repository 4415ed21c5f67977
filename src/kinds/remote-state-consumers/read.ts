/**
 * Reads the consumers of the workspaces that a document or the ledger names, or that the plan deletes, as edges from name to id.
 * It sends one request for each hundred consumers, and none for a state that is shared with all, because then the service would
 * list the whole organization.
 */
import { encodeBrackets, type Pages, readPages } from '../../api/read-pages.ts';
import {
  listWorkspaces,
  type MatchedChild,
  matchChildren,
  type WorkspaceList,
} from '../../api/workspaces/list-workspaces.ts';
import { readWorkspaceWithTags, unread } from '../../api/workspaces/read-workspace.ts';
import {
  asWorkspaceItem,
  limits,
  rightsOf,
  type WorkspaceItem,
  workspaceOf,
} from '../../api/workspaces/workspace.ts';
import { type BoundTags, ownershipFromTag } from '../../api/workspaces/tag-bindings.ts';
import { type Address, formatAddress } from '../../model/address.ts';
import { describeAnswer } from '../../model/http.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import { type LiveSet, noResources, type ReadRequest, type Session } from '../../model/kind.ts';
import type { LedgerRecord } from '../../model/ledger.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { LiveResource } from '../../model/resource.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

export function edgesOf(value: Json | undefined): ReadonlyMap<string, string> {
  if (!isJsonObject(value)) return new Map();
  return new Map(Object.entries(value).map(([name, id]) => [name, String(id)]));
}

/** The edges that this stack has added, according to the ledger. */
export function recordedEdges(record: Pick<LedgerRecord, 'marks'> | undefined): ReadonlyMap<string, string> {
  const { edges } = record?.marks ?? {};
  return edgesOf(edges);
}

export function consumersOf({ consumers }: RemoteStateConsumersSpec): readonly string[] {
  return Array.isArray(consumers) ? consumers.map(String) : [];
}

/** `global` and `project`: whether the state is shared with the whole organization or project; `edges` only if neither is. */
type ConsumerFacts = {
  readonly global?: boolean;
  readonly project?: boolean;
  readonly edges?: Edges;
  /** the service has no consumers, so it is unknown which workspaces read the state */
  readonly readersUnknown?: true;
};

/** The consumers of a state by name; absent if the state is shared with all. */
export type LiveConsumers = LiveResource<{ readonly consumers?: readonly string[] }, ConsumerFacts>;

/** Consumers by name, each with its id. */
type Edges = Readonly<Record<string, string>>;

type EdgesAnswer =
  | { readonly edges: Edges; readonly note?: string }
  /** `missing`: the service returns 404 for this path */
  | { readonly edges?: never; readonly problem: string; readonly missing?: true };

/**
 * Whether a state is shared with the whole organization or project: the service then lists all their workspaces, and none of
 * them is an edge.
 * Sharing with the project is not in the specification; real services have it (wire/workspaces 1.5.3).
 */
function sharedWith({ attributes }: WorkspaceItem): 'organization' | 'project' | undefined {
  if (attributes['global-remote-state'] === true) return 'organization';
  return attributes['project-remote-state'] === true ? 'project' : undefined;
}

/** @throws WireError when the service cannot be reached */
async function readEdges(session: Session, item: WorkspaceItem): Promise<EdgesAnswer> {
  const pages = await readPages(session.reader, pathOf(item));
  const { missing = 0 } = pages;
  if (!pages.complete && missing === 0) {
    const isMissing = typeof pages.problem === 'object' && pages.problem.status === 404;
    return { problem: whyUnread(item, pages), ...(isMissing ? { missing: true } : {}) };
  }
  const consumers = pages.items.flatMap((document) => asWorkspaceItem(document) ?? []);
  const given = pages.items.length;
  const nameless = given - consumers.length;
  if (nameless > 0) {
    const have = nameless === 1 ? 'has' : 'have';
    return { problem: `${notAllRead(item)}: ${nameless} of ${given} in the list ${have} no name` };
  }
  const edges = Object.fromEntries(consumers.map(({ name, id }) => [name, id] as const));
  return { edges, ...(missing > 0 ? { note: unreadableNote(item, missing) } : {}) };
}

/**
 * Whether the service returns 404 for the consumers. Requests only one of them: a state that is shared with all has as many
 * consumers as the organization has workspaces.
 * @throws WireError when the service cannot be reached
 */
async function lacksEdges(session: Session, item: WorkspaceItem): Promise<boolean> {
  const { status } = await session.reader.get(encodeBrackets(`${pathOf(item)}?page[size]=1`));
  return status === 404;
}

function pathOf({ id }: WorkspaceItem): string {
  return `/workspaces/${encodeURIComponent(id)}/relationships/remote-state-consumers`;
}

/** The note about consumers that the service counts but does not show: unknown edges are never removed. */
function unreadableNote({ name }: WorkspaceItem, count: number): string {
  const subject = count === 1 ? 'it is' : 'they are';
  return `${counted(count, 'consumer')} of workspace ${quoted(name)} cannot be read with this token: ${subject} left alone`;
}

function whyUnread(item: WorkspaceItem, { problem }: Pages): string {
  return `${notAllRead(item)}: ${typeof problem === 'object' ? describeAnswer(problem) : problem}`;
}

function notAllRead({ name }: WorkspaceItem): string {
  return `the remote state consumers of workspace ${quoted(name)} were not all read`;
}

const KIND = 'RemoteStateConsumers';

/** @throws WireError when the service cannot be reached; a refusal becomes part of the result */
export async function read(session: Session, request: ReadRequest): Promise<LiveSet<LiveConsumers>> {
  const list = await listWorkspaces(session);
  const child = { kind: KIND, target: session.target.name };
  const isPlannedDeletion = (name: string) =>
    request.isPlannedDeletion?.(workspaceOf({ ...child, name })) === true;
  const undeclared = (name: string) => request.undeclared?.(name) === true || isPlannedDeletion(name);
  const placed = matchChildren(list, { ...request, undeclared }, child);
  if (list.unread !== undefined) return { ...noResources, unread: list.unread };
  const readings = await Promise.all(
    placed.map(async (child) => {
      const { item } = child;
      // No extra request: the workspace itself is read with the same tags.
      const [answer, found] = await Promise.all([
        readConsumers(session, child),
        list.hasTags || list.tagged.has(item.id) ? list.tagsOf(item) : undefined,
      ]);
      const { live, ...rest } = withGranted(answer, child, request.records);
      return { child, address: child.address, ...rest, ...(live && { live: ownerOf(live, found?.tags) }) };
    }),
  );
  const readAt = new Map(readings.map(({ address, live }) => [formatAddress(address), live] as const));
  const mustAsk = request.declared.some(({ address }) => {
    const text = formatAddress(address);
    return !readAt.has(text) || readAt.get(text)?.facts.global === true;
  });
  if (await lacksConsumers(session, readings, { list, mustAsk, records: request.records }))
    return withoutConsumers(list.incomplete, readings, isPlannedDeletion);
  const unseen = readings.flatMap(({ address, incomplete }) =>
    incomplete === undefined ? [] : [[formatAddress(address), incomplete] as const],
  );
  return {
    unseen: new Map(unseen),
    resources: readings.flatMap(({ live }) => live ?? []),
    incomplete: [...list.incomplete, ...readings.flatMap(({ incomplete }) => incomplete ?? [])],
    invisible: [],
    notes: readings.flatMap(({ note }) => note ?? []),
    // If there is any workspace, some of them were asked.
    ...(list.items.length > 0 ? {} : { unverified: true }),
  };
}

function hasRecordedEdges(records: ReadRequest['records'], ids: ReadonlySet<string>): boolean {
  return [...records.values()].some((record) => recordedEdges(record).size > 0 && ids.has(record.id ?? ''));
}

/**
 * Whether the service has no consumers: each workspace that was asked returns 404, and at least two do, because a single 404 may
 * be about that workspace alone. If none was asked, because those with consumers are yet to be created, others are asked before
 * anything is written. Edges in the ledger prove that the service had consumers: then they were merely not read.
 */
async function lacksConsumers(
  session: Session,
  readings: readonly ConsumersReading[],
  { list, mustAsk, records }: AskedOf,
): Promise<boolean> {
  const asked = readings.filter(({ live }) => live === undefined || live.facts.edges !== undefined);
  if (asked.some(({ missing }) => missing !== true) || (asked.length === 0 && !mustAsk)) return false;
  const askedIds = new Set(asked.map(({ child }) => child.item.id));
  if (hasRecordedEdges(records, askedIds)) return false;
  const isShared = (item: WorkspaceItem) => sharedWith(item) !== undefined;
  const unasked = list.items.filter(({ id }) => !askedIds.has(id));
  // A workspace that is shared with all returns all others, so it is asked last.
  const others = [...unasked.filter((item) => !isShared(item)), ...unasked.filter(isShared)].slice(
    0,
    Math.max(0, 2 - asked.length),
  );
  // The only workspace is asked twice.
  const samples = asked.length + others.length > 1 ? others : list.items.slice(0, 1);
  const missing = await Promise.all(samples.map((item) => isMissing(session, item)));
  return asked.length + others.length > 0 && missing.every((is) => is);
}

/** If consumers that this stack added cannot be read, the reason says who may still read the state, and how to end that. */
function withGranted(
  answer: ConsumersAnswer,
  { item }: MatchedChild,
  records: ReadRequest['records'],
): ConsumersAnswer {
  const record = [...records.values()].find(({ id }) => id === item.id);
  const granted = [...recordedEdges(record).keys()].map(quoted);
  if (answer.missing !== true || answer.incomplete === undefined || granted.length === 0) return answer;
  const who = `by the ledger, ${granted.toSorted().join(', ')} may still read its state`;
  const fix =
    'if the service no longer has consumers, make sure that nobody has this access, move the ledger away and run "trueup recover"';
  return { ...answer, incomplete: `${answer.incomplete}; ${who}; ${fix}` };
}

interface AskedOf {
  readonly list: WorkspaceList;
  /** a declared list has not been asked for: so other workspaces are asked, if none was */
  readonly mustAsk: boolean;
  readonly records: ReadRequest['records'];
}

function isMissing(session: Session, item: WorkspaceItem): Promise<boolean> {
  return session.once(`no consumers of ${item.id}`, () => lacksEdges(session, item));
}

/** The set of a service that has no consumers: none can be declared, and planned deletions say that the readers are unknown. */
function withoutConsumers(
  incomplete: readonly string[],
  readings: readonly ConsumersReading[],
  isPlannedDeletion: (name: string) => boolean,
): LiveSet<LiveConsumers> {
  const deleted = readings.filter(({ child }) => isPlannedDeletion(child.address.name));
  return {
    resources: deleted.map(({ child: { address, item } }) => ({
      ...{ address, id: item.id, evidence: {}, ...rightsOf(item) },
      ...{ spec: {}, facts: { readersUnknown: true } },
    })),
    incomplete,
    invisible: [],
    notes: [],
    limits: [limits.consumers],
    unsupported: {
      code: 'no-consumers',
      class: 'invalid',
      message: 'the service has no remote state consumers',
      fix: 'remove the list: this service cannot store it',
    },
  };
}

/** @throws WireError when the consumers of the workspace could not be read */
export async function readOne(
  session: Session,
  address: Address,
  id?: string,
): Promise<LiveConsumers | undefined> {
  const found = await readWorkspaceWithTags(session, address.name, id);
  if (found === undefined) return undefined;
  const { live, incomplete = '' } = await readConsumers(session, { address, item: found.item });
  if (live !== undefined) return ownerOf(live, found.tags);
  throw unread({ method: 'GET', url: address.name }, incomplete);
}

/** The consumers with the ownership tag of their workspace, which says which stack may change them. */
function ownerOf(live: LiveConsumers, tags: BoundTags | undefined): LiveConsumers {
  return { ...live, evidence: ownershipFromTag(tags) };
}

interface ConsumersAnswer {
  readonly missing?: true;
  readonly live?: LiveConsumers;
  readonly incomplete?: string;
  readonly note?: string;
}

type ConsumersReading = ConsumersAnswer & { readonly child: MatchedChild };

async function readConsumers(session: Session, { address, item }: MatchedChild): Promise<ConsumersAnswer> {
  const base = { address, id: item.id, evidence: {}, ...rightsOf(item) };
  const shared = sharedWith(item);
  if (shared !== undefined) {
    const facts = { global: shared === 'organization', project: shared === 'project' };
    return { live: { ...base, spec: {}, facts } };
  }
  const answer = await readEdges(session, item);
  if (answer.edges === undefined)
    return { incomplete: answer.problem, ...(answer.missing ? { missing: answer.missing } : {}) };
  const { edges, note } = answer;
  const live = {
    ...base,
    spec: { consumers: Object.keys(edges) },
    facts: { global: false, edges },
  };
  return { live, ...(note === undefined ? {} : { note }) };
}
