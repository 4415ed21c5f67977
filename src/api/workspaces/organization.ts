/**
 * Reads what an organization and its projects decide for their workspaces, such as the execution mode that these inherit
 * (wire/workspaces 1.5.1, 6): once, and only if a plan depends on it.
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

/** The answer about the organization itself, asked for once in a session; undefined where none came. */
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

/** The execution mode of workspaces for which neither they nor their project have one; undefined if it was not answered. */
export async function organizationMode(session: Session): Promise<string | undefined> {
  const mode = (await organizationAttributes(session))?.['default-execution-mode'];
  return typeof mode === 'string' ? mode : undefined;
}

/** The id of the project of workspaces that name none when they are created; undefined if the organization does not say it. */
function defaultProjectIn({ relationships = null }: JsonObject): string | undefined {
  const id = memberOf(memberOf(memberOf(relationships, 'default-project'), 'data'), 'id');
  return typeof id === 'string' ? id : undefined;
}

/** The id of the default agent pool in the relationships of an organization or a project. */
function defaultPoolIn(relationships: Json | undefined): Json | undefined {
  return memberOf(memberOf(memberOf(relationships, 'default-agent-pool'), 'data'), 'id');
}

/** The ids of the agent pools of the organization; undefined if the list is not complete, or this token cannot read it. */
export function agentPools(session: Session): Promise<ReadonlySet<string> | undefined> {
  return session.once('agent pools', async () => {
    try {
      const { items, complete } = await readPages(session.reader, `${organizationPath(session)}/agent-pools`);
      return complete ? new Set(items.map(({ id }) => String(id))) : undefined;
    } catch (error) {
      if (error instanceof WireError) return undefined;
      throw error;
    }
  });
}

/**
 * Whether the service is the hosted edition of its dialect. Its clients learn it from the headers of this answer, whatever its status
 * (wire/workspaces 1.6). Undefined where the dialect does not tell, or no answer came.
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

// Reads the projects of an organization, which decide what their workspaces inherit: in one list, and only when a plan depends on
// it (wire/workspaces 6).

/** What the workspaces of a project inherit from it. */
interface Project {
  readonly id: string;
  readonly name: string;
  /** the time without activity after which their resources are destroyed; null: none */
  readonly duration: string | null;
  /** their execution mode; absent if the project has none, so that it is the organization's */
  readonly mode?: string;
  /** the id of the agent pool that goes with this mode */
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
    return { unread: list.problem ?? 'the list of projects, as this token sees it, does not have it' };
  }
  const { name, attributes, pool } = project;
  const duration = memberOf(attributes, 'auto-destroy-activity-duration');
  const mode = memberOf(attributes, 'default-execution-mode');
  const isOwn = memberOf(memberOf(attributes, 'setting-overwrites'), 'default-execution-mode') !== false;
  return {
    id: wanted,
    name,
    duration: typeof duration === 'string' && duration !== '' ? duration : null,
    ...(typeof mode === 'string' && isOwn ? { mode, ...(typeof pool === 'string' ? { pool } : {}) } : {}),
  };
}

/** A list that this token sees in part may hold one project, and not the default one: the organization names it. */
async function defaultOf(session: Session, { found, problem }: ProjectList): Promise<string | undefined> {
  if (problem !== undefined) return undefined;
  const organization = await readOrganization(session);
  if (organization === undefined) return undefined;
  const named = defaultProjectIn(organization);
  return named ?? (found.size === 1 ? [...found.keys()][0] : undefined);
}

/** It is unknown which project is the default one: that makes no difference where the service has no projects. */
function withoutDefault({ isMissing, problem }: ProjectList): ProjectReading {
  if (isMissing) return 'none';
  return { unread: problem ?? 'the organization does not say which project is its default' };
}

/** The execution mode that the workspaces of a project inherit, from it or from the organization; undefined if it could not be read. */
export async function projectMode(session: Session, id: string): Promise<string | undefined> {
  const project = await readProject(session, id);
  if (project === 'none' || 'unread' in project) return undefined;
  return project.mode ?? organizationMode(session);
}

function listProjects(session: Session): Promise<ProjectList> {
  return session.once('projects', async () => {
    try {
      const { items, problem } = await readPages(session.reader, `${organizationPath(session)}/projects`);
      const found = items.map(({ id, attributes = null, relationships }) => {
        const name = memberOf(attributes, 'name');
        const pool = defaultPoolIn(relationships);
        return [
          String(id),
          { name: typeof name === 'string' ? name : String(id), attributes, pool },
        ] as const;
      });
      const isMissing = typeof problem === 'object' && problem.status === 404;
      return {
        found: new Map(found),
        ...(problem === undefined
          ? {}
          : { problem: typeof problem === 'string' ? problem : describeAnswer(problem) }),
        ...(isMissing ? { isMissing } : {}),
      };
    } catch (error) {
      if (error instanceof WireError) return { found: new Map(), problem: error.message };
      throw error;
    }
  });
}

// The execution mode and the agent pool that a workspace inherits: its project's, else its organization's (wire/workspaces 1.5.1).
// A service that calls every mode inherited is seen through by them (rule 48).

export type Inherited = { readonly mode: string; readonly pool: string | null } | 'unknown';

/** A service without defaults answers none: then it has the one that the API begins with. */
const withoutDefaults = { mode: 'remote', pool: null };

/** Whether the service says of this workspace that it inherits its mode. */
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
