/** What an organization enforces on its workspaces, whatever they say: read once, and only when a plan depends on it. */
import { isJsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { WireError } from '../../model/wire.ts';
import { organizationPath } from './list-workspaces.ts';

/**
 * Whether health assessments run in every workspace. False where nobody knows: a service may have no such document, or
 * none for this token, and then its own answers have to tell.
 */
export function enforcesAssessments(session: Session): Promise<boolean> {
  return session.once('organization', async () => {
    try {
      const { status, body } = await session.reader.get(organizationPath(session));
      const data = status === 200 && isJsonObject(body) ? body['data'] : undefined;
      const attributes = isJsonObject(data) ? data['attributes'] : undefined;
      return isJsonObject(attributes) && attributes['assessments-enforced'] === true;
    } catch (error) {
      if (error instanceof WireError) return false;
      throw error;
    }
  });
}
