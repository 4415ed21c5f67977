/** Show, create, update and delete a workspace, and assign its SSH key. */
import { recordEvent } from '../kernel/audit-events.ts';
import type { OrganizationRights } from '../kernel/caller.ts';
import type { Database } from '../kernel/database.ts';
import { conflict, forbidden, invalid, notFound, type PointedProblem } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, created, NO_CONTENT, ok } from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { asObject, isOfType } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { type OrganizationRecord, projectRights, requireOrganization, requireWorkspace } from './access.ts';
import { addTags, dropUnusedTags } from './flat-tags.ts';
import { beginRun } from './run-life-cycle.ts';
import { isNewestPending, newestFinalizedStateVersion } from './state-version-record.ts';
import { replaceTagBindings } from './tag-bindings.ts';
import { workspaceResources } from './workspace-document.ts';
import { includedResources, requestedIncludes, withLinkage } from './workspace-include.ts';
import {
  recordById,
  recordNewRepository,
  type WorkspaceRecord,
  type WorkspaceSettings,
} from './workspace-record.ts';
import { namedProject, readWorkspaceRequest } from './workspace-request.ts';
import {
  defaultSettings,
  findProject,
  type ProjectRecord,
  resolveWorkspaceSettings,
} from './workspace-settings.ts';

export function showWorkspace(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request);
  const includes = requestedIncludes(request.query);
  const resources = workspaceResources(request, [workspace]);
  const included = includedResources(request, includes, [workspace]);
  const [data] = withLinkage(resources, included);
  return ok({ data, ...(includes.size > 0 ? { included: included.resources } : {}) });
}

/** The current document of one workspace, read again from the database: the same that a GET would answer. */
export function workspaceDocument(request: ApiRequest, id: string): { data: unknown } {
  const workspace = recordById(request.services.database, id);
  if (workspace === undefined) throw notFound('Workspace');
  const [data] = workspaceResources(request, [workspace]);
  return { data };
}

// POST /organizations/:organization_name/workspaces.
// Invariant: the workspace, its tags and its audit event are created together; it never exists without its tags.

export function createWorkspace(request: ApiRequest): ApiAnswer {
  const { database } = request.services;
  const { organization, rights } = requireOrganization(request);
  const project = requireProject(request, organization.id, rights);
  const problems: PointedProblem[] = [];
  const body = readWorkspaceRequest(request.services, request.body, problems);
  if (body.name === undefined) {
    problems.push({ detail: 'Name is required', pointer: '/data/attributes/name' });
  }
  const settings = resolveWorkspaceSettings(
    {
      database,
      dialect: request.services.dialects.workspaces,
      organization,
      project,
      current: { ...defaultSettings(database, organization, project), ...editionDefaults(request.services) },
      request: body,
      creating: true,
    },
    problems,
  );
  const id = newId('ws');
  insertWorkspace(
    database,
    { id, organizationId: organization.id },
    { ...settings, source_name: body.sourceName ?? null, source_url: body.sourceUrl ?? null },
    request.services.now(),
  );
  replaceTagBindings(database, { workspace_id: id }, body.tagBindings ?? [], request.services.now());
  addTags(database, { id, organization_id: organization.id }, body.tagNames ?? [], request.services.now());
  recordEvent(request, 'workspace.create', { id, organization_id: organization.id });
  recordNewRepository(request, { id, organization_id: organization.id, vcs_repo: null }, settings);
  queueFirstRun(request, id);
  return created(workspaceDocument(request, id));
}

/** Queues a run only in a dialect whose runs end as errored. In others, it would hold the lock until a caller confirms it. */
function queueFirstRun(request: ApiRequest, id: string): void {
  const workspace = recordById(request.services.database, id);
  if (!request.services.dialects.workspaces.runsEndAsErrored || workspace?.queue_all_runs !== 1) return;
  if (workspace.effective_execution_mode === 'local') return;
  beginRun(request.services, {
    workspaceId: id,
    organizationId: workspace.organization_id,
    cause: request,
    configurationVersionId: null,
    createdById: request.caller.userId,
    planOnly: false,
    isDestroy: false,
    message: 'Queued when the workspace was created',
    mayApply: true,
  });
}

