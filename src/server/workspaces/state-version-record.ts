/**
 * State versions as the database keeps them: which is the newest, which is current, what an unlock changes; and their events.
 * The current version of a workspace is finalized and not intermediate; a version older than the current one never becomes
 * current again.
 */
import { type EventCause, SERVICE_ITSELF } from '../kernel/audit-events.ts';
import { callerById } from '../kernel/caller.ts';
import type { Database } from '../kernel/database.ts';
import { unavailable } from '../kernel/documents.ts';
import type { Services } from '../kernel/services.ts';

export interface StateVersionRow {
  id: string;
  workspace_id: string;
  serial: number;
  status: 'pending' | 'finalized';
  /** 1: saved in the middle of something; it becomes current when the workspace is unlocked. */
  intermediate: number;
  lineage: string;
  md5: string | null;
  /** 1: may have an older serial or another lineage than the stored state. */
  forced: number;
  state: string | null;
  json_state: string | null;
  /** JSON: what `resources` of the document shows. */
  resources: string;
  resource_count: number;
  run_id: string | null;
  created_by_id: string | null;
  created_at: string;
}

/**
 * SQL over `s`: the newest first, in the order in which the service took them (`rowid` goes up). That is the order of
 * the serials, which only go up unless a client forces another one; a clock may be set back and proves nothing.
 */
export const NEWEST_FIRST = 's.rowid DESC';

/** Newer than the current one of its workspace, or there is no current one. */
const NEWER_THAN_CURRENT = `NOT EXISTS (
  SELECT 1 FROM workspaces w JOIN state_versions c ON c.id = w.current_state_version_id
  WHERE w.id = s.workspace_id AND c.rowid >= s.rowid)`;

/**
 * May become current when the lock is given back, by the run `:run` or (null) by who holds it otherwise. What another run
 * saved stays that run's: it was discarded, or an admin forced its lock off.
 */
const WAITS_FOR_UNLOCK = `s.intermediate = 1 AND ${NEWER_THAN_CURRENT} AND (s.run_id IS NULL OR s.run_id = :run)`;

export function stateVersionById(database: Database, id: string): StateVersionRow | undefined {
  return first(database, 's.id = :id', { id });
}

export function stateVersionsById(database: Database, ids: readonly string[]): StateVersionRow[] {
  return database.all<StateVersionRow>(
    'SELECT * FROM state_versions WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id',
    { ids: JSON.stringify(ids) },
  );
}

/** The newest state version of a workspace, intermediate or not. */
function newestStateVersion(database: Database, workspaceId: string): StateVersionRow | undefined {
  return first(database, 's.workspace_id = :id', { id: workspaceId });
}

/** How long a state may be on its way. */
const PENDING_MS = 60 * 60 * 1000;

/** Whether the state of the newest version is still waited for: as long as the link holds that was given when it was announced. */
export function isNewestPending(database: Database, workspaceId: string, now: Date): boolean {
  const newest = newestStateVersion(database, workspaceId);
  return newest?.status === 'pending' && now.getTime() - Date.parse(newest.created_at) < PENDING_MS;
}

/** The newest one whose state has come, intermediate or not. */
export function newestFinalizedStateVersion(
  database: Database,
  workspaceId: string,
): StateVersionRow | undefined {
  return first(database, "s.workspace_id = :id AND s.status = 'finalized'", { id: workspaceId });
}

/** The newest one before this version whose state has come. */
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

/** Removes the version of this serial whose state has not come, and with it the links to upload it. */
export function removePending(database: Database, workspaceId: string, serial: number): void {
  database.run(
    "DELETE FROM state_versions WHERE workspace_id = :workspace AND serial = :serial AND status = 'pending'",
    { workspace: workspaceId, serial },
  );
}

/** A lock that is given back, or that is about to be. */
interface ReleasedLock {
  readonly workspaceId: string;
  /** The run that held it; null for a user or a team. */
  readonly runId: string | null;
}

/** Whether the state that giving the lock back would make current is still to come. */
export function isStatePending(database: Database, lock: ReleasedLock): boolean {
  return newestWaitingForUnlock(database, lock)?.status === 'pending';
}

/** Call it before a lock is given back. @throws ApiError 503 while the state that would become current is to come */
export function requireUploadedState(database: Database, lock: ReleasedLock): void {
  if (!isStatePending(database, lock)) return;
  throw unavailable('The latest state version is still pending, try again in a moment');
}

/** Makes the newest finalized intermediate version since the current one the current one. */
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
 * Whether somebody else holds the lock than who announced the version: his state may come long after his lock was forced off, and
 * must not become current below the other one. Teams are not told apart: the version keeps only their users.
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

/** Makes a version whose state has come the current one, unless a newer one is current already. */
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
    `SELECT s.* FROM state_versions s WHERE ${condition} ORDER BY ${NEWEST_FIRST} LIMIT 1`,
    parameters,
  );
}

// What the audit trail learns of state versions.

/** Call it in the transaction of the change, or of the reading. A list is told by the id of its workspace. */
export function recordStateEvent(
  services: Services,
  about: { readonly id: string; readonly organizationId: string },
  action: 'index' | 'show' | 'create' | 'upload',
  cause: EventCause,
): void {
  services.recordEvent({
    organizationId: about.organizationId,
    actor: cause.caller,
    requestId: cause.requestId,
    resource: { id: about.id, type: 'state_version', action },
  });
}

/** A file that was sent to a signed link. That is no request of the API: it is told as one of who made the version. */
export function recordUpload(services: Services, version: StateVersionRow): void {
  const workspace = services.database.get<{ organization_id: string }>(
    'SELECT organization_id FROM workspaces WHERE id = :id',
    { id: version.workspace_id },
  );
  const about = { id: version.id, organizationId: workspace?.organization_id ?? '' };
  const creator = callerById(services.database, version.created_by_id ?? '', services.now());
  recordStateEvent(services, about, 'upload', { caller: creator ?? SERVICE_ITSELF });
}
