/**
 * GET /workspaces/:workspace_id and GET /organizations/:organization_name/workspaces/:name, and the document that every
 * answer about one workspace carries.
 */
import { type ApiAnswer, type ApiRequest, ok } from '../json-api/endpoint.ts';
import { notFound } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import { requireWorkspace } from './access.ts';
import { includedResources, requestedIncludes, withLinkage } from './list/include.ts';
import { workspaceResources } from './document/workspace-document.ts';
import { recordById } from './document/workspace-record.ts';

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
