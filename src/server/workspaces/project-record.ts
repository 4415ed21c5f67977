/**
 * Projects as the database stores them and as the API shows them, who may see them, their events and their tag bindings. A caller
 * who may see a workspace may see its project.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import type { Caller } from '../kernel/caller.ts';
import type { Database, SqlParameters } from '../kernel/database.ts';
import { notFound, related, type Resource } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  includesOf,
  NO_CONTENT,
  ok,
  type Query,
} from '../kernel/endpoint.ts';
import { type ProjectRights, projectRights } from './access.ts';
import {
  boundKeys,
  directBindingResource,
  directBindings,
  readBindingList,
  replaceTagBindings,
  upsertTagBindings,
} from './tag-bindings.ts';
import type { ExecutionMode } from './workspace-record.ts';

/** Every organization has this project; a workspace that names no project is created in it. */
export const DEFAULT_PROJECT = 'Default Project';

export interface ProjectRow {
  id: string;
  organization_id: string;
  organization_name: string;
  name: string;
  description: string | null;
  is_default: number;
  default_execution_mode: ExecutionMode | null;
  default_agent_pool_id: string | null;
  auto_destroy_activity_duration: string | null;
  created_at: string;
  workspace_count: number;
  organization_mode: ExecutionMode;
  organization_pool_id: string | null;
}

/** For queries over `p` and `o`. */
export const PROJECT_COLUMNS = `p.*, o.name AS organization_name, o.default_execution_mode AS organization_mode,
  o.default_agent_pool_id AS organization_pool_id,
  (SELECT COUNT(*) FROM workspaces w WHERE w.project_id = p.id) AS workspace_count`;
export const PROJECT_TABLES = 'projects p JOIN organizations o ON o.id = p.organization_id';

export function projectsById(database: Database, ids: readonly string[]): ProjectRow[] {
  return database.all<ProjectRow>(
    `SELECT ${PROJECT_COLUMNS} FROM ${PROJECT_TABLES} WHERE p.id IN (SELECT value FROM json_each(:ids)) ORDER BY p.id`,
    { ids: JSON.stringify(ids) },
  );
}

/** An SQL condition over `p`, with its parameters: the projects of one organization that the caller may see. */
export function visibleProjects(
  caller: Caller,
  organizationId: string,
): { readonly sql: string; readonly parameters: SqlParameters } {
  const rights = caller.organizations.get(organizationId);
  const parameters = { teams: JSON.stringify(caller.teamIds) };
  if (rights?.readWorkspaces || rights?.manageProjects) return { sql: ':teams IS NOT NULL', parameters };
  return {
    sql: `(p.id IN (SELECT project_id FROM team_project_access
                    WHERE team_id IN (SELECT value FROM json_each(:teams)))
        OR p.id IN (SELECT w.project_id FROM workspaces w JOIN team_workspace_access a ON a.workspace_id = w.id
                    WHERE a.team_id IN (SELECT value FROM json_each(:teams))))`,
    parameters,
  };
}

interface AccessibleProject {
  readonly project: ProjectRow;
  readonly rights: ProjectRights;
}

/** The project that the path names. @throws ApiError 404 when the caller may not see it */
export function requireProject(request: ApiRequest): AccessibleProject {
  const { database } = request.services;
  const [project] = projectsById(database, [request.params['project_id'] ?? '']);
  if (project === undefined || !request.caller.organizations.has(project.organization_id)) {
    throw notFound('Project');
  }
  const { sql, parameters } = visibleProjects(request.caller, project.organization_id);
  const seen = database.get(`SELECT 1 FROM projects p WHERE p.id = :id AND ${sql}`, {
    ...parameters,
    id: project.id,
  });
  if (seen === undefined) throw notFound('Project');
  return { project, rights: projectRights(database, request.caller, project) };
}

/** The project that the path names. @throws ApiError 404 when the caller may not see it, or lacks the right */
export function requireProjectRight(request: ApiRequest, right: 'administer' | 'update-project'): ProjectRow {
  const { project, rights } = requireProject(request);
  if (!rights.has(right)) throw notFound('Project');
  return project;
}

