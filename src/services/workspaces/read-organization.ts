/** Reads what an organization says for all of its workspaces: once, and only when a plan depends on it. */
import { isJsonObject, type JsonObject } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { WireError } from '../../model/wire.ts';
import { organizationPath } from './list-workspaces.ts';

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

function organizationAttributes(session: Session): Promise<JsonObject | undefined> {
  return session.once('organization', async () => {
    try {
      const { status, body } = await session.reader.get(organizationPath(session));
      const data = status === 200 && isJsonObject(body) ? body['data'] : undefined;
      const attributes = isJsonObject(data) ? data['attributes'] : undefined;
      return isJsonObject(attributes) ? attributes : undefined;
    } catch (error) {
      if (error instanceof WireError) return undefined;
      throw error;
    }
  });
}
