/**
 * GET, POST, PATCH and DELETE of organizations.
 * Invariants: an organization is shown to whoever belongs to it, whatever else they may do; it is made with a default
 * project and with its maker as an owner, so that nobody is locked out of what they made.
 */
import { newId } from '../identifiers.ts';
import { type Caller, OWNERS_TEAM } from '../identity/caller.ts';
import { type ApiAnswer, type ApiRequest, created, NO_CONTENT, ok } from '../json-api/endpoint.ts';
import { notFound } from '../json-api/errors.ts';
import { describePage, requestedPage } from '../json-api/pagination.ts';
import { pagedAnswer } from '../json-api/paged-answer.ts';
import { queryText } from '../json-api/query.ts';
import { DEFAULT_PROJECT } from '../projects/project-record.ts';
import type { Services } from '../services.ts';
import { type OrganizationRecord, requireOrganization } from '../workspaces/access.ts';
import { requireOrganizationRight } from './organization-access.ts';
import { organizationResources } from './organization-document.ts';
import { resolveOrganizationSettings } from './settle-organization.ts';

/** GET /organizations: those the caller belongs to. `q` is a part of the name. */
export function listOrganizations(services: Services, request: ApiRequest): ApiAnswer {
  const query = {
    select: 'o.*',
    from: `organizations o WHERE o.id IN (SELECT value FROM json_each(:ids))
      AND (:part = '' OR INSTR(LOWER(o.name), LOWER(:part)) > 0)`,
    order: 'o.name',
    parameters: {
      ids: JSON.stringify([...request.caller.organizations.keys()]),
      part: queryText(request.query, 'q') ?? '',
    },
  };
  return pagedAnswer<OrganizationRecord>(services, request, query, (rows) =>
    organizationResources(services, request.caller, rows),
  );
}

/** GET /organizations/:organization_name */
export function showOrganization(services: Services, request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(services, request);
  return ok({ data: organizationResources(services, request.caller, [organization])[0] });
}

/** POST /organizations, for users. */
export function createOrganization(services: Services, request: ApiRequest): ApiAnswer {
  const { database } = services;
  if (!isPerson(services, request.caller)) throw notFound('Endpoint');
  const id = newId('org');
  const settings = resolveOrganizationSettings(services, request.body, undefined);
  const createdAt = services.now().toISOString();
  database.insert('organizations', { id, ...settings, created_at: createdAt });
  database.insert('projects', {
    id: newId('prj'),
    organization_id: id,
    name: DEFAULT_PROJECT,
    is_default: 1,
    created_at: createdAt,
  });
  const team = newId('team');
  const user = request.caller.userId;
  database.insert('teams', { id: team, organization_id: id, name: OWNERS_TEAM, created_at: createdAt });
  database.insert('organization_memberships', { organization_id: id, user_id: user });
  database.insert('team_memberships', { team_id: team, user_id: user });
  recordEvent(services, request, { id, action: 'create' });
  const owner = {
    owner: true,
    administer: true,
    manageWorkspaces: true,
    readWorkspaces: true,
    manageProjects: true,
  };
  const caller = { ...request.caller, organizations: new Map([[id, owner]]) };
  return created({ data: organizationResources(services, caller, [read(services, id)])[0] });
}

/** PATCH /organizations/:organization_name */
export function updateOrganization(services: Services, request: ApiRequest): ApiAnswer {
  const organization = requireOrganizationRight(services, request, 'administer');
  const settings = resolveOrganizationSettings(services, request.body, organization);
  const changed = services.database.update('organizations', organization.id, settings);
  if (changed) recordEvent(services, request, { id: organization.id, action: 'update' });
  return ok({ data: organizationResources(services, request.caller, [read(services, organization.id)])[0] });
}

/** DELETE /organizations/:organization_name: with everything in it but its audit trail, which nobody has a token for any more. */
export function deleteOrganization(services: Services, request: ApiRequest): ApiAnswer {
  const { id } = requireOrganizationRight(services, request, 'owner');
  // Workspaces refer to projects and pools, which go with the organization as well.
  services.database.run('DELETE FROM workspaces WHERE organization_id = :id', { id });
  services.database.run('DELETE FROM organizations WHERE id = :id', { id });
  recordEvent(services, request, { id, action: 'destroy' });
  return NO_CONTENT;
}

/** GET /organizations/:organization_name/entitlement-set: everything that the edition has. */
export function showEntitlements(services: Services, request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(services, request);
  const entitled = [
    ...['operations', 'state-storage', 'agents', 'teams', 'vcs-integrations'],
    ...(services.edition.auditTrails ? ['audit-logging'] : []),
    ...['configuration-designer', 'cost-estimation', 'global-run-tasks', 'module-tests-generation'],
    ...['policy-enforcement', 'private-module-registry', 'run-tasks', 'sso', 'usage-reporting'],
    'self-serve-billing',
  ];
  return ok({
    data: {
      id: organization.id,
      type: 'entitlement-sets',
      attributes: Object.fromEntries(entitled.map((name) => [name, true])),
      links: { self: `/api/v2/organizations/${organization.name}/entitlement-set` },
    },
  });
}

/** GET /organizations/:organization_name/stacks: clients that clean up ask for them. There are none here. */
export function listStacks(services: Services, request: ApiRequest): ApiAnswer {
  requireOrganization(services, request);
  return ok({ data: [], ...describePage(request, requestedPage(request.query), 0) });
}

function read(services: Services, id: string): OrganizationRecord {
  const row = services.database.get<OrganizationRecord>('SELECT * FROM organizations WHERE id = :id', { id });
  if (row === undefined) throw notFound('Organization');
  return row;
}

function isPerson({ database }: Services, { userId, actsAs }: Caller): boolean {
  const sql = 'SELECT 1 FROM users WHERE id = :id AND is_service_account = 0';
  return actsAs.type === 'users' && database.get(sql, { id: userId }) !== undefined;
}

function recordEvent(
  services: Services,
  request: ApiRequest,
  { id, action }: { readonly id: string; readonly action: string },
): void {
  services.recordEvent({
    organizationId: id,
    actor: request.caller,
    requestId: request.requestId,
    resource: { id, type: 'organization', action },
  });
}
