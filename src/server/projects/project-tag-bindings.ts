/**
 * The tag bindings of a project, which its workspaces inherit: reading, adding to and replacing them.
 * Invariant: what a project binds is effective for itself, too: it inherits from nothing.
 */
import { type ApiAnswer, type ApiRequest, NO_CONTENT, ok } from '../json-api/endpoint.ts';
import type { Services } from '../services.ts';
import {
  directBindings,
  directBindingResource,
  readBindingList,
  upsertTagBindings,
} from '../workspaces/tags/bind-tags.ts';
import { replaceTagBindings } from '../workspaces/tags/tag-bindings.ts';
import { requireAdministeredProject, requireProject } from './project-record.ts';

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

/** PATCH …/tag-bindings: adds and changes, and answers what it was given. */
export function patchProjectTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  const owner = { project_id: requireAdministeredProject(services, request).id };
  const bindings = readBindingList(request.body);
  return ok({ data: upsertTagBindings(services, owner, bindings).map(directBindingResource) });
}

/** POST …/relationships/tag-bindings: adds and changes. */
export function addProjectTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  const owner = { project_id: requireAdministeredProject(services, request).id };
  upsertTagBindings(services, owner, readBindingList(request.body));
  return NO_CONTENT;
}

/** PATCH …/relationships/tag-bindings: makes the bindings exactly these. */
export function replaceProjectTagBindings(services: Services, request: ApiRequest): ApiAnswer {
  const owner = { project_id: requireAdministeredProject(services, request).id };
  replaceTagBindings(services.database, owner, readBindingList(request.body), services.now());
  return NO_CONTENT;
}
