/**
 * Reads projects, from the list that also gives names and inherited values, and the workspaces in each project. Just before a write,
 * the project and the workspaces in it are read again.
 */
import { recordAbout } from '../../compare/match-ids.ts';
import { readPages } from '../../api/read-pages.ts';
import { listWorkspaces, type WorkspaceList, workspacesPath } from '../../api/workspaces/list-workspaces.ts';
import { organizationMode, organizationPath } from '../../api/workspaces/organization.ts';
import {
  asProjectItem,
  defaultProject,
  listProjects,
  type ProjectItem,
  projectKind,
  type ProjectList,
  readProjectById,
} from '../../api/workspaces/projects.ts';
import {
  ofProjects,
  ownershipFromTag,
  readBindings,
  type TagsAnswer,
} from '../../api/workspaces/tag-bindings.ts';
import {
  asWorkspaceItem,
  lackingField,
  relatedId,
  type WorkspaceItem,
} from '../../api/workspaces/workspace.ts';
import { type Address, type AddressText, formatAddress, knownAddress } from '../../model/address.ts';
import { type Call, isCallObject } from '../../model/call.ts';
import type { Action } from '../../model/change.ts';
import { type Answer, describeAnswer, WireError } from '../../model/http.ts';
import { type Json, memberOf } from '../../model/json.ts';
import type { ReturnedFields } from '../../model/kind-calls.ts';
import { type LiveSet, noResources, type ReadRequest, type Session } from '../../model/kind.ts';
import { counted, quoted, quoteSome } from '../../model/quoted.ts';
import { type LiveProject, liveProject, type Member, settingsOf, whyUnexpected } from './fields.ts';
import type { ProjectSpec } from './schema.ts';

type Request = ReadRequest<ProjectSpec>;

const noProjects = {
  code: 'no-projects',
  class: 'invalid',
  message: 'the service has no projects, or hides them from this token',
  fix: 'remove this document, or let the token read the projects of the organization',
} as const;

/** @throws WireError when the service cannot be reached; a refusal becomes part of the result */
export async function read(session: Session, request: Request): Promise<LiveSet<LiveProject>> {
  // An export does not show what a change would do to the workspaces, so it does not list them.
  const [list, workspaces] = await Promise.all([
    listProjects(session, true),
    request.undeclared === undefined ? listWorkspaces(session) : undefined,
  ]);
  if (workspaces?.unread !== undefined) return { ...noResources, unread: workspaces.unread };
  if (list.isMissing) return { ...noResources, unsupported: noProjects };
  const isRelevant = concernsStack(request);
  const needsTags = session.target.ownership !== 'ledger' && request.undeclared === undefined;
  const settings = await organizationFacts(session);
  const members = Map.groupBy(workspaces?.items ?? [], (item) => relatedId(item, 'project'));
  const unplaced = members.get(null) ?? [];
  // Later, the workspaces of a project are listed without the filter by project, which may not find these.
  if (unplaced.length > 0) session.lacks.add('projects-of-workspaces');
  const membersIn = async (item: ProjectItem) => {
    const inside = membersFrom(item, [...(members.get(item.id) ?? []), ...unplaced]);
    if (workspaces === undefined || !needsTags || !mayDestroy(request, item)) return inside;
    return Promise.all(inside.map((member) => withProtection(workspaces, member)));
  };
  const readings = await Promise.all(
    list.items.map(async (item) => {
      const isAsked = isRelevant(item);
      const tags = isAsked || list.hasTags ? orNoTags(await list.tagsOf(item), needsTags) : undefined;
      const unexpected = isAsked ? whyUnexpected(item) : undefined;
      const live = liveProject(addressOf(session, item.name), {
        item,
        tags: tags?.tags,
        facts: {
          ...(isAsked && workspaces !== undefined ? { members: await membersIn(item) } : {}),
          ...settings(item),
        },
      });
      return { live, problem: unexpected ?? (tags && 'problem' in tags ? tags.problem : undefined) };
    }),
  );
  const resources = readings.map(({ live }) => live);
  const lacking = lackingFields(request, resources);
  const unread = readings.flatMap(({ live, problem }) =>
    problem === undefined ? [] : [[formatAddress(live.address), problem] as const],
  );
  const twins = twinsOf(session, list, request);
  const isKept = list.hasTags || resources.some(({ facts: { direct } }) => direct !== undefined);
  return {
    resources,
    unseen: new Map([...unlistedOf(session, list, request), ...unread, ...twins]),
    // A list that lacks projects does not count them either; `incomplete` reports it.
    ...(list.total === undefined || list.unlisted.length > 0 ? {} : { total: list.total }),
    incomplete: [
      ...(list.problem === undefined
        ? list.unlisted.map((item) => unlistedProblem(session, item))
        : [listProblem(session, list.problem)]),
      ...unread.map(([, why]) => why),
      ...twins.map(([, why]) => why),
      ...(unplaced.length === 0 ? [] : [unplacedProblem(unplaced)]),
    ],
    ...(list.isForbidden && { forbidden: true }),
    invisible: lacking,
    lacking,
    limits: lacking.map((name) => lackingField(name, 'project')),
    notes: [],
    ...(isKept ? {} : { unverified: true }),
  };
}

