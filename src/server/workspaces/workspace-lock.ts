/**
 * Lock, unlock and force-unlock a workspace.
 *
 * unlocked ──lock──▶ locked by a user or a team ──unlock by the holder (or a member of the team)──▶ unlocked
 *                     └─────────────────────────force-unlock by an admin──────────────────────────▶ unlocked
 *
 * Invariant: a lock has one holder; only the holder unlocks, unless an admin forces it.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import type { Caller } from '../kernel/caller.ts';
import { asObject, MemberReader, TEXT_LIMIT } from '../kernel/request-body.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../kernel/endpoint.ts';
import { conflict, invalid, type PointedProblem } from '../kernel/documents.ts';
import { startNextRun } from './run-life-cycle.ts';
import type { Services } from '../kernel/services.ts';
import { requireWorkspace } from './access.ts';
import { workspaceDocument } from './workspaces.ts';
import { promoteIntermediateState, requireUploadedState } from './state-version-record.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

export function lockWorkspace(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-lock');
  if (workspace.locked_by_id !== null) throw conflict('The workspace is already locked');
  const { type, id } = request.caller.actsAs;
  const lock = { locked_by_type: type, locked_by_id: id, locked_reason: lockReason(request.body) };
  return writeLock(request, workspace, { lock, action: 'lock' });
}

export function unlockWorkspace(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-unlock');
  requireLocked(workspace);
  if (!holdsLock(request.caller, workspace)) {
    throw conflict(`The workspace is locked by ${holderOf(request.services, workspace)}`);
  }
  const releasedLock = { workspaceId: workspace.id, runId: null };
  requireUploadedState(request.services.database, releasedLock);
  promoteIntermediateState(request.services.database, releasedLock);
  return writeLock(request, workspace, { lock: NO_LOCK, action: 'unlock' });
}

export function forceUnlockWorkspace(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-force-unlock');
  requireLocked(workspace);
  return writeLock(request, workspace, { lock: NO_LOCK, action: 'force_unlock' });
}

/** After an unlock, the reason is empty. It is null only before the first lock. */
const NO_LOCK = { locked_by_type: null, locked_by_id: null, locked_reason: '' };

interface LockChange {
  readonly lock: Readonly<Record<string, string | null>>;
  readonly action: 'lock' | 'unlock' | 'force_unlock';
}

function writeLock(request: ApiRequest, workspace: WorkspaceRecord, change: LockChange): ApiAnswer {
  request.services.database.update('workspaces', workspace.id, {
    ...change.lock,
    updated_at: request.services.now().toISOString(),
  });
  recordEvent(request, `workspace.${change.action}`, workspace);
  if (change.lock === NO_LOCK) startNextRun(request.services, workspace.id);
  return ok(workspaceDocument(request, workspace.id));
}

/** Clients send `{reason}`, `{data: {attributes: {reason}}}` or nothing. @throws ApiError 422 unless it is a text that is not too long */
function lockReason(body: unknown): string {
  const plain = asObject(body) ?? {};
  const wrapped = asObject(asObject(plain['data'])?.['attributes']) ?? {};
  const problems: PointedProblem[] = [];
  const [first, second] = [
    new MemberReader(plain, '', problems),
    new MemberReader(wrapped, '/data/attributes', problems),
  ];
  const reason = first.nullableText('reason') ?? second.nullableText('reason') ?? '';
  if (reason.length > TEXT_LIMIT) {
    const pointer = plain['reason'] === reason ? '/reason' : '/data/attributes/reason';
    problems.push({ detail: `reason has at most ${TEXT_LIMIT} characters`, pointer });
  }
  if (problems.length > 0) throw invalid(problems);
  return reason;
}

/** A lock by a team's token belongs to the team: each of its members holds it. */
function holdsLock({ actsAs, teamIds }: Caller, workspace: WorkspaceRecord): boolean {
  const { locked_by_type: type, locked_by_id: id } = workspace;
  if (type === 'teams') return id !== null && teamIds.includes(id);
  return type === actsAs.type && id === actsAs.id;
}

function requireLocked(workspace: WorkspaceRecord): void {
  if (workspace.locked_by_id === null) throw conflict('The workspace is already unlocked');
}

/** Clients distinguish holders by the words User, Team and Run. */
function holderOf(services: Services, workspace: WorkspaceRecord): string {
  const id = workspace.locked_by_id ?? '';
  if (workspace.locked_by_type === 'runs') return `Run ${id}`;
  if (workspace.locked_by_type === 'teams') {
    const team = services.database.byId<{ name: string }>('teams', id);
    return `Team ${team?.name ?? id}`;
  }
  const user = services.database.byId<{ username: string }>('users', id);
  return `User ${user?.username ?? id}`;
}
