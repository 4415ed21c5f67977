/**
 * Which workspaces may read a workspace's state: GET, PATCH, POST and DELETE …/relationships/remote-state-consumers.
 * Invariants: a write is atomic and does not change the consumers themselves (their `updated-at` stays); while a workspace shares
 * its state with its organization or its project, its list cannot be changed.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import { readableCondition } from './permissions.ts';
import { readIdentifiers } from '../kernel/request-body.ts';
import { type ApiAnswer, type ApiRequest, NO_CONTENT, ok, querySwitch } from '../kernel/endpoint.ts';
import { invalid, notFound, type PointedProblem } from '../kernel/documents.ts';
import { describePage, requestedPage, requestedStart } from '../kernel/pagination.ts';
import type { Services } from '../kernel/services.ts';
import { requireWorkspace } from './access.ts';
import { BY_NAME, type Condition, pageOfWorkspaces } from './workspace-list.ts';
import { workspaceResources } from './workspace-document.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

/**
 * The consumers that the caller can read: all other workspaces of the organization or the project while the state is shared with
 * it, else those in the workspace's list. `show_only_configured` always selects the list.
 */
export function listRemoteStateConsumers(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request);
  const page = requestedPage(request.query);
  const { hasListSwitches } = request.services.dialects.workspaces;
  const configuredOnly = hasListSwitches && querySwitch(request.query, 'show_only_configured');
  const consumers = configuredOnly ? configuredConsumersOf(workspace) : consumersOf(workspace);
  const conditions = [consumers, readable(request, workspace)];
  const after = requestedStart(request.query);
  const found = pageOfWorkspaces(request.services.database, { conditions, sort: BY_NAME, page, after });
  return ok({
    data: workspaceResources(request, found.records),
    ...describePage(request, page, found.totalCount, found.end),
  });
}

function consumersOf(workspace: WorkspaceRecord): Condition {
  if (workspace.global_remote_state === 1) {
    return {
      sql: 'w.organization_id = :organization AND w.id <> :subject',
      parameters: { organization: workspace.organization_id, subject: workspace.id },
    };
  }
  if (workspace.project_remote_state === 1) {
    return {
      sql: 'w.project_id = :project AND w.id <> :subject',
      parameters: { project: workspace.project_id, subject: workspace.id },
    };
  }
  return configuredConsumersOf(workspace);
}

function configuredConsumersOf(workspace: WorkspaceRecord): Condition {
  return {
    sql: 'w.id IN (SELECT consumer_id FROM remote_state_consumers WHERE workspace_id = :subject)',
    parameters: { subject: workspace.id },
  };
}

function readable(request: ApiRequest, workspace: WorkspaceRecord): Condition {
  return {
    sql: readableCondition(request.caller, workspace.organization_id),
    parameters: { teams: JSON.stringify(request.caller.teamIds) },
  };
}

export function addRemoteStateConsumers(request: ApiRequest): ApiAnswer {
  const { workspace, consumerIds } = requireWritableList(request);
  const added = addConsumers(request.services, workspace.id, consumerIds);
  recordConsumers(request, workspace, { changed: added, metaName: 'remote-state-consumers-added' });
  return NO_CONTENT;
}

export function removeRemoteStateConsumers(request: ApiRequest): ApiAnswer {
  const { workspace, consumerIds } = requireWritableList(request);
  const removed = request.services.database.all<ConsumerRow>(
    `DELETE FROM remote_state_consumers
     WHERE workspace_id = :id AND consumer_id IN (SELECT value FROM json_each(:consumers)) RETURNING consumer_id`,
    { id: workspace.id, consumers: JSON.stringify(consumerIds) },
  );
  recordConsumers(request, workspace, { changed: removed, metaName: 'remote-state-consumers-removed' });
  return NO_CONTENT;
}

/** Replacing the list may remove workspaces that the caller cannot see, so it needs the right to manage all workspaces. */
export function replaceRemoteStateConsumers(request: ApiRequest): ApiAnswer {
  const { organization_id: organization } = requireWorkspace(request, 'can-update').workspace;
  if (!request.caller.organizations.get(organization)?.manageWorkspaces) throw notFound('Workspace');
  const { workspace, consumerIds } = requireWritableList(request);
  const removed = request.services.database.run(
    `DELETE FROM remote_state_consumers
     WHERE workspace_id = :id AND consumer_id NOT IN (SELECT value FROM json_each(:consumers))`,
    { id: workspace.id, consumers: JSON.stringify(consumerIds) },
  );
  const added = addConsumers(request.services, workspace.id, consumerIds);
  if (removed > 0 || added.length > 0) {
    const meta = { 'remote-state-consumers': consumerIds };
    recordEvent(request, 'workspace.update', workspace, meta);
  }
  return NO_CONTENT;
}

interface ConsumerRow {
  consumer_id: string;
}

/** @returns the new ones */
function addConsumers(
  services: Services,
  workspaceId: string,
  consumerIds: readonly string[],
): ConsumerRow[] {
  return services.database.all<ConsumerRow>(
    `INSERT OR IGNORE INTO remote_state_consumers (workspace_id, consumer_id)
     SELECT :id, value FROM json_each(:consumers) RETURNING consumer_id`,
    { id: workspaceId, consumers: JSON.stringify(consumerIds) },
  );
}

/** Records the added or removed consumers in the member `metaName` of an event; nothing when there are none. */
function recordConsumers(
  request: ApiRequest,
  workspace: WorkspaceRecord,
  { changed, metaName }: { readonly changed: readonly ConsumerRow[]; readonly metaName: string },
): void {
  if (changed.length === 0) return;
  const ids = changed.map((row) => row.consumer_id);
  recordEvent(request, 'workspace.update', workspace, { [metaName]: ids });
}

/** The checks of all three writes: the caller is an admin, the list can be changed, and the consumers exist and can be read. */
function requireWritableList(request: ApiRequest): { workspace: WorkspaceRecord; consumerIds: string[] } {
  const { workspace } = requireWorkspace(request, 'can-update');
  const sharing = [
    ['global-remote-state', workspace.global_remote_state],
    ['project-remote-state', workspace.project_remote_state],
  ] as const;
  for (const [name, isOn] of sharing) {
    const detail = `Remote state consumers cannot be changed while ${name} is true`;
    if (isOn === 1) throw invalid([{ detail, pointer: '/data' }]);
  }
  const consumerIds = readIdentifiers(request.body, 'workspaces').map(({ id }) => id);
  const known = readableAmong(request, workspace, consumerIds);
  const problems = consumerIds.flatMap((id, index): PointedProblem[] => {
    const pointer = `/data/${index}/id`;
    if (id === workspace.id)
      return [{ detail: 'A workspace cannot be its own remote state consumer', pointer }];
    return known.has(id)
      ? []
      : [{ detail: `The workspace "${id}" does not exist or cannot be read`, pointer }];
  });
  if (problems.length > 0) throw invalid(problems);
  return { workspace, consumerIds };
}

function readableAmong(request: ApiRequest, workspace: WorkspaceRecord, ids: readonly string[]): Set<string> {
  const { sql, parameters } = readable(request, workspace);
  const rows = request.services.database.all<{ id: string }>(
    `SELECT w.id FROM workspaces w
     WHERE w.organization_id = :organization AND w.id IN (SELECT value FROM json_each(:ids)) AND ${sql}`,
    { ...parameters, organization: workspace.organization_id, ids: JSON.stringify(ids) },
  );
  return new Set(rows.map((row) => row.id));
}
