/**
 * Reads the projects of an organization, which decide what their workspaces inherit: in one list, and only when a plan depends on
 * it (wire/workspaces 6).
 */
import { readPages } from '../../http/read-pages.ts';
import { type Json, memberOf } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { describeAnswer, WireError } from '../../model/wire.ts';
import {
  defaultPoolIn,
  defaultProjectIn,
  organizationMode,
  organizationPath,
  readOrganization,
} from './read-organization.ts';

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
