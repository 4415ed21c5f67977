/**
 * Teams as the database keeps them and as the API shows them.
 * Invariants: a team is shown to whoever belongs to its organization, for locks and accesses name teams: `visibility` is
 * kept and answered, and hides nothing. The team of the owners is changed by owners alone: whoever else could, would make
 * itself an owner.
 */
import type { Database } from '../data-file/database.ts';
import { OWNERS_TEAM, type OrganizationRights } from '../identity/caller.ts';
import type { Resource } from '../json-api/document.ts';
import type { ApiRequest } from '../json-api/endpoint.ts';
import { requireOfOrganization } from '../organizations/organization-access.ts';
import type { Services } from '../services.ts';

export interface TeamRow {
  id: string;
  organization_id: string;
  organization_name: string;
  name: string;
  manage_workspaces: number;
  read_workspaces: number;
  manage_projects: number;
  visibility: string;
  /** JSON: the names of those `KEPT_RIGHTS` that it has. */
  kept_rights: string;
  allow_member_token_management: number;
  sso_team_id: string | null;
  /** JSON: the ids of its members, by name. */
  members: string;
}

/** Rights over the organization that are kept and answered, and decide nothing here. */
export const KEPT_RIGHTS: readonly string[] = [
  'access-secret-teams',
  'delegate-policy-overrides',
  'manage-agent-pools',
  'manage-membership',
  'manage-modules',
  'manage-organization-access',
  'manage-policies',
  'manage-policy-overrides',
  'manage-providers',
  'manage-run-tasks',
  'manage-teams',
  'manage-vcs-settings',
  'read-projects',
];

/** For queries over `t` and `o`. */
export const TEAM_COLUMNS = `t.*, o.name AS organization_name,
  (SELECT json_group_array(m.user_id) FROM (
     SELECT m.user_id FROM team_memberships m JOIN users u ON u.id = m.user_id
     WHERE m.team_id = t.id ORDER BY u.username) m) AS members`;
export const TEAM_TABLES = 'teams t JOIN organizations o ON o.id = t.organization_id';

export function teamsById(database: Database, ids: readonly string[]): TeamRow[] {
  return database.all<TeamRow>(
    `SELECT ${TEAM_COLUMNS} FROM ${TEAM_TABLES} WHERE t.id IN (SELECT value FROM json_each(:ids)) ORDER BY t.id`,
    { ids: JSON.stringify(ids) },
  );
}

/** The team that the path names; for the team of the owners, to administer takes an owner. @throws ApiError 404 */
export function requireTeam(
  services: Services,
  request: ApiRequest,
  right?: keyof OrganizationRights,
): TeamRow {
  const [team] = teamsById(services.database, [request.params['team_id'] ?? '']);
  const ofOwners = right === 'administer' && team?.name === OWNERS_TEAM;
  return requireOfOrganization(request, team, 'Team', ofOwners ? 'owner' : right);
}

export function teamResource(row: TeamRow): Resource {
  const owners = row.name === OWNERS_TEAM;
  const members = JSON.parse(row.members) as string[];
  const kept = JSON.parse(row.kept_rights) as string[];
  return {
    id: row.id,
    type: 'teams',
    attributes: {
      name: row.name,
      'users-count': members.length,
      visibility: row.visibility,
      'organization-access': {
        'manage-workspaces': owners || row.manage_workspaces === 1,
        'read-workspaces': owners || row.read_workspaces === 1,
        'manage-projects': owners || row.manage_projects === 1,
        ...Object.fromEntries(KEPT_RIGHTS.map((name) => [name, owners || kept.includes(name)])),
      },
      'sso-team-id': row.sso_team_id,
      'allow-member-token-management': row.allow_member_token_management === 1,
    },
    relationships: {
      organization: {
        data: { id: row.organization_name, type: 'organizations' },
        links: { related: `/api/v2/organizations/${row.organization_name}` },
      },
      users: { data: members.map((id) => ({ id, type: 'users' })) },
    },
    links: { self: `/api/v2/teams/${row.id}` },
  };
}
