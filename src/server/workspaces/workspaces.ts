/** Show, create, update and delete a workspace, and assign its SSH key. */
import type { OrganizationRights } from '../kernel/caller.ts';
import type { Database } from '../kernel/database.ts';
import { conflict, forbidden, invalid, notFound, type PointedProblem } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, created, NO_CONTENT, ok } from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { asObject, isOfType } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { type OrganizationRecord, projectRights, requireOrganization, requireWorkspace } from './access.ts';
import { addTags, dropUnusedTags } from './flat-tags.ts';
import { isNewestPending, newestFinalizedStateVersion } from './state-version-record.ts';
import { replaceTagBindings } from './tag-bindings.ts';
import { workspaceResources } from './workspace-document.ts';
import { includedResources, requestedIncludes, withLinkage } from './workspace-include.ts';
import {
  recordById,
  recordWorkspaceEvent,
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

export function showWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request);
  const includes = requestedIncludes(request.query);
  const resources = workspaceResources(services, request, [workspace]);
  const included = includedResources(services, request, includes, [workspace]);
  const [data] = withLinkage(resources, included);
  return ok({ data, ...(includes.size > 0 ? { included: included.resources } : {}) });
}

/** The document of one workspace as it is now, read afresh: after a write this is what a GET would answer. */
export function workspaceDocument(services: Services, request: ApiRequest, id: string): { data: unknown } {
  const workspace = recordById(services.database, id);
  if (workspace === undefined) throw notFound('Workspace');
  const [data] = workspaceResources(services, request, [workspace]);
  return { data };
}

// POST /organizations/:organization_name/workspaces.
// Invariant: the workspace, its tags and its audit event appear together; no moment exists in which it is there untagged.

export function createWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { database } = services;
  const { organization, rights } = requireOrganization(services, request);
  const project = requireProject(services, request, organization.id, rights);
  const problems: PointedProblem[] = [];
  const body = readWorkspaceRequest(services, request.body, problems);
  if (body.name === undefined) {
    problems.push({ detail: 'Name is required', pointer: '/data/attributes/name' });
  }
  const settings = resolveWorkspaceSettings(
    {
      database,
      dialect: services.dialects.workspaces,
      organization,
      project,
      current: { ...defaultSettings(database, organization, project), ...editionDefaults(services) },
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
    services.now(),
  );
  replaceTagBindings(database, { workspace_id: id }, body.tagBindings ?? [], services.now());
  addTags(database, { id, organization_id: organization.id }, body.tagNames ?? [], services.now());
  recordWorkspaceEvent(services, request, { id, organization_id: organization.id }, { action: 'create' });
  return created(workspaceDocument(services, request, id));
}

/** What an organization's defaults cannot say in an edition that lacks them. */
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
 * The project to create in. Owners, managers of all workspaces or projects and organization tokens create in each; others
 * where their access to the project says so.
 * @throws ApiError 404 to whoever may not create there, whether there is such a project or not
 */
function requireProject(
  { database }: Services,
  { caller, body }: ApiRequest,
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
// Invariant: `updated-at` moves when the workspace's own settings moved, and only then.

export function updateWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { database } = services;
  const { workspace } = requireWorkspace(services, request, 'can-update');
  const project = targetProject(services, request, workspace);
  const problems: PointedProblem[] = [];
  const body = readWorkspaceRequest(services, request.body, problems, workspace.id);
  const settings = resolveWorkspaceSettings(
    {
      database,
      dialect: services.dialects.workspaces,
      organization: organizationOf(services, workspace),
      project,
      current: workspace,
      request: body,
      creating: false,
    },
    problems,
  );
  const isSet = writeSettings(services, workspace, settings);
  const isBound =
    body.tagBindings !== undefined &&
    replaceTagBindings(database, { workspace_id: workspace.id }, body.tagBindings, services.now());
  if (isSet || isBound) recordWorkspaceEvent(services, request, workspace, { action: 'update' });
  return ok(workspaceDocument(services, request, workspace.id));
}

/**
 * Writes the columns that differ, and tells whether one does. What was only joined to the record is carried along
 * unchanged, so it never does.
 */
function writeSettings(services: Services, workspace: WorkspaceRecord, settings: WorkspaceSettings): boolean {
  const changed = Object.entries(settings).filter(
    ([column, value]) => workspace[column as keyof WorkspaceSettings] !== value,
  );
  if (changed.length === 0) return false;
  const now = services.now().toISOString();
  return services.database.update('workspaces', workspace.id, {
    ...Object.fromEntries(changed),
    updated_at: now,
    latest_change_at: now,
  });
}

