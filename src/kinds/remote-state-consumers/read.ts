/**
 * Reads in parallel the consumers of the workspaces that a document or the ledger names, or that are to be deleted, as edges
 * from name to id: one request for each hundred consumers, none where the state is shared with all (rule 10).
 */
import { encodeBrackets, type Pages, readPages } from '../../api/read-pages.ts';
import {
  listWorkspaces,
  type MatchedPart,
  placeParts,
  type WorkspaceList,
} from '../../api/workspaces/list-workspaces.ts';
import { readWorkspaceWithTags, unread } from '../../api/workspaces/read-workspace.ts';
import { limits } from '../../api/workspaces/service-limits.ts';
import { type BoundTags, ownershipFromTag } from '../../api/workspaces/tag-bindings.ts';
import {
  asWorkspaceItem,
  rightsOf,
  type WorkspaceItem,
  workspaceOf,
} from '../../api/workspaces/workspace.ts';
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

// Reads the consumers of one workspace as edges, name to id. A workspace that shares with all has none to read (rule 10).

/** `global` and `project`: whether it is shared with all of the organization or project; `edges` only if with neither. */
type ConsumerFacts = {
  readonly global?: boolean;
  readonly project?: boolean;
  readonly edges?: Edges;
  /** the service has no consumers: nobody can tell who reads the state */
  readonly untold?: true;
};

/** The consumers of a state by name; absent where it is shared with all. */
export type LiveConsumers = LiveResource<{ readonly consumers?: readonly string[] }, ConsumerFacts>;

/** Consumers by name, each with its id. */
type Edges = Readonly<Record<string, string>>;

type EdgesAnswer =
  | { readonly edges: Edges; readonly note?: string }
  /** `missing`: the service answers that there is nothing at this path */
  | { readonly edges?: never; readonly problem: string; readonly missing?: true };

/**
 * With whom a state is shared as a whole: the service then lists all their workspaces, and none of them is an edge.
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
 * Whether the service answers that there is nothing where the consumers are. Asks for one of them: a workspace that is shared with
 * all has as many as the organization.
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

// Reads in parallel the consumers of the workspaces that a document or the ledger names, or that are to be deleted: one
// request for each hundred consumers, none where the state is shared with all, because then the service would list the
// whole organization (rule 10).

const KIND = 'RemoteStateConsumers';

/** @throws WireError when the service cannot be reached; all its answers are values of the set */
export async function read(session: Session, request: ReadRequest): Promise<LiveSet<LiveConsumers>> {
  const list = await listWorkspaces(session);
  const part = { kind: KIND, target: session.target.name };
  const isPlannedDeletion = (name: string) =>
    request.isPlannedDeletion?.(workspaceOf({ ...part, name })) === true;
  const undeclared = (name: string) => request.undeclared?.(name) === true || isPlannedDeletion(name);
  const placed = placeParts(list, { ...request, undeclared }, part);
  if (list.unread !== undefined) return { ...noResources, unread: list.unread };
  const readings = await Promise.all(
    placed.map(async (part) => {
      const { item } = part;
      // Free of charge: the workspace itself is read with the same tags.
      const [answer, found] = await Promise.all([
        readConsumers(session, part),
        list.hasTags || list.claimed.has(item.id) ? list.tagsOf(item) : undefined,
      ]);
      const { live, ...rest } = withGranted(answer, part, request.records);
      return { part, address: part.address, ...rest, ...(live && { live: ownerOf(live, found?.tags) }) };
    }),
  );
  const readAt = new Map(readings.map(({ address, live }) => [formatAddress(address), live] as const));
  const isAsked = request.declared.some(({ address }) => {
    const text = formatAddress(address);
    return !readAt.has(text) || readAt.get(text)?.facts.global === true;
  });
  if (await lacksConsumers(session, readings, { list, isAsked, records: request.records }))
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
    // Where there is any workspace, some of them were asked.
    ...(list.items.length > 0 ? {} : { unproven: true }),
  };
}

