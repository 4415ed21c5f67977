/**
 * Teams: endpoints, record and document. The owners' team keeps its name and is never deleted; a member of a team is a member
 * of its organization. All members of the organization see its teams; `visibility` is stored and returned but hides nothing.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import { type OrganizationRights, OWNERS_TEAM } from '../kernel/caller.ts';
import type { Database } from '../kernel/database.ts';
import { conflict, invalid, type PointedProblem, type Resource, related } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  created,
  includesOf,
  NO_CONTENT,
  ok,
  queryList,
  queryText,
} from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { MemberReader, NAME_LIMIT, readIdentifiers, readAttributes } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { requireOfOrganization, requireOrganization, requireOrganizationRight } from './access.ts';
import { userResource, type UserRow } from './users.ts';

const VISIBILITIES = ['organization', 'secret'] as const;

/** GET /organizations/:organization_name/teams. `filter[names]`, and `q` searches in names. */
export function listTeams(request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(request);
  const query = {
    select: TEAM_COLUMNS,
    from: `${TEAM_TABLES} WHERE t.organization_id = :organization AND INSTR(LOWER(t.name), LOWER(:part)) > 0
      AND (:names = '[]' OR t.name IN (SELECT value FROM json_each(:names)))`,
    order: 't.name',
    parameters: {
      organization: organization.id,
      part: queryText(request.query, 'q') ?? '',
      names: JSON.stringify(queryList(request.query, 'filter[names]')),
    },
  };
  const withUsers = includesOf(request.query, ['users']).size > 0;
  return pagedAnswer<TeamRow>(request, query, (rows) => {
    const data = rows.map(teamResource);
    return withUsers ? { data, included: membersOf(request.services, rows) } : data;
  });
}

/** GET /teams/:team_id */
export function showTeam(request: ApiRequest): ApiAnswer {
  const team = requireTeam(request);
  const withUsers = includesOf(request.query, ['users']).size > 0;
  return ok({
    data: teamResource(team),
    ...(withUsers ? { included: membersOf(request.services, [team]) } : {}),
  });
}

/** The users of these teams, for `include=users`. */
function membersOf({ database }: Services, teams: readonly TeamRow[]): Resource[] {
  const rows = database.all<UserRow>(
    'SELECT * FROM users WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY username',
    { ids: JSON.stringify(teams.flatMap(({ members }) => JSON.parse(members) as string[])) },
  );
  return rows.map(userResource);
}

/** POST /organizations/:organization_name/teams */
export function createTeam(request: ApiRequest): ApiAnswer {
  const { id: organizationId } = requireOrganizationRight(request, 'administer');
  const id = newId('team');
  request.services.database.insert('teams', {
    id,
    organization_id: organizationId,
    ...readColumns(request.services, request.body, { organizationId }),
    created_at: request.services.now().toISOString(),
  });
  recordEvent(request, 'team.create', { id, organization_id: organizationId });
  return created({ data: teamsById(request.services.database, [id]).map(teamResource)[0] });
}

/** PATCH /teams/:team_id */
export function updateTeam(request: ApiRequest): ApiAnswer {
  const team = requireTeam(request, 'administer');
  const columns = readColumns(request.services, request.body, {
    organizationId: team.organization_id,
    before: team,
  });
  const changed = request.services.database.update('teams', team.id, columns);
  if (changed) recordEvent(request, 'team.update', team);
  return ok({ data: teamsById(request.services.database, [team.id]).map(teamResource)[0] });
}

/** DELETE /teams/:team_id: deletes its tokens and accesses, too. */
export function deleteTeam(request: ApiRequest): ApiAnswer {
  const team = requireTeam(request, 'administer');
  if (team.name === OWNERS_TEAM) throw conflict('The team of the owners cannot be deleted');
  request.services.database.delete('teams', team.id);
  recordEvent(request, 'team.destroy', team);
  return NO_CONTENT;
}

/** POST /teams/:team_id/relationships/users, by id or username. */
export function addTeamMembers(request: ApiRequest): ApiAnswer {
  const team = requireTeam(request, 'administer');
  const users = requestedUsers(request, team);
  for (const { id, username } of users) {
    const added = request.services.database.run(
      'INSERT OR IGNORE INTO team_memberships (team_id, user_id) VALUES (:team, :id)',
      { team: team.id, id },
    );
    if (added > 0) recordEvent(request, 'team.add_member', team, { user: username });
  }
  return NO_CONTENT;
}

/** DELETE /teams/:team_id/relationships/users: they stay in the organization. */
export function removeTeamMembers(request: ApiRequest): ApiAnswer {
  const team = requireTeam(request, 'administer');
  const users = requestedUsers(request, team);
  for (const { id, username } of users) {
    const removed = request.services.database.run(
      'DELETE FROM team_memberships WHERE team_id = :team AND user_id = :id',
      { team: team.id, id },
    );
    if (removed > 0) recordEvent(request, 'team.remove_member', team, { user: username });
  }
  const { members } = teamsById(request.services.database, [team.id])[0] ?? team;
  if (team.name === OWNERS_TEAM && members === '[]') {
    throw conflict('An organization keeps at least one owner');
  }
  return NO_CONTENT;
}

