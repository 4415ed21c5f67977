/**
 * Reads the workspaces of an organization: the shared list, and details that it does not include, only for workspaces that
 * concern the stack.
 */
import { type Address, formatAddress, knownAddress } from '../../model/address.ts';
import { memberOf } from '../../model/json.ts';
import { type LiveSet, noResources, type OnPage, type ReadRequest, type Session } from '../../model/kind.ts';
import type { Action } from '../../model/change.ts';
import { isDeclaration, parseOwnershipTag, type Spec } from '../../model/resource.ts';
import { quoted } from '../../model/quoted.ts';
import { pageSize } from '../../api/read-pages.ts';
import type { BoundTags } from '../../api/workspaces/tag-bindings.ts';
import { listWorkspaces, type WorkspaceList } from '../../api/workspaces/list-workspaces.ts';
import {
  isNamed,
  readWorkspaceWithTags,
  unread,
  workspacesOnPage,
} from '../../api/workspaces/read-workspace.ts';
import { type Inherited, inheritedExecution, reportsInheritance } from '../../api/workspaces/projects.ts';
import {
  lackingField,
  limits,
  relatedId,
  unknownModes,
  type WorkspaceItem,
} from '../../api/workspaces/workspace.ts';
import { predictAssessments, predictCreations, predictInherited, type WorkspaceReading } from './predict.ts';
import { predictRefusals } from './predict-refusals.ts';
import { readUnlisted } from './read-unlisted.ts';
import { hasUpperCaseTag, lacksSafeDelete, liveWorkspace } from './live-workspace.ts';
import { whyUnexpected } from './unexpected-types.ts';
import {
  hasOwnModeMark,
  invisibleFields,
  lackingFields,
  lostOwnershipTags,
  noOwnershipTags,
} from './limited-services.ts';
import { derivesFileTriggers } from './triggers.ts';
import { hasRetention, readRetention } from './separate-endpoints.ts';
import type { WorkspaceSpec } from './schema.ts';
import { showsNoState, stateAtRisk } from './deletion.ts';
import type { LiveWorkspace } from './workspace-types.ts';

type Request = ReadRequest<WorkspaceSpec>;

/** @throws WireError when the service cannot be reached; a refusal becomes part of the result */
export async function read(session: Session, request: Request): Promise<LiveSet<LiveWorkspace>> {
  const list = await listWorkspaces(session);
  if (list.unread !== undefined) return { ...noResources, unread: list.unread };
  const needsTags = reliesOnOwnershipTags(session, request);
  if (list.keepsTags === false && needsTags) return { ...noResources, unplannable: noOwnershipTags };
  const missing = await readUnlisted(session, list, request);
  const isRelevant = concernsStack(request);
  const items = [...list.items, ...missing.items];
  const removable = mayBeRemoved(session, request);
  const inherited = inheritedBy(session, items, request);
  const serviceFacts = {
    keepsTagCase: items.some(hasUpperCaseTag),
    fileTriggersDerived: derivesFileTriggers(session, items, {
      records: request.records.values(),
      // A service without safe delete usually lacks other features, too.
      isLimited: lacksSafeDelete,
    }),
  };
  const details = await Promise.all(
    items.map((item) =>
      readDetails(session, list, {
        item,
        isRelevant: isRelevant(item),
        removable,
        inherited,
        serviceFacts,
      }),
    ),
  );
  const readings = await predictAssessments(session, request, details);
  const resources = readings.map(({ live }) => live);
  const isKept = list.keepsTags ?? resources.some(({ evidence }) => evidence.ownershipTag !== undefined);
  const unplannable = isKept || !needsTags ? undefined : lostOwnershipTags(resources, request.records);
  if (unplannable !== undefined) return { ...noResources, unplannable };
  const lacking = lackingFields(request, resources);
  const predictedNotes = await predictCreations(session, request, resources);
  const inheritable = await predictInherited(session, request, resources);
  const refusedValues = await predictRefusals(session, request, resources);
  const unseen = readings.flatMap(({ live, incomplete: [why] }) =>
    why === undefined ? [] : [[formatAddress(live.address), why] as const],
  );
  return {
    resources,
    unseen: new Map([...missing.unseen, ...unseen]),
    ...(missing.elsewhere.length === 0 ? {} : { elsewhere: new Map(missing.elsewhere) }),
    predictedNotes,
    inheritable,
    refusedValues,
    // A list that lacks workspaces does not count them either; `incomplete` reports it.
    ...(list.total === undefined || missing.items.length > 0 ? {} : { total: list.total }),
    incomplete: [
      ...list.incomplete,
      ...missing.incomplete,
      ...readings.flatMap(({ incomplete }) => incomplete),
    ],
    invisible: invisibleFields(request, resources),
    notes: [],
    limits: [...list.limits, ...limitsOf(readings, request), ...lacking.map((name) => lackingField(name))],
    lacking,
    ...(isKept ? {} : { unverified: true }),
  };
}

