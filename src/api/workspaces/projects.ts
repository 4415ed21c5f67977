/**
 * Reads the projects of an organization in one list, once per session, and only when a plan depends on them (wire/workspaces 6): for
 * their names, for what their workspaces inherit, and for the projects that a stack manages, with their tags.
 */
import { idsOfDeclared } from '../../compare/declared-objects.ts';
import { recordAbout } from '../../compare/match-ids.ts';
import { type AddressText, formatAddress } from '../../model/address.ts';
import { describeAnswer, WireError } from '../../model/http.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import type { Session } from '../../model/kind.ts';
import { type NamedId, type NameList, nameList } from '../../model/named-reference.ts';
import type { DesiredResource } from '../../model/resource.ts';
import { includedTagsQuery, isIncludeRefused } from './list-workspaces.ts';
import {
  defaultPoolIn,
  defaultProjectIn,
  organizationMode,
  type OrganizationList,
  readList,
  readOrganization,
} from './organization.ts';
import {
  bindingsById,
  includedTags,
  ofProjects,
  readBindings,
  type Tags,
  type TagsAnswer,
} from './tag-bindings.ts';
import { asWorkspaceItem, relatedId, type WorkspaceItem } from './workspace.ts';

/** The kind of the documents of projects. */
export const projectKind = 'Project';

/** Documents of projects have the same form as those of workspaces. */
export type ProjectItem = Omit<WorkspaceItem, 'listIndex'>;

export interface ProjectList extends Pick<OrganizationList, 'problem' | 'isMissing' | 'total'> {
  /** those that the service lists, and those of `unlisted` */
  readonly items: readonly ProjectItem[];
  /** recorded projects that the list lacks, although the service returns them by id */
  readonly unlisted: readonly ProjectItem[];
  readonly byId: ReadonlyMap<string, ProjectItem>;
  /** the service answers 403: this token may not list projects */
  readonly isForbidden?: true;
  /** the list included the tags of every project */
  readonly hasTags: boolean;
  /** The tags of one project. Sends a request, once per session, only if the list did not include them. */
  tagsOf(item: ProjectItem): Promise<TagsAnswer>;
}

/** @param withTags whether to request the tags, by default if the stack manages projects; the first call of a session decides */
export function listProjects(session: Session, withTags = isManaged(session)): Promise<ProjectList> {
  return session.once('projects', async () => {
    const tags = new Map<string, TagsAnswer | undefined>();
    const { items: documents, ...list } = await readProjects(session, withTags ? tags : undefined);
    const listed = documents.flatMap((document) => asProjectItem(document) ?? []);
    const { isMissing, total, refusal } = list;
    const { unlisted, why } =
      isMissing === undefined ? await readUnlisted(session, listed) : { unlisted: [], why: undefined };
    const items = [...listed, ...unlisted];
    const problem = list.problem ?? why;
    return {
      ...(problem === undefined ? {} : { problem }),
      ...(isMissing === undefined ? {} : { isMissing }),
      ...(refusal?.status === 403 && items.length === 0 ? { isForbidden: true as const } : {}),
      ...(total === undefined ? {} : { total }),
      items,
      unlisted,
      byId: new Map(items.map((item) => [item.id, item])),
      hasTags: withTags && listed.every(({ id }) => tags.get(id) !== undefined),
      tagsOf: async (item) => tags.get(item.id) ?? readProjectTags(session, item),
    };
  });
}

/**
 * Recorded projects that the list lacks, such as one that was renamed during the read: they must count neither as deleted nor as not
 * yet created. `why`: the reason if one could not be read.
 */
async function readUnlisted(session: Session, listed: readonly ProjectItem[]) {
  const { records = new Map(), deleted } = session.known?.(projectKind) ?? {};
  const ids = new Set(listed.map(({ id }) => id));
  const missing = new Set(
    [...records].flatMap(([text, { id }]) =>
      id === undefined || ids.has(id) || deleted?.has(text) === true ? [] : [id],
    ),
  );
  const unlisted: ProjectItem[] = [];
  const problems: string[] = [];
  await Promise.all(
    [...missing].map(async (id) => {
      try {
        const item = await readProjectById(session, id);
        if (item !== undefined) unlisted.push(item);
      } catch (error) {
        if (!(error instanceof WireError)) throw error;
        problems.push(`a project in the ledger could not be read: ${error.message}`);
      }
    }),
  );
  return {
    unlisted: unlisted.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    why: problems.sort()[0],
  };
}

/** A project; undefined if this organization has no project with this id. @throws WireError on any other answer */
export async function readProjectById(session: Session, id: string): Promise<ProjectItem | undefined> {
  const answer = await session.reader.get(`/projects/${encodeURIComponent(id)}`);
  if (answer.status === 404) return undefined;
  const item = answer.status === 200 ? asProjectItem(memberOf(answer.body, 'data')) : undefined;
  if (item === undefined) throw new WireError(describeAnswer(answer), { ...answer, sent: false });
  const home = relatedId(item, 'organization')?.toLowerCase();
  return home === undefined || home === session.target.organization?.toLowerCase() ? item : undefined;
}

