/** How long the data of workspaces is kept that say nothing themselves: an organization's own retention policy (wire/workspaces 2.5). */
import type { ApiAnswer, ApiRequest } from '../json-api/endpoint.ts';
import type { Services } from '../services.ts';
import { requireOrganization } from '../workspaces/access.ts';
import {
  deletePolicy,
  findPolicy,
  type Holder,
  putPolicy,
  showPolicy,
} from '../workspaces/related/data-retention-policy.ts';
import { requireOrganizationRight } from './organization-access.ts';

export function showOrganizationPolicy(services: Services, request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(services, request);
  return showPolicy(findPolicy(services, 'organization_id', organization.id));
}

/** POST and PATCH. */
export function putOrganizationPolicy(services: Services, request: ApiRequest): ApiAnswer {
  return putPolicy(services, request, administered(services, request));
}

export function deleteOrganizationPolicy(services: Services, request: ApiRequest): ApiAnswer {
  return deletePolicy(services, request, administered(services, request));
}

function administered(services: Services, request: ApiRequest): Holder {
  const organization = requireOrganizationRight(services, request, 'administer');
  return { column: 'organization_id', id: organization.id, organization };
}
