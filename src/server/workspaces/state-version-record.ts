/**
 * State versions as the database stores them: which one is newest or current, which one an unlock makes current; and their events.
 * The current version of a workspace is finalized and not intermediate; a version that is older than the current one never
 * becomes current again.
 */
import { recordEvent, SERVICE_ITSELF } from '../kernel/audit-events.ts';
import { callerById } from '../kernel/caller.ts';
import type { Database } from '../kernel/database.ts';
import { unavailable } from '../kernel/documents.ts';
import type { Services } from '../kernel/services.ts';

export interface StateVersionRow {
  id: string;
  workspace_id: string;
  serial: number;
  status: 'pending' | 'finalized';
  /** 1: saved before a run or a client was done; it becomes current when the workspace is unlocked. */
  intermediate: number;
  lineage: string;
  md5: string | null;
  /** 1: may have an older serial or another lineage than the stored state. */
  forced: number;
  /** Size of the uploaded state, in bytes. */
  state_size: number | null;
  /** MD5 of the uploaded state, which may differ from the announced one. */
  state_md5: string | null;
  has_json_state: number;
  /** JSON: the attribute `resources` of the document. */
  resources: string;
  resource_count: number;
  run_id: string | null;
  created_by_id: string | null;
  created_at: string;
}

/** For queries over `s`. */
export const STATE_VERSION_COLUMNS = `s.*,
  (SELECT f.size FROM state_files f WHERE f.state_version_id = s.id AND f.kind = 'state' AND f.size IS NOT NULL)
    AS state_size,
  (SELECT f.md5 FROM state_files f WHERE f.state_version_id = s.id AND f.kind = 'state' AND f.size IS NOT NULL)
    AS state_md5,
  EXISTS (SELECT 1 FROM state_files f
          WHERE f.state_version_id = s.id AND f.kind = 'json-state' AND f.size IS NOT NULL) AS has_json_state`;

/**
 * SQL over `s`: the newest first, in the order of creation (`rowid` only increases). That is also the order of the serials,
 * unless a client forces another one. Times are not used, because a clock may be set back.
 */
export const NEWEST_FIRST = 's.rowid DESC';

/** The version is newer than the current one of its workspace, or there is no current one. */
const NEWER_THAN_CURRENT = `NOT EXISTS (
  SELECT 1 FROM workspaces w JOIN state_versions c ON c.id = w.current_state_version_id
  WHERE w.id = s.workspace_id AND c.rowid >= s.rowid)`;

/**
 * The version may become current when the lock is released by the run `:run`, or by a user or team (null). A version of another
 * run may not, because that run was discarded, or an admin forced the unlock.
 */
const WAITS_FOR_UNLOCK = `s.intermediate = 1 AND ${NEWER_THAN_CURRENT} AND (s.run_id IS NULL OR s.run_id = :run)`;

export function stateVersionById(database: Database, id: string): StateVersionRow | undefined {
  return first(database, 's.id = :id', { id });
}

export function stateVersionsById(database: Database, ids: readonly string[]): StateVersionRow[] {
  return database.all<StateVersionRow>(
    `SELECT ${STATE_VERSION_COLUMNS} FROM state_versions s
     WHERE s.id IN (SELECT value FROM json_each(:ids)) ORDER BY s.id`,
    { ids: JSON.stringify(ids) },
  );
}

/** The newest state version of a workspace, intermediate or not. */
function newestStateVersion(database: Database, workspaceId: string): StateVersionRow | undefined {
  return first(database, 's.workspace_id = :id', { id: workspaceId });
}

/** How long an upload link is valid. */
const PENDING_MS = 60 * 60 * 1000;

/** Whether the newest version is pending and its upload link is still valid. */
export function isNewestPending(database: Database, workspaceId: string, now: Date): boolean {
  const newest = newestStateVersion(database, workspaceId);
  return newest?.status === 'pending' && now.getTime() - Date.parse(newest.created_at) < PENDING_MS;
}

/** The newest finalized version, intermediate or not. */
export function newestFinalizedStateVersion(
  database: Database,
  workspaceId: string,
): StateVersionRow | undefined {
  return first(database, "s.workspace_id = :id AND s.status = 'finalized'", { id: workspaceId });
}

