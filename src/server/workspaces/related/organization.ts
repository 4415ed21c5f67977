/**
 * GET /organizations/:organization_name. An addition to the spec, which the real service has: what an organization
 * enforces on its workspaces stands in no other document.
 * Invariant: an organization is shown to whoever belongs to it, whatever else they may do.
 */
import type { Resource } from '../../json-api/document.ts';
import { type ApiAnswer, type ApiRequest, ok } from '../../json-api/endpoint.ts';
import type { Services } from '../../services.ts';
import { type OrganizationRecord, requireOrganization } from '../access.ts';

export function showOrganization(services: Services, request: ApiRequest): ApiAnswer {
  return ok({ data: organizationResource(requireOrganization(services, request).organization) });
}

/** Its JSON:API id is its name. */
export function organizationResource(record: OrganizationRecord): Resource {
  return {
    id: record.name,
    type: 'organizations',
    attributes: {
      name: record.name,
      email: record.email,
      'external-id': record.id,
      'created-at': record.created_at,
      'default-execution-mode': record.default_execution_mode,
      'allow-force-delete-workspaces': record.allow_force_delete_workspaces === 1,
      'assessments-enforced': record.assessments_enforced === 1,
    },
    links: { self: `/api/v2/organizations/${record.name}` },
  };
}
