/**
 * GET, POST, PATCH and DELETE of projects.
 * Invariants: every organization keeps its default project; a project that has workspaces is not deleted.
 */
import { newId } from '../identifiers.ts';
import type { Caller } from '../identity/caller.ts';
import { type ApiAnswer, type ApiRequest, created, NO_CONTENT, ok } from '../json-api/endpoint.ts';
import { conflict, forbidden } from '../json-api/errors.ts';
import { pagedAnswer } from '../json-api/paged-answer.ts';
import { queryList, queryText } from '../json-api/query.ts';
import { requireOrganizationRight } from '../organizations/organization-access.ts';
import type { Services } from '../services.ts';
import { projectRights, requireOrganization } from '../workspaces/access.ts';
import { replaceTagBindings } from '../workspaces/tags/tag-bindings.ts';
import { boundConditions } from '../workspaces/list/list-conditions.ts';
import { recordProjectEvent } from './project-event.ts';
import {
  PROJECT_COLUMNS,
  PROJECT_TABLES,
  type ProjectRow,
  projectResource,
  projectsById,
  requireProject,
  requireProjectRight,
  visibleProjects,
} from './project-record.ts';
import { includeBindings, includesBindings } from './project-tag-bindings.ts';
import { resolveProjectSettings } from './settle-project.ts';

/** GET /organizations/:organization_name/projects. `filter[names]`, `q` for a part of the name, `filter[tagged]` for tag bindings. */
export function listProjects(services: Services, request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(services, request);
  const visible = visibleProjects(request.caller, organization.id);
  const tagged = boundConditions(
    request.query,
    services.dialects.workspaces,
    (matches) =>
      `p.id IN (SELECT b.project_id FROM tag_bindings b WHERE b.project_id IS NOT NULL AND ${matches})`,
  );
  const query = {
    select: PROJECT_COLUMNS,
    from: `${PROJECT_TABLES} WHERE p.organization_id = :organization AND ${visible.sql}
      AND INSTR(LOWER(p.name), LOWER(:part)) > 0
      AND (:names = '[]' OR p.name IN (SELECT value FROM json_each(:names)))
      ${tagged.map(({ sql }) => `AND (${sql})`).join(' ')}`,
    order: 'p.name',
    parameters: {
      ...visible.parameters,
      ...Object.assign({}, ...tagged.map(({ parameters }) => parameters)),
      organization: organization.id,
      part: queryText(request.query, 'q') ?? '',
      names: JSON.stringify(queryList(request.query, 'filter[names]')),
    },
  };
  const withBindings = includesBindings(request.query);
  return pagedAnswer<ProjectRow>(services, request, query, (rows) => {
    const resources = rows.map((row) => shown(services, request.caller, row));
    return withBindings ? includeBindings(services.database, resources) : resources;
  });
}

/** GET /projects/:project_id */
export function showProject(services: Services, request: ApiRequest): ApiAnswer {
  const { project, rights } = requireProject(services, request);
  const resource = projectResource(project, rights);
  if (!includesBindings(request.query)) return ok({ data: resource });
  const { data, included } = includeBindings(services.database, [resource]);
  return ok({ data: data[0], included });
}

/** POST /organizations/:organization_name/projects */
export function createProject(services: Services, request: ApiRequest): ApiAnswer {
  const { database } = services;
  const { id: organizationId } = requireOrganizationRight(services, request, 'manageProjects');
  const { columns, tagBindings } = resolveProjectSettings(database, request.body, {
    organizationId,
    names: services.dialects.workspaces.projectNames,
  });
  const id = newId('prj');
  const createdAt = services.now().toISOString();
  database.insert('projects', { id, organization_id: organizationId, ...columns, created_at: createdAt });
  replaceTagBindings(database, { project_id: id }, tagBindings ?? [], services.now());
  recordProjectEvent(services, request, { id, organization_id: organizationId }, { action: 'create' });
  return created(document(services, request.caller, id));
}

/** PATCH /projects/:project_id */
export function updateProject(services: Services, request: ApiRequest): ApiAnswer {
  const { database } = services;
  const project = requireProjectRight(services, request, 'update-project');
  const { columns, tagBindings } = resolveProjectSettings(database, request.body, {
    organizationId: project.organization_id,
    names: services.dialects.workspaces.projectNames,
    before: project,
  });
  const isSet = database.update('projects', project.id, columns);
  const isBound =
    tagBindings !== undefined &&
    replaceTagBindings(database, { project_id: project.id }, tagBindings, services.now());
  if (isSet || isBound) recordProjectEvent(services, request, project, { action: 'update' });
  return ok(document(services, request.caller, project.id));
}

/** DELETE /projects/:project_id: 403 for who sees it and may not. */
export function deleteProject(services: Services, request: ApiRequest): ApiAnswer {
  const { project, rights } = requireProject(services, request);
  if (!rights.has('delete-project')) throw forbidden('Deleting a project needs an admin of the project');
  if (project.is_default === 1) throw conflict('The default project of an organization cannot be deleted');
  if (project.workspace_count > 0) {
    throw conflict('The project has workspaces and cannot be deleted: move or delete them first');
  }
  services.database.run('DELETE FROM projects WHERE id = :id', { id: project.id });
  recordProjectEvent(services, request, project, { action: 'destroy' });
  return NO_CONTENT;
}

function document(services: Services, caller: Caller, id: string): { data: unknown } {
  return { data: projectsById(services.database, [id]).map((row) => shown(services, caller, row))[0] };
}

function shown({ database }: Services, caller: Caller, row: ProjectRow) {
  return projectResource(row, projectRights(database, caller, row));
}
