/** The endpoints of projects, and their settings after a request. */
import { recordEvent } from '../kernel/audit-events.ts';
import type { Caller } from '../kernel/caller.ts';
import type { Database, SqlParameters } from '../kernel/database.ts';
import { conflict, forbidden, invalid, type PointedProblem } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  created,
  type Endpoint,
  NO_CONTENT,
  ok,
  on,
  queryList,
  queryText,
} from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import {
  asObject,
  type BodyObject,
  type MemberReader,
  readAttributes,
  TEXT_LIMIT,
} from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { projectRights, requireOrganization, requireOrganizationRight } from './access.ts';
import {
  addProjectTagBindings,
  includeBindings,
  includesBindings,
  listEffectiveProjectTagBindings,
  listProjectTagBindings,
  patchProjectTagBindings,
  PROJECT_COLUMNS,
  PROJECT_TABLES,
  projectResource,
  type ProjectRow,
  projectsById,
  replaceProjectTagBindings,
  requireProject,
  requireProjectRight,
  visibleProjects,
} from './project-record.ts';
import { readTagBindings, replaceTagBindings, type TagBinding } from './tag-bindings.ts';
import { boundConditions } from './workspace-list.ts';
import { EXECUTION_MODES } from './workspace-record.ts';

const COLLECTION = '/organizations/:organization_name/projects';
const BY_ID = '/projects/:project_id';

export const PROJECT_ENDPOINTS: readonly Endpoint[] = [
  on('GET', COLLECTION, listProjects),
  on('POST', COLLECTION, createProject),
  on('GET', BY_ID, showProject),
  on('PATCH', BY_ID, updateProject),
  on('DELETE', BY_ID, deleteProject),
  on('GET', `${BY_ID}/tag-bindings`, listProjectTagBindings),
  on('PATCH', `${BY_ID}/tag-bindings`, patchProjectTagBindings),
  on('GET', `${BY_ID}/effective-tag-bindings`, listEffectiveProjectTagBindings),
  on('GET', `${BY_ID}/relationships/tag-bindings`, listProjectTagBindings),
  on('POST', `${BY_ID}/relationships/tag-bindings`, addProjectTagBindings),
  on('PATCH', `${BY_ID}/relationships/tag-bindings`, replaceProjectTagBindings),
];

// GET, POST, PATCH and DELETE of projects.
// Invariants: the default project of an organization, and a project with workspaces, are not deleted.