/**
 * Whether each workspace that was asked answers that there is nothing, and at least two of the list do: a single 404 may be about
 * that one alone. Where none was asked, because those with consumers are yet to be created, others are, before anything is
 * written. Edges in the ledger prove that the service had them: then they were not read (rule 39).
 */
async function lacksConsumers(
  session: Session,
  readings: readonly ConsumersReading[],
  { list, isAsked, records }: AskedOf,
): Promise<boolean> {
  const asked = readings.filter(({ live }) => live === undefined || live.facts.edges !== undefined);
  if (asked.some(({ missing }) => missing !== true) || (asked.length === 0 && !isAsked)) return false;
  const askedIds = new Set(asked.map(({ part }) => part.item.id));
  const known = [...records.values()].some(
    (record) => recordedEdges(record).size > 0 && askedIds.has(record.id ?? ''),
  );
  if (known) return false;
  const isShared = (item: WorkspaceItem) => sharedWith(item) !== undefined;
  const unasked = list.items.filter(({ id }) => !askedIds.has(id));
  // One that is shared with all lists all of them, so it is asked last.
  const others = [...unasked.filter((item) => !isShared(item)), ...unasked.filter(isShared)].slice(
    0,
    Math.max(0, 2 - asked.length),
  );
  // The only workspace is asked twice.
  const witnesses = asked.length + others.length > 1 ? others : list.items.slice(0, 1);
  const missing = await Promise.all(witnesses.map((item) => isMissing(session, item)));
  return asked.length + others.length > 0 && missing.every((is) => is);
}

/** Where the service does not answer for consumers that this stack added, the reason says who may still read, and what ends it. */
function withGranted(
  answer: ConsumersAnswer,
  { item }: MatchedPart,
  records: ReadRequest['records'],
): ConsumersAnswer {
  const record = [...records.values()].find(({ id }) => id === item.id);
  const granted = [...recordedEdges(record).keys()].map(quoted);
  if (answer.missing !== true || answer.incomplete === undefined || granted.length === 0) return answer;
  const who = `by the ledger ${granted.toSorted().join(', ')} may still read its state`;
  const wayOut =
    'if the service has lost its consumers for good, see to it by hand that nobody can, move the ledger away and run "trueup recover"';
  return { ...answer, incomplete: `${answer.incomplete}; ${who}; ${wayOut}` };
}

interface AskedOf {
  readonly list: WorkspaceList;
  readonly isAsked: boolean;
  readonly records: ReadRequest['records'];
}

function isMissing(session: Session, item: WorkspaceItem): Promise<boolean> {
  return session.once(`no consumers of ${item.id}`, () => lacksEdges(session, item));
}

/** The set of a service that has no consumers: who loses them is told for deletions alone, and none can be declared (rule 48). */
function withoutConsumers(
  incomplete: readonly string[],
  readings: readonly ConsumersReading[],
  isPlannedDeletion: (name: string) => boolean,
): LiveSet<LiveConsumers> {
  const untold = readings.filter(({ part }) => isPlannedDeletion(part.address.name));
  return {
    resources: untold.map(({ part: { address, item } }) => ({
      ...{ address, id: item.id, witness: {}, ...rightsOf(item) },
      ...{ spec: {}, facts: { untold: true } },
    })),
    incomplete,
    invisible: [],
    notes: [],
    limits: [limits.consumers],
    unsupported: {
      code: 'no-consumers',
      class: 'invalid',
      message: 'the service has no remote state consumers',
      fix: 'remove the list: this service cannot keep it',
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

/** The consumers with the claim of their workspace, which says who may change them. */
function ownerOf(live: LiveConsumers, tags: BoundTags | undefined): LiveConsumers {
  return { ...live, witness: ownershipFromTag(tags) };
}

interface ConsumersAnswer {
  readonly missing?: true;
  readonly live?: LiveConsumers;
  readonly incomplete?: string;
  readonly note?: string;
}

type ConsumersReading = ConsumersAnswer & { readonly part: MatchedPart };

async function readConsumers(session: Session, { address, item }: MatchedPart): Promise<ConsumersAnswer> {
  const base = { address, id: item.id, witness: {}, ...rightsOf(item) };
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
