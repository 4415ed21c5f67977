/**
 * The execution mode and the agent pool that a workspace inherits: its project's, else its organization's (wire/workspaces 1.5.1).
 * A service that calls every mode inherited is seen through by them (rule 48).
 */
import { isJsonObject, type JsonObject, memberOf } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { WireError } from '../../model/wire.ts';
import { readOrganization } from './read-organization.ts';
import { relatedId, type WorkspaceItem } from './workspace-item.ts';

export type Inherited = { readonly mode: string; readonly pool: string | null } | 'unknown';

/** A service without defaults answers none: then it has the one that the API begins with. */
const withoutDefaults = { mode: 'remote', pool: null };

/** Whether the service says of this workspace that it inherits its mode. */
export function isSaidToInherit({ attributes }: WorkspaceItem): boolean {
  return memberOf(attributes['setting-overwrites'], 'execution-mode') === false;
}

/** What this workspace would inherit. Sends at most one request for its organization and one for its project in a session. */
export async function inheritedExecution(session: Session, item: WorkspaceItem): Promise<Inherited> {
  const project = relatedId(item, 'project');
  const ofProject = project === null ? {} : await projectDefaults(session, project);
  if (ofProject === 'unread') return 'unknown';
  if (ofProject.mode !== undefined) return { mode: ofProject.mode, pool: ofProject.pool ?? null };
  const organization = await readOrganization(session);
  if (organization === undefined) return 'unknown';
  const ofAll = defaultsIn(organization);
  return ofAll.mode === undefined ? withoutDefaults : { mode: ofAll.mode, pool: ofAll.pool ?? null };
}

interface Defaults {
  readonly mode?: string;
  readonly pool?: string;
}

function projectDefaults(session: Session, id: string): Promise<Defaults | 'unread'> {
  return session.once(`defaults of project ${id}`, async () => {
    try {
      const { status, body } = await session.reader.get(`/projects/${encodeURIComponent(id)}`);
      const data = memberOf(body, 'data');
      return status === 200 && isJsonObject(data) ? defaultsIn(data) : 'unread';
    } catch (error) {
      if (error instanceof WireError) return 'unread';
      throw error;
    }
  });
}

function defaultsIn({ attributes, relationships }: JsonObject): Defaults {
  const mode = memberOf(attributes, 'default-execution-mode');
  const pool = memberOf(memberOf(memberOf(relationships, 'default-agent-pool'), 'data'), 'id');
  return {
    ...(typeof mode === 'string' ? { mode } : {}),
    ...(typeof pool === 'string' ? { pool } : {}),
  };
}