/** GET /organizations/:organization_name/projects, with `filter[names]`, `q` (a part of the name) and `filter[tagged]` (bindings). */
function listProjects(request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(request);
  const visible = visibleProjects(request.caller, organization.id);
  const tagged = boundConditions(
    request.query,
    request.services.dialects.workspaces,
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
  return pagedAnswer<ProjectRow>(request, query, (rows) => {
    const resources = rows.map((row) => resourceOf(request.services, request.caller, row));
    return withBindings ? includeBindings(request.services.database, resources) : resources;
  });
}

/** GET /projects/:project_id */
function showProject(request: ApiRequest): ApiAnswer {
  const { project, rights } = requireProject(request);
  const resource = projectResource(project, rights);
  if (!includesBindings(request.query)) return ok({ data: resource });
  const { data, included } = includeBindings(request.services.database, [resource]);
  return ok({ data: data[0], included });
}

/** POST /organizations/:organization_name/projects */
function createProject(request: ApiRequest): ApiAnswer {
  const { database } = request.services;
  const { id: organizationId } = requireOrganizationRight(request, 'manageProjects');
  const { columns, tagBindings } = resolveProjectSettings(database, request.body, {
    organizationId,
    names: request.services.dialects.workspaces.projectNames,
  });
  const id = newId('prj');
  const createdAt = request.services.now().toISOString();
  database.insert('projects', { id, organization_id: organizationId, ...columns, created_at: createdAt });
  replaceTagBindings(database, { project_id: id }, tagBindings ?? [], request.services.now());
  recordEvent(request, 'project.create', { id, organization_id: organizationId });
  return created(document(request.services, request.caller, id));
}

/** PATCH /projects/:project_id */
function updateProject(request: ApiRequest): ApiAnswer {
  const { database } = request.services;
  const project = requireProjectRight(request, 'update-project');
  const { columns, tagBindings } = resolveProjectSettings(database, request.body, {
    organizationId: project.organization_id,
    names: request.services.dialects.workspaces.projectNames,
    before: project,
  });
  const settingsChanged = database.update('projects', project.id, columns);
  const bindingsChanged =
    tagBindings !== undefined &&
    replaceTagBindings(database, { project_id: project.id }, tagBindings, request.services.now());
  if (settingsChanged || bindingsChanged) recordEvent(request, 'project.update', project);
  return ok(document(request.services, request.caller, project.id));
}

/** DELETE /projects/:project_id: 403 for a caller who can only read it. */
function deleteProject(request: ApiRequest): ApiAnswer {
  const { project, rights } = requireProject(request);
  if (!rights.has('delete-project')) throw forbidden('Deleting a project needs an admin of the project');
  if (project.is_default === 1) throw conflict('The default project of an organization cannot be deleted');
  if (project.workspace_count > 0) {
    throw conflict('The project has workspaces and cannot be deleted: move or delete them first');
  }
  request.services.database.delete('projects', project.id);
  recordEvent(request, 'project.destroy', project);
  return NO_CONTENT;
}

function document(services: Services, caller: Caller, id: string): { data: unknown } {
  return { data: projectsById(services.database, [id]).map((row) => resourceOf(services, caller, row))[0] };
}

function resourceOf({ database }: Services, caller: Caller, row: ProjectRow) {
  return projectResource(row, projectRights(database, caller, row));
}

// The settings of a project after a request.
// Invariant: nothing is written here; an error names every problem.

const DURATION = /^[1-9]\d{0,3}[dh]$/;

interface ProjectContext {
  readonly organizationId: string;
  /** The pattern of names; undefined if any text is allowed. */
  readonly names: RegExp | undefined;
  /** Undefined for a new project. */
  readonly before?: ProjectRow;
}

interface ProjectSettings {
  readonly columns: SqlParameters;
  /** Undefined: they stay unchanged. */
  readonly tagBindings: readonly TagBinding[] | undefined;
}

/** @throws ApiError 422 */
function resolveProjectSettings(database: Database, body: unknown, context: ProjectContext): ProjectSettings {
  const { read, problems, attributes, relationships } = readAttributes(body, 'projects', context.before?.id);
  const { before } = context;
  const keep = <T>(value: T | undefined, current: T | undefined): T | null =>
    value === undefined ? (current ?? null) : value;
  const duration = read.nullableText('auto-destroy-activity-duration');
  if (typeof duration === 'string' && !DURATION.test(duration)) {
    read.refuse(
      'auto-destroy-activity-duration',
      'auto-destroy-activity-duration must be a number of 1 to 9999 followed by d or h',
    );
  }
  const columns = {
    name: read.name() ?? before?.name ?? '',
    description: keep(read.nullableText('description', TEXT_LIMIT), before?.description),
    auto_destroy_activity_duration: keep(duration, before?.auto_destroy_activity_duration),
    ...readDefaults(database, read, { attributes, relationships }, { context, problems }),
  };
  checkName(database, read, columns.name, context);
  const tagBindings = readTagBindings(relationships['tag-bindings'], problems);
  if (problems.length > 0) throw invalid(problems);
  return { columns, tagBindings };
}

/** The mode and pool that the project's workspaces inherit. An overwrite that is false removes the project's own value. */
function readDefaults(
  database: Database,
  read: MemberReader,
  { attributes, relationships }: { readonly attributes: BodyObject; readonly relationships: BodyObject },
  { context, problems }: { readonly context: ProjectContext; readonly problems: PointedProblem[] },
) {
  const overwrites = asObject(attributes['setting-overwrites']);
  const requested = read.nullableWord('default-execution-mode', EXECUTION_MODES);
  const mode = requested === undefined ? (context.before?.default_execution_mode ?? null) : requested;
  const pool = requestedPool(read, relationships['default-agent-pool']);
  // A requested mode without agents removes the pool, unless the request names one.
  const keepsPool = requested === undefined || requested === null || requested === 'agent';
  const kept = keepsPool ? (context.before?.default_agent_pool_id ?? null) : null;
  if (pool !== undefined && pool.id !== null && !isPoolOf(database, context.organizationId, pool.id)) {
    problems.push({ detail: 'The agent pool does not exist in this organization', pointer: pool.pointer });
  }
  const defaults = {
    default_execution_mode: overwrites?.['default-execution-mode'] === false ? null : mode,
    default_agent_pool_id:
      overwrites?.['default-agent-pool'] === false ? null : pool === undefined ? kept : pool.id,
  };
  if (defaults.default_execution_mode === 'agent' && defaults.default_agent_pool_id === null) {
    read.refuse('default-execution-mode', 'The execution mode "agent" needs a default agent pool');
  }
  return defaults;
}

/** The pool in the request, from the relationship or an attribute (where "" means no pool); undefined if the request has neither. */
function requestedPool(
  read: MemberReader,
  relationship: unknown,
): { readonly id: string | null; readonly pointer: string } | undefined {
  if (relationship !== undefined) {
    const data = asObject(relationship)?.['data'];
    const id = asObject(data)?.['id'];
    const pointer = '/data/relationships/default-agent-pool/data/id';
    return { id: data === null ? null : typeof id === 'string' ? id : '', pointer };
  }
  const id = read.nullableText('default-agent-pool-id');
  return id === undefined ? undefined : { id: id || null, pointer: '/data/attributes/default-agent-pool-id' };
}

function isPoolOf(database: Database, organization: string, id: string): boolean {
  const parameters = { id, organization };
  return (
    database.get(
      'SELECT 1 FROM agent_pools WHERE id = :id AND organization_id = :organization',
      parameters,
    ) !== undefined
  );
}

function checkName(
  database: Database,
  read: MemberReader,
  name: string,
  { organizationId, before, names }: ProjectContext,
): void {
  if (name === '') read.refuse('name', 'Name is required');
  if (name === '' || name === before?.name) return;
  if (names !== undefined && !names.test(name))
    read.refuse('name', 'Name can only include letters, numbers, spaces, -, and _, and no space at its ends');
  const taken = database.get(
    'SELECT 1 FROM projects WHERE organization_id = :organization AND name = :name',
    {
      organization: organizationId,
      name,
    },
  );
  if (taken !== undefined) read.refuse('name', 'Name has already been taken');
}