/** Users of the team's organization. @throws ApiError 422 for other users, whether they exist or not */
function requestedUsers(
  { services: { database }, body }: ApiRequest,
  team: TeamRow,
): { readonly id: string; readonly username: string }[] {
  const problems: PointedProblem[] = [];
  const users = readIdentifiers(body, 'users').flatMap(({ id }, index) => {
    const user = database.get<{ id: string; username: string }>(
      `SELECT u.id, u.username FROM users u JOIN organization_memberships m ON m.user_id = u.id
       WHERE m.organization_id = :organization AND u.is_service_account = 0 AND (u.id = :id OR u.username = :id)`,
      { id, organization: team.organization_id },
    );
    if (user === undefined)
      problems.push({ detail: `The organization has no user "${id}"`, pointer: `/data/${index}/id` });
    return user ?? [];
  });
  if (problems.length > 0) throw invalid(problems);
  return users;
}

/** The columns after the request. @throws ApiError 422 */
function readColumns(
  { database }: Services,
  body: unknown,
  { organizationId, before }: { readonly organizationId: string; readonly before?: TeamRow },
) {
  const { read, problems } = readAttributes(body, 'teams', before?.id);
  const access = new MemberReader(
    read.nullableObject('organization-access') ?? {},
    '/data/attributes/organization-access',
    problems,
  );
  const right = (name: string, current: number | undefined): number =>
    Number(access.boolean(name) ?? current === 1);
  const kept = JSON.parse(before?.kept_rights ?? '[]') as string[];
  const keeps = (name: string): boolean => right(name, Number(kept.includes(name))) === 1;
  const ssoTeam = read.nullableText('sso-team-id', NAME_LIMIT);
  const columns = {
    kept_rights: JSON.stringify(KEPT_RIGHTS.filter(keeps)),
    sso_team_id: ssoTeam === undefined ? (before?.sso_team_id ?? null) : ssoTeam,
    allow_member_token_management: Number(
      read.boolean('allow-member-token-management') ?? before?.allow_member_token_management !== 0,
    ),
    name: read.name() ?? before?.name ?? '',
    manage_workspaces: right('manage-workspaces', before?.manage_workspaces),
    read_workspaces: right('read-workspaces', before?.read_workspaces),
    manage_projects: right('manage-projects', before?.manage_projects),
    visibility: read.nullableWord('visibility', VISIBILITIES) ?? before?.visibility ?? 'organization',
  };
  if (columns.name === '') read.refuse('name', 'Name is required');
  if (columns.name !== before?.name) {
    if (before?.name === OWNERS_TEAM) read.refuse('name', 'The team of the owners keeps its name');
    const taken = database.get('SELECT 1 FROM teams WHERE organization_id = :organization AND name = :name', {
      organization: organizationId,
      name: columns.name,
    });
    if (taken !== undefined) read.refuse('name', 'Name has already been taken');
  }
  if (problems.length > 0) throw invalid(problems);
  return columns;
}

// Teams as the database stores them and as the API shows them.
// Invariants: all members of the organization see its teams, because locks and accesses name teams; `visibility` is stored and
// returned but hides nothing. Only owners change the owners' team, because others could make themselves owners.

interface TeamRow {
  id: string;
  organization_id: string;
  organization_name: string;
  name: string;
  manage_workspaces: number;
  read_workspaces: number;
  manage_projects: number;
  visibility: string;
  /** JSON: the names of the `KEPT_RIGHTS` that the team has. */
  kept_rights: string;
  allow_member_token_management: number;
  sso_team_id: string | null;
  /** JSON: the ids of its members, sorted by username. */
  members: string;
}

/** Rights over the organization that are stored and returned but have no effect here. */
const KEPT_RIGHTS: readonly string[] = [
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
const TEAM_COLUMNS = `t.*, o.name AS organization_name,
  (SELECT json_group_array(m.user_id) FROM (
     SELECT m.user_id FROM team_memberships m JOIN users u ON u.id = m.user_id
     WHERE m.team_id = t.id ORDER BY u.username) m) AS members`;
const TEAM_TABLES = 'teams t JOIN organizations o ON o.id = t.organization_id';

export function teamsById(database: Database, ids: readonly string[]): TeamRow[] {
  return database.all<TeamRow>(
    `SELECT ${TEAM_COLUMNS} FROM ${TEAM_TABLES} WHERE t.id IN (SELECT value FROM json_each(:ids)) ORDER BY t.id`,
    { ids: JSON.stringify(ids) },
  );
}

/** The team that the path names. Administering the owners' team needs an owner. @throws ApiError 404 */
export function requireTeam(request: ApiRequest, right?: keyof OrganizationRights): TeamRow {
  const [team] = teamsById(request.services.database, [request.params['team_id'] ?? '']);
  const isOwnersTeam = right === 'administer' && team?.name === OWNERS_TEAM;
  return requireOfOrganization(request, team, 'Team', isOwnersTeam ? 'owner' : right);
}

export function teamResource(row: TeamRow): Resource {
  const isOwners = row.name === OWNERS_TEAM;
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
        'manage-workspaces': isOwners || row.manage_workspaces === 1,
        'read-workspaces': isOwners || row.read_workspaces === 1,
        'manage-projects': isOwners || row.manage_projects === 1,
        ...Object.fromEntries(KEPT_RIGHTS.map((name) => [name, isOwners || kept.includes(name)])),
      },
      'sso-team-id': row.sso_team_id,
      'allow-member-token-management': row.allow_member_token_management === 1,
    },
    relationships: {
      organization: related('organizations', row.organization_name),
      users: { data: members.map((id) => ({ id, type: 'users' })) },
    },
    links: { self: `/api/v2/teams/${row.id}` },
  };
}