/** Whether the plan relies on ownership tags; an export does not. */
function reliesOnOwnershipTags({ target }: Session, { undeclared }: Request): boolean {
  return target.ownership !== 'ledger' && undeclared === undefined;
}

function limitsOf(readings: readonly WorkspaceReading[], { records }: Request): string[] {
  const isUnsafe = readings.some(({ live }) => live.facts.hasSafeDelete === false);
  const hidesOwnModes =
    [...records.values()].some(hasOwnModeMark) ||
    readings.some(({ live }) => live.facts.ownMode === 'proved');
  const unknown = readings.filter(({ live }) => live.facts.ownMode === 'unknown');
  const isDerived = readings.some(({ live }) => live.facts.fileTriggersDerived === 'proved');
  return [
    ...(isUnsafe ? [limits.safeDelete] : []),
    ...(hidesOwnModes ? [limits.ownMode] : []),
    ...(isDerived ? [limits.fileTriggers] : []),
    ...(unknown.length > 0 ? [unknownModes(unknown.map(({ item }) => item.name))] : []),
  ];
}

/** @throws WireError when the service returns neither the workspace nor "not found" */
export async function readOne(
  session: Session,
  address: Address,
  id?: string,
  action?: Action,
): Promise<LiveWorkspace | undefined> {
  const found = await readWorkspaceWithTags(session, address.name, id);
  if (found === undefined) return undefined;
  const unexpected = whyUnexpected(found.item);
  if (unexpected !== undefined)
    // Only the message of the error is shown, so the name is enough as its URL.
    throw unread({ method: 'GET', url: found.item.name }, `the workspace was not understood: ${unexpected}`);
  const answer = await readRetention(session, found.item);
  if (answer.policy === undefined) throw unread({ method: 'GET', url: found.item.name }, answer.problem);
  const checksState = action === 'delete' && lacksSafeDelete(found.item);
  const risk = checksState ? await stateAtRisk(session, found.item) : undefined;
  return liveAgain(session, address, { ...found, retention: answer.policy, stateAtRisk: risk });
}

type ReadAgain = Pick<Parameters<typeof liveWorkspace>[1], 'item' | 'tags' | 'retention' | 'stateAtRisk'>;

async function liveAgain(session: Session, address: Address, found: ReadAgain): Promise<LiveWorkspace> {
  const { item } = found;
  const { dialect, target } = session;
  const inherited = reportsInheritance(item) ? await inheritedExecution(session, item) : undefined;
  return liveWorkspace(address, { ...found, dialect, deletes: target.deletes, inherited });
}

/** Undefined also if a part of the workspace is read separately, or its document is not understood: `readOne` handles both. */
async function readFromPage(
  session: Session,
  { page, recent, address, id }: OnPage,
): Promise<LiveWorkspace | undefined> {
  const found = (await workspacesOnPage(recent, page)).get(id);
  if (found === undefined || whyUnexpected(found.item) !== undefined || hasRetention(found.item))
    return undefined;
  return liveAgain(session, address, { ...found, retention: null });
}

export const pages = { size: pageSize, read: readFromPage };

/** @returns why a workspace whose id returns 404 may still exist: it is still found by its name */
export async function whyNotGone(
  session: Session,
  { name }: Address,
  id?: string,
): Promise<string | undefined> {
  if (id === undefined || !(await isNamed(session, name, id))) return undefined;
  return `workspace ${quoted(name)} was not read: it is found by its name, but reading it by its id returns "not found"`;
}

/** Whether a workspace concerns the stack: it is declared, a `renamedFrom` names it, it is recorded, or an export selects it. */
function concernsStack({ declared, records, undeclared }: Request): (item: WorkspaceItem) => boolean {
  const names = new Set(
    declared.flatMap(({ address, metadata }) => [address.name, metadata.renamedFrom ?? []].flat()),
  );
  const ids = new Set([...records.values()].map(({ id }) => id));
  return ({ id, name }) => names.has(name) || ids.has(id) || undeclared?.(name) === true;
}

/**
 * Whether a plan may send a plain delete for a workspace, not a safe one; then its states are read first. The workspace is ours or
 * recorded, not declared, and its service has no safe delete.
 */
