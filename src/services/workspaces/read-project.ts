/** Reads the settings of a project for its workspaces: once per project, and only when a plan depends on it. */
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { WireError } from '../../model/wire.ts';
import { organizationMode } from './read-organization.ts';

/**
 * The time without activity after which its workspaces are destroyed. Undefined if it is not set, or if the document does not
 * exist or this token cannot read it: then the answers to writes show it.
 */
export async function projectDuration(session: Session, id: string): Promise<string | undefined> {
  const duration = (await projectAttributes(session, id))?.['auto-destroy-activity-duration'];
  return typeof duration === 'string' && duration !== '' ? duration : undefined;
}

/**
 * The execution mode that its workspaces inherit: its own default, else the organization's (wire/workspaces 1.5.1). Undefined
 * if one of the two documents does not say it, or this token cannot read it.
 */
export async function projectMode(session: Session, id: string): Promise<string | undefined> {
  const attributes = await projectAttributes(session, id);
  if (attributes === undefined) return undefined;
  const mode = attributes['default-execution-mode'];
  return typeof mode === 'string' ? mode : organizationMode(session);
}

/** Empty attributes if the document has none; undefined if it was not answered. */
function projectAttributes(session: Session, id: string): Promise<JsonObject | undefined> {
  return session.once(`project ${id}`, async () => {
    try {
      const { status, body } = await session.reader.get(`/projects/${encodeURIComponent(id)}`);
      const data = status === 200 && isJsonObject(body) ? body['data'] : undefined;
      if (!isJsonObject(data)) return undefined;
      return isJsonObject(data['attributes']) ? data['attributes'] : {};
    } catch (error) {
      if (error instanceof WireError) return undefined;
      throw error;
    }
  });
}
