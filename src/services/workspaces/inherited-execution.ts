/**
 * The execution mode and the agent pool that a workspace inherits: its project's, else its organization's (wire/workspaces 1.5.1).
 * A service that calls every mode inherited is seen through by them (rule 48).
 */
import { memberOf } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { defaultPoolIn, readOrganization } from './read-organization.ts';
import { readProject } from './read-project.ts';
import { relatedId, type WorkspaceItem } from './workspace-item.ts';

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