/** Whether the stack declares projects, or its ledger has some. */
export function isManaged({ known }: Session): boolean {
  const { declared = [], records } = known?.(projectKind) ?? {};
  return declared.length > 0 || (records?.size ?? 0) > 0;
}

/** @param tags receives the tags that the list includes, by id; absent if no tags are wanted */
async function readProjects(
  session: Session,
  tags: Map<string, TagsAnswer | undefined> | undefined,
): Promise<OrganizationList> {
  if (tags === undefined) return readList(session, 'projects');
  const reduce = (documents: readonly JsonObject[], included: readonly JsonObject[]) => {
    const bindings = bindingsById(included);
    for (const document of documents) {
      const item = asProjectItem(document);
      if (item !== undefined) tags.set(item.id, includedTags(item, bindings, ofProjects));
    }
    return documents;
  };
  const list = await readList(session, `projects?${includedTagsQuery}`, { reduce });
  return isIncludeRefused(list.refusal) ? readList(session, 'projects') : list;
}

function readProjectTags(session: Session, item: ProjectItem): Promise<TagsAnswer> {
  return session.once(`tag-bindings of ${item.id}`, () => readBindings(session, item, { owner: ofProjects }));
}

/**
 * The direct tags of a project; `{}` if the service has no projects; undefined if unknown.
 * @param id undefined for the default project; null for a workspace that the service shows without a project
 */
export async function tagsOfProject(
  session: Session,
  id: string | null | undefined,
): Promise<Tags | undefined> {
  const list = await listProjects(session, true);
  // A missing list is no proof: only the organization's document shows that there are no projects.
  const organization = typeof id !== 'string' && list.isMissing ? await readOrganization(session) : undefined;
  if (organization !== undefined && defaultProjectIn(organization) === undefined) return {};
  const wanted = id === undefined ? await defaultOf(session, list) : id;
  const item = typeof wanted === 'string' ? list.byId.get(wanted) : undefined;
  if (item === undefined) return undefined;
  const answer = await list.tagsOf(item);
  if (answer.tags !== undefined) return answer.tags.direct;
  // With ownership in the ledger only, the service need not have tags.
  return answer.missing === true && session.target.ownership === 'ledger' ? {} : undefined;
}

/** A project without a name gets its id as the name. */
export function asProjectItem(document: Json | undefined): ProjectItem | undefined {
  const item = asWorkspaceItem(document);
  if (item !== undefined || !isJsonObject(document)) return item;
  const { id, attributes = null, relationships = null } = document;
  if (typeof id !== 'string') return undefined;
  return {
    id,
    name: id,
    attributes: isJsonObject(attributes) ? attributes : {},
    relationships: isJsonObject(relationships) ? relationships : {},
  };
}

/** The names of the projects. */
export async function projectNames(session: Session): Promise<NameList> {
  const { items, problem } = await listProjects(session);
  const named = items.filter(({ attributes, name }) => attributes['name'] === name && name !== '');
  return nameList(
    named.map(({ id, name }): NamedId => ({ id, name })),
    problem,
  );
}

/** The id of the project of workspaces that name no project; undefined if unknown. */
export async function defaultProject(session: Session): Promise<string | undefined> {
  const organization = await readOrganization(session);
  return organization && defaultProjectIn(organization);
}

// What the workspaces of a project inherit from it.

interface Project {
  readonly id: string;
  readonly name: string;
  /** the stack manages it; `new`: the plan creates it, so it has no id yet */
  readonly declared?: 'new' | 'live';
  /** its own address, if the plan changes what its workspaces inherit */
  readonly plannedBy?: AddressText;
  /** the time without activity after which their resources are destroyed; null: none */
  readonly duration: string | null;
  /** their execution mode; absent if the project has none, so that it is the organization's */
  readonly mode?: string;
  /** the id of the agent pool for this mode */
  readonly pool?: string;
}

/** A project, or why it could not be read; `none`: the service has no projects. */
type ProjectReading = Project | { readonly unread: string } | 'none';

/**
 * The project with this id; if the stack manages it, as it will be after the plan.
 * @param id its id, or the address of a project that the plan creates; undefined for the default project, into which the service puts
 * a workspace that is created without a project
 */
export async function readProject(session: Session, id: string | undefined): Promise<ProjectReading> {
  const list = await listProjects(session);
  const wanted = id ?? (await defaultOf(session, list));
  if (wanted === undefined) return withoutDefault(list);
  const project = list.byId.get(wanted);
  const declared = (await declaredProjects(session)).get(wanted);
  if (project !== undefined) return asPlanned(projectFrom(project), session, declared);
  if (declared !== undefined) {
    const { name } = declared.address;
    return asPlanned({ id: wanted, name, declared: 'new', duration: null }, session, declared);
  }
  if (list.isMissing) return 'none';
  return { unread: list.problem ?? 'the list of projects that this token can see does not include it' };
}

