/**
 * Finding what belongs to an organization, with the caller's right to see and change it.
 * Invariant: who does not belong to the organization, or lacks the right, gets the 404 of what does not exist.
 */
import type { OrganizationRights } from '../identity/caller.ts';
import type { ApiRequest } from '../json-api/endpoint.ts';
import { notFound } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import { type OrganizationRecord, requireOrganization } from '../workspaces/access.ts';

/** The organization that the path names. @throws ApiError 404 when the caller lacks the right there */
export function requireOrganizationRight(
  services: Services,
  request: ApiRequest,
  right: keyof OrganizationRights,
): OrganizationRecord {
  const { organization, rights } = requireOrganization(services, request);
  if (!rights[right]) throw notFound('Organization');
  return organization;
}

/** A record of an organization that the caller belongs to, and with the right where one is asked for. @throws ApiError 404 */
export function requireOfOrganization<Row extends { readonly organization_id: string }>(
  request: ApiRequest,
  record: Row | undefined,
  what: string,
  right?: keyof OrganizationRights,
): Row {
  const rights = request.caller.organizations.get(record?.organization_id ?? '');
  if (record === undefined || rights === undefined) throw notFound(what);
  if (right !== undefined && !rights[right]) throw notFound(what);
  return record;
}
