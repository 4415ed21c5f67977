/**
 * Lock, unlock and force-unlock a workspace.
 *
 * unlocked ──lock──▶ locked by a user or a team ──unlock by the same, or force-unlock by an admin──▶ unlocked
 *
 * Invariant: a lock has one holder; only the holder takes it back, unless an admin forces it.
 */
import { asObject, MemberReader, TEXT_LIMIT } from '../kernel/request-body.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../kernel/endpoint.ts';
import { conflict, invalid, type PointedProblem } from '../kernel/documents.ts';
import { startNextRun } from './run-life-cycle.ts';
import type { Services } from '../kernel/services.ts';
import { requireWorkspace } from './access.ts';
import { workspaceDocument } from './workspaces.ts';
import { promoteIntermediateState, requireUploadedState } from './state-version-record.ts';
import { recordWorkspaceEvent, type WorkspaceAction, type WorkspaceRecord } from './workspace-record.ts';

export function lockWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-lock');
  if (workspace.locked_by_id !== null) throw conflict('The workspace is already locked');
  const { type, id } = request.caller.actsAs;
  const lock = { locked_by_type: type, locked_by_id: id, locked_reason: lockReason(request.body) };
  return writeLock(services, request, workspace, { lock, action: 'lock' });
}

export function unlockWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-unlock');
  requireLocked(workspace);
  const { type, id } = request.caller.actsAs;
  if (workspace.locked_by_type !== type || workspace.locked_by_id !== id) {
    throw conflict(`The workspace is locked by ${holderOf(services, workspace)}`);
  }
  const lock = { workspaceId: workspace.id, runId: null };
  requireUploadedState(services.database, lock);
  promoteIntermediateState(services.database, lock);
  return writeLock(services, request, workspace, { lock: NO_LOCK, action: 'unlock' });
}

export function forceUnlockWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-force-unlock');
  requireLocked(workspace);
  return writeLock(services, request, workspace, { lock: NO_LOCK, action: 'force_unlock' });
}

/** The reason is kept after an unlock: it is empty, and no longer null, once a workspace has been locked. */
const NO_LOCK = { locked_by_type: null, locked_by_id: null, locked_reason: '' };

interface LockChange {
  readonly lock: Readonly<Record<string, string | null>>;
  readonly action: WorkspaceAction;
}

function writeLock(
  services: Services,
  request: ApiRequest,
  workspace: WorkspaceRecord,
  change: LockChange,
): ApiAnswer {
  services.database.update('workspaces', workspace.id, {
    ...change.lock,
    updated_at: services.now().toISOString(),
  });
  recordWorkspaceEvent(services, request, workspace, { action: change.action });
  if (change.lock === NO_LOCK) startNextRun(services, workspace.id);
  return ok(workspaceDocument(services, request, workspace.id));
}

/** Clients send `{reason}`, `{data: {attributes: {reason}}}` or nothing. @throws ApiError 422 for a reason that is no text, or too long */
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

function requireLocked(workspace: WorkspaceRecord): void {
  if (workspace.locked_by_id === null) throw conflict('The workspace is already unlocked');
}

/** Clients tell holders apart by the words User, Team and Run. */
function holderOf(services: Services, workspace: WorkspaceRecord): string {
  const id = workspace.locked_by_id ?? '';
  if (workspace.locked_by_type === 'runs') return `Run ${id}`;
  if (workspace.locked_by_type === 'teams') {
    const team = services.database.get<{ name: string }>('SELECT name FROM teams WHERE id = :id', { id });
    return `Team ${team?.name ?? id}`;
  }
  const user = services.database.get<{ username: string }>('SELECT username FROM users WHERE id = :id', {
    id,
  });
  return `User ${user?.username ?? id}`;
}
