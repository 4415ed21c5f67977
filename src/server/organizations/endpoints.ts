/** The endpoints of organizations. */
import { type Endpoint, on } from '../json-api/endpoint.ts';
import {
  deleteOrganizationPolicy,
  putOrganizationPolicy,
  showOrganizationPolicy,
} from './organization-retention.ts';
import { deleteOrganizationTags, listOrganizationTags, tagWorkspaces } from './organization-tags.ts';
import {
  createOrganization,
  deleteOrganization,
  listOrganizations,
  listStacks,
  showEntitlements,
  showOrganization,
  updateOrganization,
} from './organizations.ts';

const BY_NAME = '/organizations/:organization_name';

export const ORGANIZATION_ENDPOINTS: readonly Endpoint[] = [
  on('GET', '/organizations', listOrganizations),
  on('POST', '/organizations', createOrganization),
  on('GET', BY_NAME, showOrganization),
  on('PATCH', BY_NAME, updateOrganization),
  on('DELETE', BY_NAME, deleteOrganization),
  on('GET', `${BY_NAME}/entitlement-set`, showEntitlements),
  on('GET', `${BY_NAME}/stacks`, listStacks),
  retention('GET', showOrganizationPolicy),
  retention('POST', putOrganizationPolicy),
  retention('PATCH', putOrganizationPolicy),
  retention('DELETE', deleteOrganizationPolicy),
  on('GET', `${BY_NAME}/tags`, listOrganizationTags),
  on('DELETE', `${BY_NAME}/tags`, deleteOrganizationTags),
  on('POST', '/tags/:tag_id/relationships/workspaces', tagWorkspaces),
];

/** Of those editions alone that have such policies. */
function retention(method: Endpoint['method'], handler: Endpoint['handler']): Endpoint {
  const endpoint = on(method, `${BY_NAME}/relationships/data-retention-policy`, handler);
  return { ...endpoint, needs: 'dataRetentionPolicies' };
}