/** The document shows the mode and the pool that workspaces inherit, and whether these come from the project or the organization. */
export function projectResource(row: ProjectRow, rights: ProjectRights): Resource {
  const ownMode = row.default_execution_mode;
  const mode = ownMode ?? row.organization_mode;
  const inheritedPool = ownMode === null && mode === 'agent' ? row.organization_pool_id : null;
  const pool = row.default_agent_pool_id ?? inheritedPool;
  const path = `/api/v2/projects/${row.id}`;
  return {
    id: row.id,
    type: 'projects',
    attributes: {
      name: row.name,
      description: row.description,
      'created-at': row.created_at,
      'auto-destroy-activity-duration': row.auto_destroy_activity_duration,
      'default-execution-mode': mode,
      'setting-overwrites': {
        'default-execution-mode': ownMode !== null,
        'default-agent-pool': ownMode !== null || row.default_agent_pool_id !== null,
      },
      'workspace-count': row.workspace_count,
      permissions: {
        'can-read': true,
        'can-update': rights.has('update-project'),
        'can-destroy': rights.has('delete-project') && row.is_default === 0,
        'can-create-workspace': rights.has('create-workspaces'),
      },
    },
    relationships: {
      organization: related('organizations', row.organization_name),
      'default-agent-pool': related('agent-pools', pool),
      'tag-bindings': { links: { related: `${path}/tag-bindings` } },
      'effective-tag-bindings': { links: { related: `${path}/effective-tag-bindings` } },
    },
    links: { self: path },
  };
}

// The tag bindings of a project, which its workspaces inherit: reading, adding and replacing them.
// Invariant: the effective bindings of a project are its own, because it inherits none.

/** GET …/tag-bindings and …/relationships/tag-bindings: all of them, without pages. */
export function listProjectTagBindings(request: ApiRequest): ApiAnswer {
  const { project } = requireProject(request);
  return ok({
    data: directBindings(request.services.database, { project_id: project.id }).map(directBindingResource),
  });
}

/** GET …/effective-tag-bindings */
export function listEffectiveProjectTagBindings(request: ApiRequest): ApiAnswer {
  const { project } = requireProject(request);
  const rows = directBindings(request.services.database, { project_id: project.id });
  return ok({
    data: rows.map(({ id, key, value }) => ({
      ...(request.services.dialects.workspaces.effectiveBindingsHaveIds ? { id } : {}),
      type: 'effective-tag-bindings',
      attributes: { key, value },
    })),
  });
}

/** Whether the query includes the bindings of projects. @throws ApiError 400 for any other include */
export function includesBindings(query: Query): boolean {
  return includesOf(query, ['effective_tag_bindings']).size > 0;
}

/** The projects, linked to their bindings by id, and the bindings to include. One query reads all of them. */
export function includeBindings(
  database: Database,
  projects: readonly Resource[],
): { readonly data: readonly Resource[]; readonly included: readonly Resource[] } {
  const rows = database.all<{ id: string; project_id: string; key: string; value: string }>(
    `SELECT id, project_id, key, value FROM tag_bindings
     WHERE project_id IN (SELECT value FROM json_each(:ids)) ORDER BY project_id, position`,
    { ids: JSON.stringify(projects.map(({ id }) => id)) },
  );
  const type = 'effective-tag-bindings';
  const data = projects.map((project) => {
    const linkage = rows.filter((row) => row.project_id === project.id).map(({ id }) => ({ id, type }));
    const relationships = {
      ...project.relationships,
      [type]: { ...project.relationships?.[type], data: linkage },
    };
    return { ...project, relationships };
  });
  return { data, included: rows.map(({ id, key, value }) => ({ id, type, attributes: { key, value } })) };
}

/** PATCH …/tag-bindings: adds and changes bindings, and returns those of the request. */
export function patchProjectTagBindings(request: ApiRequest): ApiAnswer {
  const project = requireProjectRight(request, 'update-project');
  const bindings = readBindingList(request.body);
  const { rows, changed } = upsertTagBindings(request.services, { project_id: project.id }, bindings);
  if (changed) recordEvent(request, 'project.update', project, boundKeys(bindings));
  return ok({ data: rows.map(directBindingResource) });
}

/** POST …/relationships/tag-bindings: adds and changes bindings. */
export function addProjectTagBindings(request: ApiRequest): ApiAnswer {
  patchProjectTagBindings(request);
  return NO_CONTENT;
}

/** PATCH …/relationships/tag-bindings: replaces all bindings. */
export function replaceProjectTagBindings(request: ApiRequest): ApiAnswer {
  const project = requireProjectRight(request, 'update-project');
  const bindings = readBindingList(request.body);
  const owner = { project_id: project.id };
  const changed = replaceTagBindings(request.services.database, owner, bindings, request.services.now());
  if (changed) recordEvent(request, 'project.update', project, boundKeys(bindings));
  return NO_CONTENT;
}