/** The defaults that differ in an edition without the organization's default for `global-remote-state`. */
function editionDefaults(services: Services): Partial<WorkspaceSettings> {
  return services.edition.globalRemoteStateDefault ? {} : { global_remote_state: 0 };
}

/** Writes the row of a new workspace. */
export function insertWorkspace(
  database: Database,
  identity: { readonly id: string; readonly organizationId: string },
  settings: WorkspaceSettings,
  now: Date,
): void {
  const time = now.toISOString();
  database.insert('workspaces', {
    id: identity.id,
    organization_id: identity.organizationId,
    ...settings,
    created_at: time,
    updated_at: time,
    latest_change_at: time,
  });
}

function unknownProject(): Error {
  return invalid([
    {
      detail: 'The project does not exist in this organization',
      pointer: '/data/relationships/project/data/id',
    },
  ]);
}

/**
 * The project of the new workspace. Owners, managers of all workspaces or projects and organization tokens can create in every
 * project; others if their access to the project allows it.
 * @throws ApiError 404 for a caller who may not create there, whether the project exists or not
 */
function requireProject(
  { services: { database }, caller, body }: ApiRequest,
  organizationId: string,
  rights: OrganizationRights,
): ProjectRecord {
  const project = findProject(database, organizationId, namedProject(body));
  if (!rights.manageWorkspaces && !rights.manageProjects) {
    const mayCreate =
      project !== undefined && projectRights(database, caller, project).has('create-workspaces');
    if (!mayCreate) throw notFound('Organization');
  }
  if (project === undefined) throw unknownProject();
  return project;
}

// PATCH /workspaces/:workspace_id and PATCH /organizations/:organization_name/workspaces/:name.
// Invariant: an update changes `updated-at` only when it changes the workspace's own settings.

export function updateWorkspace(request: ApiRequest): ApiAnswer {
  const { database } = request.services;
  const { workspace } = requireWorkspace(request, 'can-update');
  const project = targetProject(request, workspace);
  const problems: PointedProblem[] = [];
  const body = readWorkspaceRequest(request.services, request.body, problems, workspace.id);
  const settings = resolveWorkspaceSettings(
    {
      database,
      dialect: request.services.dialects.workspaces,
      organization: organizationOf(request.services, workspace),
      project,
      current: workspace,
      request: body,
      creating: false,
    },
    problems,
  );
  const settingsChanged = writeSettings(request.services, workspace, settings);
  const bindingsChanged =
    body.tagBindings !== undefined &&
    replaceTagBindings(database, { workspace_id: workspace.id }, body.tagBindings, request.services.now());
  if (settingsChanged || bindingsChanged) recordEvent(request, 'workspace.update', workspace);
  recordNewRepository(request, workspace, settings);
  return ok(workspaceDocument(request, workspace.id));
}

/**
 * Writes the columns that differ. Joined columns never differ, so they are not written. @returns whether a column differs
 */
function writeSettings(services: Services, workspace: WorkspaceRecord, settings: WorkspaceSettings): boolean {
  const changed = Object.entries(settings).filter(
    ([column, value]) => workspace[column as keyof WorkspaceSettings] !== value,
  );
  if (changed.length === 0) return false;
  const now = services.now().toISOString();
  // The status of an earlier auto-destroy is removed when a new time is set.
  const isRescheduled = changed.some(([column]) => column.startsWith('auto_destroy_'));
  return services.database.update('workspaces', workspace.id, {
    ...Object.fromEntries(changed),
    ...(isRescheduled && workspace.destroyed_for !== null
      ? { destroyed_for: null, auto_destroy_status: null }
      : {}),
    updated_at: now,
    latest_change_at: now,
  });
}

function organizationOf(services: Services, workspace: WorkspaceRecord): OrganizationRecord {
  const organization = services.database.byId<OrganizationRecord>('organizations', workspace.organization_id);
  if (organization === undefined) throw notFound('Organization');
  return organization;
}

/**
 * The project after the update. A move needs the right to move workspaces in both projects, which their admins have.
 * @throws ApiError 404 for a caller who lacks it, whether the project exists or not
 */