function mayBeRemoved({ target, stack }: Session, { declared, records, undeclared }: Request) {
  const stays = new Set(
    declared.flatMap(({ address, metadata }) =>
      isDeclaration({ metadata }) ? [address.name, metadata.renamedFrom ?? []].flat() : [],
    ),
  );
  const forced = new Set(
    declared.flatMap(({ address, metadata }) => (metadata.remove === 'force' ? [address.name] : [])),
  );
  const ids = new Set([...records.values()].map(({ id }) => id));
  return (item: WorkspaceItem, tags: BoundTags | undefined): boolean => {
    const isAllowed = target.deletes === 'plain' || forced.has(item.name);
    if (undeclared !== undefined || !isAllowed || !lacksSafeDelete(item)) return false;
    const ownershipTag =
      tags?.ownershipTag === undefined ? undefined : parseOwnershipTag(tags.ownershipTag.text);
    return !stays.has(item.name) && (ids.has(item.id) || ownershipTag?.stack === stack);
  };
}

interface DetailsWanted {
  readonly item: WorkspaceItem;
  /** it concerns the stack, so its details are read */
  readonly isRelevant: boolean;
  readonly removable: ReturnType<typeof mayBeRemoved>;
  readonly inherited: ReturnType<typeof inheritedBy>;
  /** what all workspaces together show about the service */
  readonly serviceFacts: Pick<Parameters<typeof liveWorkspace>[1], 'keepsTagCase' | 'fileTriggersDerived'>;
}

/**
 * What a workspace would inherit, if the service reports its mode as inherited. It is read only if it matters: for an export, for a
 * workspace whose mode the manifest or the ledger has, or once something shows that the service reports every mode as inherited.
 * It is never read if the service reports the own mode of any workspace: then it reports inheritance correctly.
 */
function inheritedBy(session: Session, items: readonly WorkspaceItem[], request: Request) {
  const { declared, records, undeclared } = request;
  const hidesOwnModes = reportsAllInherited(items) || [...records.values()].some(hasOwnModeMark);
  const named = new Set(
    declared.flatMap(({ address, metadata: { renamedFrom }, spec }) =>
      setsMode(spec) ? [address.name, renamedFrom ?? []].flat() : [],
    ),
  );
  const known = new Set([...records.values()].flatMap(({ id, fields }) => (setsMode(fields) ? id : [])));
  const reportsOwnModes = items.some(
    ({ attributes }) => memberOf(attributes['setting-overwrites'], 'execution-mode') === true,
  );
  return async (item: WorkspaceItem): Promise<Inherited | undefined> => {
    if (reportsOwnModes || !reportsInheritance(item)) return undefined;
    const isAsked = hidesOwnModes || undeclared !== undefined || named.has(item.name) || known.has(item.id);
    return isAsked ? inheritedExecution(session, item) : undefined;
  };
}

function setsMode({ executionMode, agentPoolId, settingOverwrites }: Spec): boolean {
  return [executionMode, agentPoolId, settingOverwrites].some((value) => value !== undefined);
}

/** Whether two workspaces of one project have different modes that the service reports as inherited: both cannot be true. */
function reportsAllInherited(items: readonly WorkspaceItem[]): boolean {
  const byProject = Map.groupBy(items.filter(reportsInheritance), (item) => relatedId(item, 'project'));
  return [...byProject.values()].some(
    (some) => new Set(some.map(({ attributes }) => attributes['execution-mode'])).size > 1,
  );
}

/** For a plan, the states are read only if the document does not already show that there are none. */
async function plannedRisk(session: Session, item: WorkspaceItem): Promise<string | null> {
  return showsNoState(item) ? null : stateAtRisk(session, item);
}

async function readDetails(
  session: Session,
  list: WorkspaceList,
  { item, isRelevant, removable, inherited, serviceFacts }: DetailsWanted,
): Promise<WorkspaceReading> {
  const address = knownAddress({ kind: 'Workspace', target: session.target.name, name: item.name });
  const tagged = list.hasTags || isRelevant || list.tagged.has(item.id);
  const [tags, retention] = await Promise.all([
    tagged ? list.tagsOf(item) : undefined,
    isRelevant ? readRetention(session, item) : undefined,
  ]);
  const unexpected = isRelevant ? whyUnexpected(item) : undefined;
  const problems = [
    ...(unexpected === undefined
      ? []
      : [`the workspace ${quoted(item.name)} was not understood: ${unexpected}`]),
    ...[tags, retention].flatMap((answer) => (answer && 'problem' in answer ? [answer.problem] : [])),
  ];
  return {
    item,
    live: liveWorkspace(address, {
      item,
      dialect: session.dialect,
      tags: tags?.tags,
      retention: retention?.policy,
      deletes: session.target.deletes,
      stateAtRisk: removable(item, tags?.tags) ? await plannedRisk(session, item) : undefined,
      inherited: isRelevant ? await inherited(item) : undefined,
      ...serviceFacts,
    }),
    incomplete: problems,
  };
}
