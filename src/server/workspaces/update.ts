/**
 * PATCH /workspaces/:workspace_id and PATCH /organizations/:organization_name/workspaces/:name.
 * Invariant: `updated-at` moves when the workspace's own settings moved, and only then.
 */
import type { ApiAnswer, ApiRequest } from '../json-api/endpoint.ts';
import { ok } from '../json-api/endpoint.ts';
import { notFound, type PointedProblem } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import { type OrganizationRecord, projectRights, requireWorkspace } from './access.ts';
import { unknownProject } from './create.ts';
import { findProject, type ProjectRecord, resolveWorkspaceSettings } from './settings/settle-workspace.ts';
import { workspaceDocument } from './show.ts';
import { replaceTagBindings } from './tags/tag-bindings.ts';
import { recordWorkspaceEvent } from './document/workspace-event.ts';
import type { WorkspaceRecord, WorkspaceSettings } from './document/workspace-record.ts';
import { namedProject, readWorkspaceRequest } from './document/workspace-request.ts';

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
