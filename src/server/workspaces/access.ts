/**
 * Finds the resource that the path of a request names, and checks the caller's rights. Without them the answer is 404, as for
 * an unknown resource.
 */
import type { Caller, OrganizationRights } from '../kernel/caller.ts';
import type { Database } from '../kernel/database.ts';
import { notFound } from '../kernel/documents.ts';
import type { ApiRequest } from '../kernel/endpoint.ts';
import {
  grantedBy,
  type Permission,
  type ProjectRight,
  type WorkspacePermissions,
  workspacePermissions,
} from './permissions.ts';
import { type ExecutionMode, recordById, recordByName, type WorkspaceRecord } from './workspace-record.ts';

export interface OrganizationRecord {
  id: string;
  name: string;
  email: string | null;
  created_at: string;
  default_execution_mode: ExecutionMode;
  default_agent_pool_id: string | null;
  allow_force_delete_workspaces: number;
  assessments_enforced: number;
  global_remote_state_default: number;
  /** JSON: the dialect's `organizationSettings` that were set. */
  flags: string;
}

/** The organization that the path names. @throws ApiError 404 when the caller does not belong to it. */
export function requireOrganization(request: ApiRequest): {
  organization: OrganizationRecord;
  rights: OrganizationRights;
} {
  const organization = request.services.database.get<OrganizationRecord>(
    'SELECT * FROM organizations WHERE name = :name',
    { name: request.params['organization_name'] ?? '' },
  );
  const rights = request.caller.organizations.get(organization?.id ?? '');
  if (organization === undefined || rights === undefined) throw notFound('Organization');
  return { organization, rights };
}

export interface AccessibleWorkspace {
  readonly workspace: WorkspaceRecord;
  readonly permissions: WorkspacePermissions;
}

/**
 * The workspace that the path names, by `:workspace_id` or by `:organization_name` and `:name`.
 * @throws ApiError 404 when the caller cannot read it or lacks the permission.
 */
export function requireWorkspace(
  request: ApiRequest,
  permission: Permission = 'can-read-run',
): AccessibleWorkspace {
  const workspace = namedWorkspace(request.services.database, request.params);
  if (workspace === undefined) throw notFound('Workspace');
  const permissions = workspacePermissions(request.services.database, request.caller, [workspace]).get(
    workspace.id,
  );
  // Every permission includes reading the workspace, so one check is enough.
  if (!permissions?.[permission]) throw notFound('Workspace');
  return { workspace, permissions };
}

function namedWorkspace(
  database: Database,
  params: Readonly<Record<string, string>>,
): WorkspaceRecord | undefined {
  const id = params['workspace_id'];
  if (id !== undefined) return recordById(database, id);
  return recordByName(database, params['organization_name'] ?? '', params['name'] ?? '');
}

/** What a caller may do with a project besides reading it. `administer` includes all other rights, and granting teams access. */
export type ProjectRights = ReadonlySet<ProjectRight | 'administer'>;

const ALL_RIGHTS: ProjectRights = new Set([
  'administer',
  'update-project',
  'delete-project',
  'create-workspaces',
  'move-workspaces',
]);

/** The caller's rights to a project, from its organization or the access of its teams. */
export function projectRights(
  database: Database,
  caller: Caller,
  project: { id: string; organization_id: string },
): ProjectRights {
  const rights = caller.organizations.get(project.organization_id);
  if (rights?.owner || rights?.manageProjects) return ALL_RIGHTS;
  const rows = database.all<{ access: string; custom_permissions: string | null }>(
    `SELECT access, custom_permissions FROM team_project_access
     WHERE project_id = :project AND team_id IN (SELECT value FROM json_each(:teams))`,
    { project: project.id, teams: JSON.stringify(caller.teamIds) },
  );
  if (rows.some(({ access }) => access === 'admin')) return ALL_RIGHTS;
  const granted = new Set<string>(
    rows.flatMap(({ access, custom_permissions: custom }) => grantedBy(access, custom)),
  );
  return new Set([...ALL_RIGHTS].filter((right) => granted.has(right)));
}

// Records of a workspace that are requested by their own id: a run, a state version.
// Invariant: a caller who may not see the workspace, or lacks the permission, gets the 404 of an unknown id.

/** The record with its workspace and the caller's permissions on it. `what` names the record in errors. @throws ApiError 404 */
export function requireOfWorkspace<Row extends { readonly workspace_id: string }>(
  request: ApiRequest,
  record: Row | undefined,
  { what, permission }: { readonly what: string; readonly permission: Permission },
): AccessibleWorkspace & { readonly record: Row } {
  const workspace = recordById(request.services.database, record?.workspace_id ?? '');
  if (record === undefined || workspace === undefined) throw notFound(what);
  const permissions = workspacePermissions(request.services.database, request.caller, [workspace]).get(
    workspace.id,
  );
  if (!permissions?.[permission]) throw notFound(what);
  return { record, workspace, permissions };
}

// Records of an organization, with the caller's right to see and change them.
// Invariant: a caller who is not a member of the organization, or lacks the right, gets the 404 of an unknown id.

/** The organization that the path names. @throws ApiError 404 when the caller lacks the right there */
export function requireOrganizationRight(
  request: ApiRequest,
  right: keyof OrganizationRights,
): OrganizationRecord {
  const { organization, rights } = requireOrganization(request);
  if (!rights[right]) throw notFound('Organization');
  return organization;
}

/** The record, if the caller belongs to its organization and, where `right` is given, has it there. @throws ApiError 404 */
export function requireOfOrganization<Row extends { readonly organization_id: string }>(
  request: ApiRequest,
  record: Row | undefined,
  what: string,
  right?: keyof OrganizationRights,
): Row {
  const rights = request.caller.organizations.get(record?.organization_id ?? '');
  if (record === undefined || rights === undefined) throw notFound(what);
  if (right !== undefined && !rights[right]) throw notFound(what);
  return record;
}
