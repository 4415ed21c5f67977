/**
 * GET, POST, PATCH and DELETE of organizations. All members of an organization see it; it is created with a default
 * project and its creator as an owner.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import { keepTrailTokens } from './audit-trail.ts';
import { type Caller, OWNERS_TEAM } from '../kernel/caller.ts';
import type { SqlParameters } from '../kernel/database.ts';
import { invalid, notFound, type PointedProblem } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  created,
  type Endpoint,
  NO_CONTENT,
  ok,
  on,
  queryText,
} from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { describePage, pagedAnswer, requestedPage } from '../kernel/pagination.ts';
import { asObject, type MemberReader, NAME_LIMIT, readAttributes } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import type { OrganizationSetting } from '../kernel/workspaces-dialects.ts';
import { type OrganizationRecord, requireOrganization, requireOrganizationRight } from './access.ts';
import { organizationResources } from './organization-document.ts';
import { DEFAULT_PROJECT } from './project-record.ts';
import { EXECUTION_MODES } from './workspace-record.ts';

/** GET /organizations: those that the caller belongs to. `q` searches in names. */
export function listOrganizations(request: ApiRequest): ApiAnswer {
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
  return pagedAnswer<OrganizationRecord>(request, query, (rows) =>
    organizationResources(request.services, request.caller, rows),
  );
}

/** GET /organizations/:organization_name */
export function showOrganization(request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(request);
  return ok({ data: organizationResources(request.services, request.caller, [organization])[0] });
}

/** POST /organizations: 404 for the tokens of organizations and teams, because only users create organizations. */
export function createOrganization(request: ApiRequest): ApiAnswer {
  const { database } = request.services;
  if (!isPerson(request.services, request.caller)) throw notFound('Endpoint');
  const id = newId('org');
  const settings = resolveOrganizationSettings(request.services, request.body, undefined);
  const createdAt = request.services.now().toISOString();
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
  recordEvent(request, 'organization.create', { id, organization_id: id });
  const owner = {
    owner: true,
    administer: true,
    manageWorkspaces: true,
    readWorkspaces: true,
    manageProjects: true,
  };
  const caller = { ...request.caller, organizations: new Map([[id, owner]]) };
  return created({
    data: organizationResources(request.services, caller, [requireById(request.services, id)])[0],
  });
}

/** PATCH /organizations/:organization_name */
export function updateOrganization(request: ApiRequest): ApiAnswer {
  const organization = requireOrganizationRight(request, 'administer');
  const settings = resolveOrganizationSettings(request.services, request.body, organization);
  const changed = request.services.database.update('organizations', organization.id, settings);
  if (changed)
    recordEvent(request, 'organization.update', { id: organization.id, organization_id: organization.id });
  return ok({
    data: organizationResources(request.services, request.caller, [
      requireById(request.services, organization.id),
    ])[0],
  });
}

/** DELETE /organizations/:organization_name: deletes everything in it, except its audit trail and its tokens for audit trails. */
export function deleteOrganization(request: ApiRequest): ApiAnswer {
  const { id } = requireOrganizationRight(request, 'owner');
  // Workspaces refer to projects and pools, which are deleted with the organization.
  request.services.database.run('DELETE FROM workspaces WHERE organization_id = :id', { id });
  keepTrailTokens(request.services, id);
  request.services.database.delete('organizations', id);
  recordEvent(request, 'organization.destroy', { id, organization_id: id });
  return NO_CONTENT;
}