function organizationOf(services: Services, workspace: WorkspaceRecord): OrganizationRecord {
  const organization = services.database.get<OrganizationRecord>(
    'SELECT * FROM organizations WHERE id = :id',
    {
      id: workspace.organization_id,
    },
  );
  if (organization === undefined) throw notFound('Organization');
  return organization;
}

/**
 * The project after the update. A move needs the right to move workspaces in both projects, which their admins have.
 * @throws ApiError 404 to whoever lacks it, whether there is such a project or not
 */
function targetProject(
  { database }: Services,
  { caller, body }: ApiRequest,
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
// Invariant: a safe delete never removes a workspace that manages resources, by its current state or by a newer one that
// never became current, or whose newest state is still being processed; a force delete asks only for the right to do it.

export function safeDeleteWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-destroy');
  // Clients tell these three apart by the words "locked" and "being processed".
  if (workspace.locked_by_id !== null && services.dialects.workspaces.safeDeleteNeedsUnlocked) {
    throw conflict('The workspace is locked and cannot be safely deleted');
  }
  if (isNewestPending(services.database, workspace.id, services.now())) {
    throw conflict('The newest state version of the workspace is still being processed');
  }
  // A state that was saved before a forced unlock is not current, and yet the only one that knows of what it made.
  const newest = newestFinalizedStateVersion(services.database, workspace.id);
  const count = Math.max(workspace.resource_count, newest?.resource_count ?? 0);
  if (count > 0) {
    const resources = `${count} ${count === 1 ? 'resource' : 'resources'}`;
    throw conflict(`The workspace still manages ${resources} and cannot be safely deleted`);
  }
  removeWorkspace(services, request, workspace);
  return NO_CONTENT;
}

export function forceDeleteWorkspace(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace, permissions } = requireWorkspace(services, request);
  if (!permissions['can-force-delete']) {
    throw forbidden(
      'Force delete needs an organization owner, or a workspace admin where the organization allows it',
    );
  }
  removeWorkspace(services, request, workspace);
  return NO_CONTENT;
}

function removeWorkspace(services: Services, request: ApiRequest, workspace: WorkspaceRecord): void {
  services.database.run('DELETE FROM workspaces WHERE id = :id', { id: workspace.id });
  dropUnusedTags(services.database, workspace.organization_id);
  recordWorkspaceEvent(services, request, workspace, { action: 'destroy', meta: { name: workspace.name } });
}

// PATCH /workspaces/:workspace_id/relationships/ssh-key: assigns an SSH key, or with a null id takes it away.

export function assignSshKey(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-update');
  const id = requestedKey(request.body);
  const known =
    id === null ||
    services.database.get('SELECT 1 FROM ssh_keys WHERE id = :id AND organization_id = :organization', {
      id,
      organization: workspace.organization_id,
    }) !== undefined;
  if (!known) throw notFound('SSH key');
  if (id !== workspace.ssh_key_id) {
    const updatedAt = services.now().toISOString();
    services.database.update('workspaces', workspace.id, { ssh_key_id: id, updated_at: updatedAt });
    recordWorkspaceEvent(services, request, workspace, { action: 'update', meta: { 'ssh-key': id } });
  }
  return ok(workspaceDocument(services, request, workspace.id));
}

/** Two body forms are in use: `{type: workspaces, attributes: {id}}` and `{type: ssh-keys, id}` (or data null). */
function requestedKey(body: unknown): string | null {
  const envelope = asObject(body);
  if (envelope?.['data'] === null) return null;
  const data = asObject(envelope?.['data']);
  const attributes = asObject(data?.['attributes']);
  // Without a type, attributes tell which form it is.
  if (isOfType(data, 'ssh-keys') && (attributes === undefined || !isOfType(data, 'workspaces')))
    return readId(data?.['id'], '/data/id');
  if (isOfType(data, 'workspaces')) return readId(attributes?.['id'], '/data/attributes/id');
  throw invalid([{ detail: 'type must be "workspaces" or "ssh-keys"', pointer: '/data/type' }]);
}

/** An empty id means none, like null; leaving it out would be ambiguous and is refused. */
function readId(id: unknown, pointer: string): string | null {
  if (id === null || id === '') return null;
  if (typeof id === 'string') return id;
  throw invalid([{ detail: 'id must be the id of an SSH key, or null', pointer }]);
}