function targetProject(
  { services: { database }, caller, body }: ApiRequest,
  workspace: WorkspaceRecord,
): ProjectRecord {
  const [current, target] = [workspace.project_id, namedProject(body) ?? workspace.project_id].map((id) =>
    findProject(database, workspace.organization_id, id),
  );
  if (target?.id !== current?.id) {
    const mayMove = (project: ProjectRecord | undefined) =>
      project === undefined
        ? caller.organizations.get(workspace.organization_id)?.manageProjects
        : projectRights(database, caller, project).has('move-workspaces');
    if (!mayMove(current) || !mayMove(target)) throw notFound('Project');
  }
  if (target === undefined) throw unknownProject();
  return target;
}

// Safe delete (POST …/actions/safe-delete) and force delete (DELETE), by id and by name.
// Invariant: a safe delete never removes a workspace that manages resources, in its current state or in a newer one that never
// became current, or whose newest state is still being processed; a force delete only needs the right to do it.

export function safeDeleteWorkspace(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-destroy');
  // Clients distinguish the three errors of a safe delete by the words "locked" and "being processed".
  if (workspace.locked_by_id !== null && request.services.dialects.workspaces.safeDeleteNeedsUnlocked) {
    throw conflict('The workspace is locked and cannot be safely deleted');
  }
  if (isNewestPending(request.services.database, workspace.id, request.services.now())) {
    throw conflict('The newest state version of the workspace is still being processed');
  }
  // A state that was saved before a forced unlock is not current, but it may be the only record of its resources.
  const newest = newestFinalizedStateVersion(request.services.database, workspace.id);
  const count = Math.max(workspace.resource_count, newest?.resource_count ?? 0);
  if (count > 0) {
    const resources = `${count} ${count === 1 ? 'resource' : 'resources'}`;
    throw conflict(`The workspace still manages ${resources} and cannot be safely deleted`);
  }
  removeWorkspace(request, workspace);
  return NO_CONTENT;
}

export function forceDeleteWorkspace(request: ApiRequest): ApiAnswer {
  const { workspace, permissions } = requireWorkspace(request);
  if (!permissions['can-force-delete']) {
    throw forbidden(
      'Force delete needs an organization owner, or a workspace admin where the organization allows it',
    );
  }
  removeWorkspace(request, workspace);
  return NO_CONTENT;
}

function removeWorkspace(request: ApiRequest, workspace: WorkspaceRecord): void {
  request.services.database.delete('workspaces', workspace.id);
  dropUnusedTags(request.services.database, workspace.organization_id);
  recordEvent(request, 'workspace.destroy', workspace, { name: workspace.name });
}

// PATCH /workspaces/:workspace_id/relationships/ssh-key: assigns an SSH key, or removes it with a null id.

export function assignSshKey(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request, 'can-update');
  const id = requestedKey(request.body);
  const known =
    id === null ||
    request.services.database.get(
      'SELECT 1 FROM ssh_keys WHERE id = :id AND organization_id = :organization',
      {
        id,
        organization: workspace.organization_id,
      },
    ) !== undefined;
  if (!known) throw notFound('SSH key');
  if (id !== workspace.ssh_key_id) {
    const updatedAt = request.services.now().toISOString();
    request.services.database.update('workspaces', workspace.id, { ssh_key_id: id, updated_at: updatedAt });
    recordEvent(request, 'workspace.update', workspace, { 'ssh-key': id });
  }
  return ok(workspaceDocument(request, workspace.id));
}

/** Two body forms are in use: `{type: workspaces, attributes: {id}}` and `{type: ssh-keys, id}` (or data null). */
function requestedKey(body: unknown): string | null {
  const envelope = asObject(body);
  if (envelope?.['data'] === null) return null;
  const data = asObject(envelope?.['data']);
  const attributes = asObject(data?.['attributes']);
  // Without a type, the attributes decide which form it is.
  if (isOfType(data, 'ssh-keys') && (attributes === undefined || !isOfType(data, 'workspaces')))
    return readId(data?.['id'], '/data/id');
  if (isOfType(data, 'workspaces')) return readId(attributes?.['id'], '/data/attributes/id');
  throw invalid([{ detail: 'type must be "workspaces" or "ssh-keys"', pointer: '/data/type' }]);
}

/** An empty id means no key, like null; a missing id is ambiguous and is refused. */
function readId(id: unknown, pointer: string): string | null {
  if (id === null || id === '') return null;
  if (typeof id === 'string') return id;
  throw invalid([{ detail: 'id must be the id of an SSH key, or null', pointer }]);
}