/** The newest finalized version that is older than this one. */
export function finalizedBefore(
  database: Database,
  { id, workspace_id: workspace }: StateVersionRow,
): StateVersionRow | undefined {
  return first(
    database,
    "s.workspace_id = :workspace AND s.status = 'finalized' AND s.rowid < (SELECT rowid FROM state_versions WHERE id = :id)",
    { id, workspace },
  );
}

/** Removes the pending version with this serial; its upload links stop working. */
export function removePending(database: Database, workspaceId: string, serial: number): void {
  database.run(
    "DELETE FROM state_versions WHERE workspace_id = :workspace AND serial = :serial AND status = 'pending'",
    { workspace: workspaceId, serial },
  );
}

/** A lock that is being released. */
interface ReleasedLock {
  readonly workspaceId: string;
  /** The run that held it; null for a user or a team. */
  readonly runId: string | null;
}

/** Whether the state version that a release of the lock would make current is pending. */
export function isStatePending(database: Database, lock: ReleasedLock): boolean {
  return newestWaitingForUnlock(database, lock)?.status === 'pending';
}

/** Call it before a lock is released. @throws ApiError 503 while the state version that would become current is pending */
export function requireUploadedState(database: Database, lock: ReleasedLock): void {
  if (!isStatePending(database, lock)) return;
  throw unavailable('The latest state version is still pending, try again in a moment');
}

/** Makes the newest finalized intermediate version current, if it is newer than the current one. */
export function promoteIntermediateState(database: Database, lock: ReleasedLock): void {
  const newest = newestWaitingForUnlock(database, lock, "AND s.status = 'finalized'");
  if (newest === undefined) return;
  database.update('state_versions', newest.id, { intermediate: 0 });
  makeCurrent(database, newest);
}

function newestWaitingForUnlock(
  database: Database,
  { workspaceId, runId }: ReleasedLock,
  condition = '',
): StateVersionRow | undefined {
  return first(database, `s.workspace_id = :id AND ${WAITS_FOR_UNLOCK} ${condition}`, {
    id: workspaceId,
    run: runId,
  });
}

/**
 * Whether the lock is held by another run or user than those of the version: a state may arrive long after a forced unlock, and
 * must not become current under another lock. The lock of a team does not count, because the version stores only its user.
 */
export function isLockedByAnother(
  database: Database,
  { workspace_id: id, run_id: run, created_by_id: user }: StateVersionRow,
): boolean {
  const holder = database.get<{ type: string | null; id: string | null }>(
    'SELECT locked_by_type AS type, locked_by_id AS id FROM workspaces WHERE id = :id',
    { id },
  );
  if (holder?.type === 'runs') return holder.id !== run;
  return holder?.type === 'users' && (run !== null || holder.id !== user);
}

/** Makes a finalized version the current one, unless a newer one is current already. */
export function makeCurrentIfNewer(database: Database, id: string): void {
  const newer = first(database, `s.id = :id AND ${NEWER_THAN_CURRENT}`, { id });
  if (newer !== undefined) makeCurrent(database, newer);
}

/** Makes a finalized version the current one of its workspace. */
export function makeCurrent(
  database: Database,
  version: Pick<StateVersionRow, 'id' | 'workspace_id' | 'resource_count'>,
): void {
  database.update('workspaces', version.workspace_id, {
    current_state_version_id: version.id,
    resource_count: version.resource_count,
  });
}

function first(
  database: Database,
  condition: string,
  parameters: Readonly<Record<string, string | null>>,
): StateVersionRow | undefined {
  return database.get<StateVersionRow>(
    `SELECT ${STATE_VERSION_COLUMNS} FROM state_versions s WHERE ${condition} ORDER BY ${NEWEST_FIRST} LIMIT 1`,
    parameters,
  );
}

/** Records the upload of a file to a signed link. The actor is the creator of the version; there is no request id. */
export function recordUpload(services: Services, version: StateVersionRow): void {
  const workspace = services.database.byId<{ organization_id: string }>('workspaces', version.workspace_id);
  const about = { id: version.id, organization_id: workspace?.organization_id ?? '' };
  const creator = callerById(services.database, version.created_by_id ?? '', services.now());
  recordEvent({ services, caller: creator ?? SERVICE_ITSELF }, 'state_version.upload', about);
}
