/**
 * POST /organizations/:organization_name/workspaces.
 * Invariant: the workspace, its tags and its audit event appear together; no moment exists in which it is there untagged.
 */
import type { Database } from '../data-file/database.ts';
import { newId } from '../identifiers.ts';
import type { OrganizationRights } from '../identity/caller.ts';
import { type ApiAnswer, type ApiRequest, created } from '../json-api/endpoint.ts';
import { invalid, notFound, type PointedProblem } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import { projectRights, requireOrganization } from './access.ts';
import {
  defaultSettings,
  findProject,
  type ProjectRecord,
  resolveWorkspaceSettings,
} from './settings/settle-workspace.ts';
import { workspaceDocument } from './show.ts';
import { replaceTagBindings } from './tags/tag-bindings.ts';
import { addTags } from './tags/tags.ts';
import { recordWorkspaceEvent } from './document/workspace-event.ts';
import type { WorkspaceSettings } from './document/workspace-record.ts';
import { namedProject, readWorkspaceRequest } from './document/workspace-request.ts';

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

export function unknownProject(): Error {
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
