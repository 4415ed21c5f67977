/** What a project says for the workspaces in it: read once for each, and only when a plan depends on it. */
import { isJsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { WireError } from '../../model/wire.ts';

/**
 * After how long without activity its workspaces are destroyed. Undefined where it says nothing, and where nobody knows: a
 * service may have no such document, or none for this token, and then its own answers have to tell.
 */
export function projectDuration(session: Session, id: string): Promise<string | undefined> {
  return session.once(`project ${id}`, async () => {
    try {
      const { status, body } = await session.reader.get(`/projects/${encodeURIComponent(id)}`);
      const data = status === 200 && isJsonObject(body) ? body['data'] : undefined;
      const attributes = isJsonObject(data) ? data['attributes'] : undefined;
      const duration = isJsonObject(attributes) ? attributes['auto-destroy-activity-duration'] : undefined;
      return typeof duration === 'string' && duration !== '' ? duration : undefined;
    } catch (error) {
      if (error instanceof WireError) return undefined;
      throw error;
    }
  });
}