/** GET /organizations/:organization_name/entitlement-set: all features of the edition. */
export function showEntitlements(request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(request);
  const entitled = [
    ...['operations', 'state-storage', 'agents', 'teams', 'vcs-integrations'],
    ...(request.services.edition.auditTrails ? ['audit-logging'] : []),
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

/** GET /organizations/:organization_name/stacks: always empty; clients read it before they delete an organization. */
export function listStacks(request: ApiRequest): ApiAnswer {
  requireOrganization(request);
  return ok({ data: [], ...describePage(request, requestedPage(request.query), 0) });
}

function requireById(services: Services, id: string): OrganizationRecord {
  const row = services.database.byId<OrganizationRecord>('organizations', id);
  if (row === undefined) throw notFound('Organization');
  return row;
}

function isPerson({ database }: Services, { userId, actsAs }: Caller): boolean {
  const sql = 'SELECT 1 FROM users WHERE id = :id AND is_service_account = 0';
  return actsAs.type === 'users' && database.get(sql, { id: userId }) !== undefined;
}

// The settings of an organization after a request.
// Invariant: nothing is written here; an error names every problem.

const NAME = /^[A-Za-z0-9_-]+$/;

/** The columns after the request; `before` is undefined for a new organization. @throws ApiError 422 */
function resolveOrganizationSettings(
  services: Services,
  body: unknown,
  before: OrganizationRecord | undefined,
): SqlParameters {
  const { read, problems, relationships } = readAttributes(body, 'organizations', before?.name);
  const flag = (name: string, current: number | undefined): number =>
    Number(read.boolean(name) ?? current === 1);
  const email = read.nullableText('email');
  const mode = read.nullableWord('default-execution-mode', EXECUTION_MODES);
  // A requested mode without agents removes the pool, unless the request names one.
  const keepsPool = mode === undefined || mode === null || mode === 'agent';
  const pool = relationships['default-agent-pool'] ?? (keepsPool ? undefined : { data: null });
  const settings = {
    name: read.name() ?? before?.name ?? '',
    email: email === undefined ? (before?.email ?? null) : email,
    default_execution_mode: mode ?? before?.default_execution_mode ?? 'remote',
    default_agent_pool_id: readPool(services, pool, before, problems),
    allow_force_delete_workspaces: flag(
      'allow-force-delete-workspaces',
      before?.allow_force_delete_workspaces,
    ),
    assessments_enforced: flag('assessments-enforced', before?.assessments_enforced),
    flags: readSettings(services, read, before),
  };
  checkName(services, read, settings.name, before);
  if (settings.default_execution_mode === 'agent' && settings.default_agent_pool_id === null) {
    read.refuse('default-execution-mode', 'The execution mode "agent" needs a default agent pool');
  }
  if (problems.length > 0) throw invalid(problems);
  return settings;
}

/** JSON: the settings of the dialect after the request, without those that were never set. */
function readSettings(
  { dialects }: Services,
  read: MemberReader,
  before: OrganizationRecord | undefined,
): string {
  const stored = JSON.parse(before?.flags ?? '{}') as Record<string, unknown>;
  for (const [name, { takes }] of Object.entries(dialects.workspaces.organizationSettings)) {
    const requested = readSetting(read, name, takes);
    if (requested !== undefined) stored[name] = requested;
  }
  return JSON.stringify(stored);
}

function readSetting(read: MemberReader, name: string, takes: OrganizationSetting['takes']): unknown {
  if (takes === undefined) return undefined;
  if (takes === 'flag') return read.boolean(name);
  if (takes === 'minutes') return read.nullableCount(name);
  return takes === 'text' ? read.nullableText(name, NAME_LIMIT) : read.nullableWord(name, takes);
}

function checkName(
  { database }: Services,
  read: MemberReader,
  name: string,
  before: OrganizationRecord | undefined,
): void {
  if (name === before?.name) return;
  if (!NAME.test(name)) read.refuse('name', 'Name must be made of letters, numbers, - and _');
  const taken = database.get('SELECT 1 FROM organizations WHERE name = :name', { name });
  if (taken !== undefined) read.refuse('name', 'Name has already been taken');
}

function readPool(
  { database }: Services,
  relationship: unknown,
  before: OrganizationRecord | undefined,
  problems: PointedProblem[],
): string | null {
  if (relationship === undefined) return before?.default_agent_pool_id ?? null;
  const data = asObject(relationship)?.['data'];
  if (data === null) return null;
  const id = asObject(data)?.['id'];
  const known = database.get('SELECT 1 FROM agent_pools WHERE id = :id AND organization_id = :organization', {
    id: typeof id === 'string' ? id : null,
    organization: before?.id ?? null,
  });
  if (known === undefined) {
    problems.push({
      detail: 'The agent pool does not exist in this organization',
      pointer: '/data/relationships/default-agent-pool/data/id',
    });
  }
  return typeof id === 'string' ? id : null;
}

// The site administration of organizations, as far as tests of clients need it: setting a subscription.
// Invariant: a subscription has no effect, as every organization has every feature; only an owner may set it.
// Only a dialect whose service has such an API serves it (wire/workspaces 6.4).

const FEATURE_SETS = ['Free', 'Trial', 'Team', 'Business', 'Enterprise'];

export const SITE_ADMINISTRATION_ENDPOINTS: readonly Endpoint[] = [
  on('GET', '/admin/feature-sets', listFeatureSets),
  on('POST', '/admin/organizations/:organization_name/subscription', subscribe),
].map((endpoint) => ({ ...endpoint, needsOfDialect: 'hasSiteAdministration' }));

/** `q` searches in names. */
function listFeatureSets(request: ApiRequest): ApiAnswer {
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

function subscribe(request: ApiRequest): ApiAnswer {
  requireOrganizationRight(request, 'owner');
  return NO_CONTENT;
}