/** Reads a project by id, once per session, before the apply of a plan that relies on it; undefined if it cannot be read. */
export function readProjectAgain(session: Session, id: string): Promise<Project | undefined> {
  return session.once(`project ${id}`, async () => {
    try {
      const item = await readProjectById(session, id);
      return item && projectFrom({ ...item, id });
    } catch (error) {
      if (error instanceof WireError) return undefined;
      throw error;
    }
  });
}

function projectFrom({ id, name, attributes, relationships }: ProjectItem): Project {
  const duration = attributes['auto-destroy-activity-duration'];
  const mode = attributes['default-execution-mode'];
  const pool = defaultPoolIn(relationships);
  const isOwn = memberOf(attributes['setting-overwrites'], 'default-execution-mode') !== false;
  return {
    id,
    name,
    duration: typeof duration === 'string' && duration !== '' ? duration : null,
    ...(typeof mode === 'string' && isOwn ? { mode, ...(typeof pool === 'string' ? { pool } : {}) } : {}),
  };
}

/** The declared projects. The key is the id, or the address if the plan creates the project. */
function declaredProjects(session: Session): Promise<ReadonlyMap<string, DesiredResource>> {
  return session.once('declared projects', async () => {
    const known = session.known?.(projectKind);
    if (known === undefined || known.declared.length === 0) return new Map();
    const ids = idsOfDeclared(await projectNames(session), known);
    return new Map(
      known.declared.flatMap((one) => {
        const text = formatAddress(one.address);
        return ids.has(text) ? [[ids.get(text) ?? text, one] as const] : [];
      }),
    );
  });
}

/** The project with its duration and mode after the plan, because projects are written before workspaces. */
function asPlanned(project: Project, { known }: Session, declared: DesiredResource | undefined): Project {
  if (declared === undefined) return project;
  const records = known?.(projectKind).records;
  const recorded = records && recordAbout(records, { ...project, address: declared.address })?.fields;
  // A field that is no longer declared is reset.
  const after = (field: string): Json | undefined =>
    declared.spec[field] === undefined && recorded?.[field] !== undefined ? null : declared.spec[field];
  const [duration, mode] = [after('autoDestroyActivityDuration'), after('defaultExecutionMode')];
  const { mode: _, pool: __, ...withoutMode } = project;
  const base: Project = mode === undefined ? project : withoutMode;
  const planned: Project = {
    declared: 'live',
    ...base,
    name: declared.address.name,
    ...(typeof mode === 'string' ? { mode } : {}),
    ...(duration === undefined ? {} : { duration: typeof duration === 'string' ? duration : null }),
  };
  const isChanged = planned.mode !== project.mode || planned.duration !== project.duration;
  return isChanged ? { ...planned, plannedBy: formatAddress(declared.address) } : planned;
}

/** The project that the organization names. Only if it names none, the single project of the list, which may be incomplete. */
async function defaultOf(session: Session, { byId, problem }: ProjectList): Promise<string | undefined> {
  const organization = problem === undefined ? await readOrganization(session) : undefined;
  if (organization === undefined) return undefined;
  return defaultProjectIn(organization) ?? (byId.size === 1 ? [...byId.keys()][0] : undefined);
}

/** The default project is unknown, which does not matter if the service has no projects. */
function withoutDefault({ isMissing, problem }: ProjectList): ProjectReading {
  if (isMissing) return 'none';
  return { unread: problem ?? 'the organization has no default project' };
}

/** The execution mode that the workspaces of a project inherit, from it or from the organization; undefined if it could not be read. */
export async function projectMode(session: Session, id: string): Promise<string | undefined> {
  const project = await readProject(session, id);
  if (project === 'none' || 'unread' in project) return undefined;
  return project.mode ?? organizationMode(session);
}

// The execution mode and the agent pool that a workspace inherits: its project's, else its organization's (wire/workspaces 1.5.1).
// Compared with a workspace's own mode, they also show that a service reports every mode as inherited.

export type Inherited = { readonly mode: string; readonly pool: string | null } | 'unknown';

/** What applies where the organization and the project have no such settings. */
const withoutDefaults = { mode: 'remote', pool: null };

/** Whether the service reports that this workspace inherits its mode. */
export function reportsInheritance({ attributes }: WorkspaceItem): boolean {
  return memberOf(attributes['setting-overwrites'], 'execution-mode') === false;
}

/**
 * What this workspace inherits now. Sends at most one request for the organization, and one for the list of its projects, in a
 * session.
 */
export async function inheritedExecution(session: Session, item: WorkspaceItem): Promise<Inherited> {
  const id = relatedId(item, 'project');
  const list = id === null ? undefined : await listProjects(session);
  const found = id === null ? undefined : list?.byId.get(id);
  if (list !== undefined && found === undefined) return 'unknown';
  const project = found && projectFrom(found);
  if (project?.mode !== undefined) return { mode: project.mode, pool: project.pool ?? null };
  const organization = await readOrganization(session);
  if (organization === undefined) return 'unknown';
  const mode = memberOf(organization['attributes'], 'default-execution-mode');
  const pool = defaultPoolIn(organization['relationships']);
  if (typeof mode !== 'string') return withoutDefaults;
  return { mode, pool: typeof pool === 'string' ? pool : null };
}
