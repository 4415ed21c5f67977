/**
 * The tag bindings of a project, which its workspaces inherit: reading, adding to and replacing them.
 * Invariant: what a project binds is effective for itself, too: it inherits from nothing.
 */
import type { Database } from '../data-file/database.ts';
import type { Resource } from '../json-api/document.ts';
import { type ApiAnswer, type ApiRequest, NO_CONTENT, ok } from '../json-api/endpoint.ts';
import { type Query, includesOf } from '../json-api/query.ts';
import type { Services } from '../services.ts';
import {
  boundKeys,
  directBindings,
  directBindingResource,
  readBindingList,
  upsertTagBindings,
} from '../workspaces/tags/bind-tags.ts';
import { replaceTagBindings, type TagBinding } from '../workspaces/tags/tag-bindings.ts';
import { recordProjectEvent } from './project-event.ts';
import { type ProjectRow, requireProject, requireProjectRight } from './project-record.ts';

/** GET …/tag-bindings and …/relationships/tag-bindings: all of them, without pages. */
export function listProjectTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  const { project } = requireProject(services, request);
  return ok({
    data: directBindings(services.database, { project_id: project.id }).map(directBindingResource),
  });
}

/** GET …/effective-tag-bindings */
export function listEffectiveProjectTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  const { project } = requireProject(services, request);
  const rows = directBindings(services.database, { project_id: project.id });
  return ok({
    data: rows.map(({ id, key, value }) => ({
      ...(services.dialects.workspaces.effectiveBindingsHaveIds ? { id } : {}),
      type: 'effective-tag-bindings',
      attributes: { key, value },
    })),
  });
}

/** Whether a request asks for the bindings of its projects. @throws ApiError 400 for any other include */
export function includesBindings(query: Query): boolean {
  return includesOf(query, ['effective_tag_bindings']).size > 0;
}

/** The projects with their bindings, in one query, linked by id. */
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

/** PATCH …/tag-bindings: adds and changes, and answers what it was given. */
export function patchProjectTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  const project = requireProjectRight(services, request, 'update-project');
  const bindings = readBindingList(request.body);
  const { rows, changed } = upsertTagBindings(services, { project_id: project.id }, bindings);
  if (changed) recordBinding(services, request, project, bindings);
  return ok({ data: rows.map(directBindingResource) });
}

/** POST …/relationships/tag-bindings: adds and changes. */
export function addProjectTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  patchProjectTagBindings(services, request);
  return NO_CONTENT;
}

/** PATCH …/relationships/tag-bindings: makes the bindings exactly these. */
export function replaceProjectTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  const project = requireProjectRight(services, request, 'update-project');
  const bindings = readBindingList(request.body);
  const owner = { project_id: project.id };
  const changed = replaceTagBindings(services.database, owner, bindings, services.now());
  if (changed) recordBinding(services, request, project, bindings);
  return NO_CONTENT;
}

function recordBinding(
  services: Services,
  request: ApiRequest,
  project: ProjectRow,
  bindings: readonly TagBinding[],
): void {
  recordProjectEvent(services, request, project, { action: 'update', meta: boundKeys(bindings) });
}