/** With ownership in the ledger, and in an export, nothing depends on tags: a service that has none counts as one with empty sets. */
function orNoTags(answer: TagsAnswer, needsTags: boolean): TagsAnswer {
  const isNone = answer.tags === undefined && answer.missing === true && !needsTags;
  return isNone ? { tags: { direct: {} } } : answer;
}

/** What the organization says about a project, as far as this token may read it. */
async function organizationFacts(session: Session) {
  const [byDefault, mode] = [await defaultProject(session), await organizationMode(session)];
  return ({ id }: ProjectItem): Pick<LiveProject['facts'], 'isDefault' | 'organizationMode'> => ({
    ...(byDefault === undefined ? {} : { isDefault: id === byDefault }),
    ...(mode === undefined ? {} : { organizationMode: mode }),
  });
}

function addressOf({ target }: Session, name: string): Address {
  return knownAddress({ kind: projectKind, target: target.name, name });
}

function listProblem({ target }: Session, why: string): string {
  return `not all projects of organization ${quoted(target.organization ?? '')} were read: ${why}`;
}

function unlistedProblem({ target }: Session, { id, name }: ProjectItem): string {
  return `the list of projects of organization ${quoted(target.organization ?? '')} lacks ${quoted(name)} (${id}), which is found by its id, so it may lack others`;
}

/**
 * Names are unique in an organization. If several projects have one name, it is uncertain which is the declared one, and the list may
 * lack another one. A recorded project among them is not gone, although it has the name of another one now.
 */
function twinsOf(
  session: Session,
  { items }: ProjectList,
  { records }: Request,
): (readonly [AddressText, string])[] {
  const byName = Map.groupBy(items, ({ name }) => name);
  return [...byName].flatMap(([name, same]) => {
    const ids = new Set(same.map(({ id }) => id));
    if (ids.size < 2) return [];
    const where = `the list of projects of organization ${quoted(session.target.organization ?? '')}`;
    const why = `${where} has ${quoteSome([...ids].sort())} as ${quoted(name)}: give them different names in the service`;
    const recorded = [...records].flatMap(([text, { id }]) =>
      id !== undefined && ids.has(id) ? [text] : [],
    );
    return [...new Set([formatAddress(addressOf(session, name)), ...recorded])].map((text) => [text, why]);
  });
}

function unplacedProblem(unplaced: readonly WorkspaceItem[]): string {
  const [first, ...others] = unplaced.map(({ name }) => quoted(name));
  const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other')}`;
  return `the service does not say in which project workspace ${first}${more} ${others.length === 0 ? 'is' : 'are'}: each of them may be in any project`;
}

