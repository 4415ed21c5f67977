/**
 * Reads the settings of an organization and its projects that workspaces inherit, such as the execution mode (wire/workspaces
 * 1.5.1, 6): once, and only if a plan depends on them.
 */
import { type Answer, describeAnswer, WireError } from '../../model/http.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import type { Session } from '../../model/kind.ts';
import { readPages } from '../read-pages.ts';
import { relatedId, type WorkspaceItem } from './workspace.ts';

/** `/organizations/acme` */
export function organizationPath({ target }: Pick<Session, 'target'>): string {
  return `/organizations/${encodeURIComponent(target.organization ?? '')}`;
}

/** The answer about the organization itself, read once per session; undefined if there was none. */
export function organizationAnswer(session: Session): Promise<Answer | undefined> {
  return session.once('organization', async () => {
    try {
      return await session.reader.get(organizationPath(session));
    } catch (error) {
      if (error instanceof WireError) return undefined;
      throw error;
    }
  });
}

/** The document of the organization; undefined where it does not exist, or this token cannot read it. */
async function readOrganization(session: Session): Promise<JsonObject | undefined> {
  const answer = await organizationAnswer(session);
  const data = answer?.status === 200 ? memberOf(answer.body, 'data') : undefined;
  return isJsonObject(data) ? data : undefined;
}

/**
 * Whether health assessments run in every workspace. False also if the document does not exist or this token cannot read it:
 * then the answers to writes show it.
 */
export async function enforcesAssessments(session: Session): Promise<boolean> {
  return (await organizationAttributes(session))?.['assessments-enforced'] === true;
}

/** The execution mode of workspaces if neither they nor their project have one; undefined if the answer has none. */
export async function organizationMode(session: Session): Promise<string | undefined> {
  const mode = (await organizationAttributes(session))?.['default-execution-mode'];
  return typeof mode === 'string' ? mode : undefined;
}

/** The id of the project of workspaces created without one; undefined if the answer has none. */
function defaultProjectIn({ relationships = null }: JsonObject): string | undefined {
  const id = memberOf(memberOf(memberOf(relationships, 'default-project'), 'data'), 'id');
  return typeof id === 'string' ? id : undefined;
}

/** The id of the default agent pool in the relationships of an organization or a project. */
function defaultPoolIn(relationships: Json | undefined): Json | undefined {
  return memberOf(memberOf(memberOf(relationships, 'default-agent-pool'), 'data'), 'id');
}

/** The ids of the agent pools of the organization; undefined if the list is not complete, or this token cannot read it. */
export async function agentPools(session: Session): Promise<ReadonlySet<string> | undefined> {
  const { items, problem } = await listOf(session, 'agent-pools');
  return problem === undefined ? new Set(items.map(({ id }) => String(id))) : undefined;
}

interface OrganizationList {
  readonly items: readonly JsonObject[];
  /** why something may be missing in it, as a clause */
  readonly problem?: string;
  /** the service answers 404: it has no such list, or hides it from this token */
  readonly isMissing?: true;
}

/** A list of things of the organization, read once per session. */
export function listOf(session: Session, type: string): Promise<OrganizationList> {
  return session.once(type, async () => {
    try {
      const { items, problem } = await readPages(session.reader, `${organizationPath(session)}/${type}`);
      if (problem === undefined) return { items };
      const isMissing = typeof problem === 'object' && problem.status === 404;
      const why = typeof problem === 'string' ? problem : describeAnswer(problem);
      return { items, problem: why, ...(isMissing ? { isMissing } : {}) };
    } catch (error) {
      if (error instanceof WireError) return { items: [], problem: error.message };
      throw error;
    }
  });
}

/**
 * Whether the service is the hosted edition of its dialect, from the headers of this answer, with any status (wire/workspaces 1.6).
 * Undefined if the dialect has no such header, or there was no answer.
 */
export async function isHosted(session: Session): Promise<boolean | undefined> {
  if (session.dialect.hosted === undefined) return undefined;
  return session.once('hosted', async () => {
    try {
      return (await session.reader.get('/ping')).hosted === true;
    } catch (error) {
      if (error instanceof WireError) return undefined;
      throw error;
    }
  });
}

async function organizationAttributes(session: Session): Promise<JsonObject | undefined> {
  const { attributes } = (await readOrganization(session)) ?? {};
  return isJsonObject(attributes) ? attributes : undefined;
}

// Reads the projects of an organization in one list, and only when a plan depends on them (wire/workspaces 6).

/** What the workspaces of a project inherit from it. */
interface Project {
  readonly id: string;
  readonly name: string;
  /** the time without activity after which their resources are destroyed; null: none */
  readonly duration: string | null;
  /** their execution mode; absent if the project has none, so that it is the organization's */
  readonly mode?: string;
  /** the id of the agent pool for this mode */
  readonly pool?: string;
}

