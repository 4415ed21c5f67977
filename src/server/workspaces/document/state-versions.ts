/**
 * The little that workspaces know of their state versions: what the newest is, and what unlocking does with it.
 * Invariant: `current_state_version_id` names a finalized version or nothing.
 */
import type { Database } from '../../data-file/database.ts';

export interface StateVersionRow {
  id: string;
  status: 'pending' | 'finalized';
  intermediate: number;
  resource_count: number;
}

/** The state version with the highest serial, intermediate or not. */
export function newestStateVersion(database: Database, workspaceId: string): StateVersionRow | undefined {
  return database.get<StateVersionRow>(
    `SELECT id, status, intermediate, resource_count FROM state_versions
     WHERE workspace_id = :id ORDER BY serial DESC LIMIT 1`,
    { id: workspaceId },
  );
}

/** The intermediate state version with the highest serial: what an unlock would make current. */
export function newestIntermediateStateVersion(
  database: Database,
  workspaceId: string,
): StateVersionRow | undefined {
  return database.get<StateVersionRow>(
    `SELECT id, status, intermediate, resource_count FROM state_versions
     WHERE workspace_id = :id AND intermediate = 1 ORDER BY serial DESC LIMIT 1`,
    { id: workspaceId },
  );
}

/** Makes the newest finalized intermediate version the current one; it is no longer intermediate then. */
export function promoteIntermediateState(database: Database, workspaceId: string): void {
  const newest = database.get<StateVersionRow>(
    `SELECT id, status, intermediate, resource_count FROM state_versions
     WHERE workspace_id = :id AND intermediate = 1 AND status = 'finalized' ORDER BY serial DESC LIMIT 1`,
    { id: workspaceId },
  );
  if (newest === undefined) return;
  database.update('state_versions', newest.id, { intermediate: 0 });
  database.update('workspaces', workspaceId, {
    current_state_version_id: newest.id,
    resource_count: newest.resource_count,
  });
}