/** Whether a project concerns the stack: it is declared, a `renamedFrom` names it, it is recorded, or an export selects it. */
function concernsStack({ declared, records, undeclared }: Request): (item: ProjectItem) => boolean {
  const names = new Set(
    declared.flatMap(({ address, metadata }) => [address.name, metadata.renamedFrom ?? []].flat()),
  );
  const ids = new Set([...records.values()].map(({ id }) => id));
  return ({ id, name }) => names.has(name) || ids.has(id) || undeclared?.(name) === true;
}

/** Whether a manifest may change a setting that destroys resources: only then it matters which workspaces are protected. */
function mayDestroy({ declared, records }: Request, item: ProjectItem): boolean {
  const live = settingsOf(item);
  return declared.some(({ address, metadata: { renamedFrom }, spec }) => {
    const isThis = [address.name, renamedFrom].some(
      (name) =>
        name !== undefined &&
        (name === item.name || records.get(formatAddress({ ...address, name }))?.id === item.id),
    );
    if (!isThis) return false;
    const recorded = recordAbout(records, { address, id: item.id });
    const isChanged = (field: 'autoDestroyActivityDuration' | 'defaultExecutionMode') =>
      spec[field] === undefined
        ? recorded?.fields[field] !== undefined
        : spec[field] !== (live[field] ?? null);
    return isChanged('autoDestroyActivityDuration') || isChanged('defaultExecutionMode');
  });
}

/** Adds whether the ownership tag protects the workspace. Unreadable tags change nothing: the guard names the workspace anyway. */
async function withProtection(list: WorkspaceList, member: Member): Promise<Member> {
  const item = list.byId.get(member.id);
  const isUntagged = !list.hasTags && list.tagged.size > 0 && !list.tagged.has(member.id);
  if (item === undefined || isUntagged) return member;
  const { ownershipTag } = ownershipFromTag((await list.tagsOf(item)).tags);
  const isTagged = ownershipTag?.protect === true && !ownershipTag.inherited;
  return isTagged ? { ...member, isTaggedProtected: true } : member;
}

/** If the list is incomplete, a project that it lacks may exist, so it is neither created nor changed. */
function unlistedOf(
  session: Session,
  { items, unlisted, problem }: ProjectList,
  { declared, records }: Request,
): (readonly [AddressText, string])[] {
  if (problem === undefined) return [];
  const inList = items.filter((item) => !unlisted.includes(item));
  const listed = new Set(inList.map(({ name }) => formatAddress(addressOf(session, name))));
  const wanted = [...declared.map(({ address }) => formatAddress(address)), ...records.keys()];
  return wanted
    .filter((text) => !listed.has(text))
    .map((text) => [text, listProblem(session, problem)] as const);
}

/**
 * One project, its tags and the workspaces in it, without any cache.
 * @throws WireError when the service returns neither the project nor "not found"
 */
export async function readOne(
  session: Session,
  address: Address,
  id?: string,
  action?: Action,
): Promise<LiveProject | undefined> {
  const item =
    id === undefined ? await readByName(session, address.name) : await readProjectById(session, id);
  if (item === undefined) return undefined;
  const unexpected = whyUnexpected(item);
  if (unexpected !== undefined) throw new WireError(unexpected, { ...requestOf(item), sent: false });
  const [answer, settings, members] = await Promise.all([
    readBindings(session, item, { owner: ofProjects }),
    organizationFacts(session),
    readMembers(session, item.id),
  ]);
  const tags = orNoTags(answer, session.target.ownership !== 'ledger');
  if (tags.tags === undefined) throw new WireError(tags.problem, { ...requestOf(item), sent: false });
  return liveProject(address, {
    item,
    tags: tags.tags,
    facts: {
      members: membersFrom(item, members),
      ...settings(item),
      ...(action === 'delete' ? { mustBeEmpty: true } : {}),
    },
  });
}

function requestOf({ id }: ProjectItem): Pick<Answer, 'method' | 'url'> {
  return { method: 'GET', url: `/projects/${id}` };
}