/** A project, or why it could not be read; `none`: the service has no projects. */
type ProjectReading = Project | { readonly unread: string } | 'none';

interface ProjectList {
  readonly found: ReadonlyMap<string, ListedProject>;
  /** why a project may be missing in the list */
  readonly problem?: string;
  /** the service has no such list */
  readonly isMissing?: true;
}

interface ListedProject {
  readonly name: string;
  readonly attributes: Json;
  readonly pool: Json | undefined;
}

/**
 * The project with this id.
 * @param id undefined: the project that the service puts a workspace into if a create names none
 */
export async function readProject(session: Session, id: string | undefined): Promise<ProjectReading> {
  const list = await listProjects(session);
  const wanted = id ?? (await defaultOf(session, list));
  if (wanted === undefined) return withoutDefault(list);
  const project = list.found.get(wanted);
  if (project === undefined) {
    if (list.isMissing) return 'none';
    return { unread: list.problem ?? 'the list of projects that this token can see does not include it' };
  }
  return projectFrom(wanted, project);
}

/** The same project, read again before a plan that relies on it is applied. */
export function readProjectAgain(
  session: Session,
  id: string,
): Promise<Project | { readonly unread: string }> {
  return session.once(`project ${id}`, async () => {
    try {
      const answer = await session.reader.get(`/projects/${encodeURIComponent(id)}`);
      const data = answer.status === 200 ? memberOf(answer.body, 'data') : undefined;
      return isJsonObject(data) ? projectFrom(id, listed(id, data)) : { unread: describeAnswer(answer) };
    } catch (error) {
      if (error instanceof WireError) return { unread: error.message };
      throw error;
    }
  });
}

function projectFrom(id: string, { name, attributes, pool }: ListedProject): Project {
  const duration = memberOf(attributes, 'auto-destroy-activity-duration');
  const mode = memberOf(attributes, 'default-execution-mode');
  const isOwn = memberOf(memberOf(attributes, 'setting-overwrites'), 'default-execution-mode') !== false;
  return {
    id,
    name,
    duration: typeof duration === 'string' && duration !== '' ? duration : null,
    ...(typeof mode === 'string' && isOwn ? { mode, ...(typeof pool === 'string' ? { pool } : {}) } : {}),
  };
}

/** The organization names the default project: a list with one project may be incomplete for this token. */
async function defaultOf(session: Session, { found, problem }: ProjectList): Promise<string | undefined> {
  if (problem !== undefined) return undefined;
  const organization = await readOrganization(session);
  if (organization === undefined) return undefined;
  const named = defaultProjectIn(organization);
  return named ?? (found.size === 1 ? [...found.keys()][0] : undefined);
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

function listed(id: string, { attributes = null, relationships }: JsonObject): ListedProject {
  const name = memberOf(attributes, 'name');
  return { name: typeof name === 'string' ? name : id, attributes, pool: defaultPoolIn(relationships) };
}

async function listProjects(session: Session): Promise<ProjectList> {
  const { items, ...rest } = await listOf(session, 'projects');
  return session.once('projects by id', async () => {
    const found = items.map((item) => [String(item['id']), listed(String(item['id']), item)] as const);
    return { ...rest, found: new Map(found) };
  });
}

// The execution mode and the agent pool that a workspace inherits: its project's, else its organization's (wire/workspaces 1.5.1).
// They also reveal a service that reports every mode as inherited.

export type Inherited = { readonly mode: string; readonly pool: string | null } | 'unknown';

/** For a service without defaults: the initial default of the API. */
const withoutDefaults = { mode: 'remote', pool: null };

/** Whether the service reports that this workspace inherits its mode. */
export function reportsInheritance({ attributes }: WorkspaceItem): boolean {
  return memberOf(attributes['setting-overwrites'], 'execution-mode') === false;
}

/**
 * What this workspace would inherit. Sends at most one request for the organization, and one for the list of its projects, in a
 * session.
 */
export async function inheritedExecution(session: Session, item: WorkspaceItem): Promise<Inherited> {
  const id = relatedId(item, 'project');
  const project = id === null ? undefined : await readProject(session, id);
  if (project === 'none' || (project !== undefined && 'unread' in project)) return 'unknown';
  if (project?.mode !== undefined) return { mode: project.mode, pool: project.pool ?? null };
  const organization = await readOrganization(session);
  if (organization === undefined) return 'unknown';
  const mode = memberOf(organization['attributes'], 'default-execution-mode');
  const pool = defaultPoolIn(organization['relationships']);
  if (typeof mode !== 'string') return withoutDefaults;
  return { mode, pool: typeof pool === 'string' ? pool : null };
}
