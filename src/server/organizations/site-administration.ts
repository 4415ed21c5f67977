/**
 * What whoever runs the service may do to organizations, as far as tests of clients need it: give one a subscription.
 * Invariant: nothing comes of it, for every organization has everything; who may do it is an owner of the organization.
 * Only a dialect whose service has such an API serves it (wire/workspaces 6.4).
 */
import { type ApiAnswer, type ApiRequest, type Endpoint, NO_CONTENT, ok, on } from '../json-api/endpoint.ts';
import { describePage, requestedPage } from '../json-api/pagination.ts';
import { queryText } from '../json-api/query.ts';
import type { Services } from '../services.ts';
import { requireOrganizationRight } from './organization-access.ts';

const FEATURE_SETS = ['Free', 'Trial', 'Team', 'Business', 'Enterprise'];

export const SITE_ADMINISTRATION_ENDPOINTS: readonly Endpoint[] = [
  on('GET', '/admin/feature-sets', listFeatureSets),
  on('POST', '/admin/organizations/:organization_name/subscription', subscribe),
].map((endpoint) => ({ ...endpoint, needsOfDialect: 'hasSiteAdministration' }));

/** `q` is a part of the name. */
function listFeatureSets(_services: Services, request: ApiRequest): ApiAnswer {
  const part = (queryText(request.query, 'q') ?? '').toLowerCase();
  const found = FEATURE_SETS.filter((name) => name.toLowerCase().includes(part));
  const page = requestedPage(request.query);
  const shown = found.slice((page.number - 1) * page.size, page.number * page.size);
  return ok({
    data: shown.map((name) => ({
      id: `fs-${name.toLowerCase()}`,
      type: 'feature-sets',
      attributes: { name, 'is-current': false, 'is-free-tier': name === 'Free' },
    })),
    ...describePage(request, page, found.length),
  });
}

function subscribe(services: Services, request: ApiRequest): ApiAnswer {
  requireOrganizationRight(services, request, 'owner');
  return NO_CONTENT;
}