async function readByName(session: Session, name: string): Promise<ProjectItem | undefined> {
  const path = `${organizationPath(session)}/projects?filter[names]=${encodeURIComponent(name)}`;
  const { items, problem } = await readPages(session.reader, path);
  const item = items.flatMap((document) => asProjectItem(document) ?? []).find((one) => one.name === name);
  if (item === undefined && problem !== undefined) throw pagesError(path, problem);
  return item;
}

/**
 * All workspaces that this token sees and that are in a project, or may be in it. The service may ignore the
 * filter. It is not used if workspaces do not say in which project they are.
 */
async function readMembers(session: Session, id: string): Promise<WorkspaceItem[]> {
  const all = `${workspacesPath(session)}?sort=name`;
  const isFiltered = !session.lacks.has('projects-of-workspaces');
  const path = isFiltered ? `${all}&filter[project][id]=${encodeURIComponent(id)}` : all;
  const { items, problem } = await readPages(session.reader, path);
  if (problem !== undefined) throw pagesError(path, problem);
  return items
    .flatMap((document) => asWorkspaceItem(document) ?? [])
    .filter((item) => [id, null].includes(relatedId(item, 'project')));
}

function pagesError(url: string, problem: Answer | string): WireError {
  const why = typeof problem === 'string' ? problem : describeAnswer(problem);
  return new WireError(why, { method: 'GET', url, sent: false });
}

/** The workspaces as members of the project, sorted by name. */
function membersFrom({ attributes: project }: ProjectItem, items: readonly WorkspaceItem[] = []): Member[] {
  const field = 'auto-destroy-activity-duration';
  return items
    .map((item) => {
      const { id, name, attributes } = item;
      const inherits = attributes['inherits-project-auto-destroy'] ?? null;
      const duration = attributes[field] ?? null;
      // Not every service says whether values are inherited. In some, the project's duration applies even to a workspace with its own time.
      const mayInherit = duration === null || duration === project[field];
      const hasOwnMode = memberOf(attributes['setting-overwrites'], 'execution-mode');
      const mode = project['default-execution-mode'] ?? attributes['execution-mode'];
      return {
        id,
        name,
        inheritsMode: hasOwnMode === undefined ? attributes['execution-mode'] === mode : hasOwnMode === false,
        inheritsDuration: inherits === true || (inherits === null && mayInherit),
        isLocal: attributes['execution-mode'] === 'local',
        allowsDestroy: attributes['allow-destroy-plan'] !== false,
        duration: textOrNull(duration),
        time: textOrNull(attributes['auto-destroy-at']),
        ...(relatedId(item, 'project') === null ? { isUnplaced: true as const } : {}),
      };
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Declared fields that no project of the answer has. */
function lackingFields({ declared }: Request, resources: readonly LiveProject[]): string[] {
  if (resources.length === 0) return [];
  const wanted = new Set(declared.flatMap(({ spec }) => Object.keys(spec)));
  return (['defaultExecutionMode', 'defaultAgentPoolId', 'autoDestroyActivityDuration'] as const).filter(
    (name) => wanted.has(name) && resources.every(({ spec }) => spec[name] === undefined),
  );
}

/** The settings in the response to a write that the call has written. The response has no tags. */
export function fieldsFromResponse({ body }: Call, answer: Answer): ReturnedFields | undefined {
  const item = asProjectItem(memberOf(answer.body, 'data'));
  if (item === undefined) return undefined;
  const spec = settingsOf(item);
  const { data } = body ?? {};
  const { attributes } = isCallObject(data) ? data : {};
  const isSent = (name: string) => isCallObject(attributes) && attributes[name] !== undefined;
  const execution =
    isSent('default-execution-mode') || isSent('setting-overwrites')
      ? ['defaultExecutionMode', 'defaultAgentPoolId']
      : [];
  const about = [
    ...(isSent('description') ? ['description'] : []),
    ...(isSent('auto-destroy-activity-duration') ? ['autoDestroyActivityDuration'] : []),
    ...execution,
  ];
  return about.length === 0 ? undefined : { about, spec };
}
