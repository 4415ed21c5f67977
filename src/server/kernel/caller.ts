/**
 * Who calls the workspaces API: the holder of a bearer token, and what it may do in each organization.
 * Invariant: rights come from teams. A user has the rights of all its teams together, a team's token has those of its team, and an
 * organization's token manages every workspace without being an owner.
 */
import type { Database } from './database.ts';
import { hashToken } from './tokens.ts';

/** What a caller may do in one organization as a whole. */
export interface OrganizationRights {
  readonly owner: boolean;
  /** Settings, teams, keys and connections: owners, and the organization's own token. */
  readonly administer: boolean;
  readonly manageWorkspaces: boolean;
  /** Implied by `manageWorkspaces` and by `manageProjects`. */
  readonly readWorkspaces: boolean;
  /** Admin of every project and its workspaces, without the rights over all workspaces of the organization. */
  readonly manageProjects: boolean;
}

/** Whose token it is. An audit-trails token can only read the audit trail of its organization (wire/audit-trails 1.3). */
export type TokenKind = 'user' | 'team' | 'organization' | 'audit-trails';

export interface Caller {
  readonly tokenKind: TokenKind;
  /** The organization whose own token it is; undefined for users and teams. */
  readonly organizationId: string | undefined;
  /** A team's token locks workspaces as a team; every other token acts as a user. */
  readonly actsAs: { readonly type: 'users' | 'teams'; readonly id: string };
  /** The user that the audit trail names: for the token of a team or an organization, its service account. */
  readonly userId: string;
  readonly username: string;
  /** The user who impersonates the token's user; undefined without impersonation. */
  readonly impersonatorId: string | undefined;
  readonly teamIds: readonly string[];
  /** By organization id; an organization that is missing here is invisible to the caller. */
  readonly organizations: ReadonlyMap<string, OrganizationRights>;
}

interface TokenRow {
  user_id: string;
  username: string;
  team_id: string | null;
  organization_id: string | null;
  is_for_audit_trails: number;
  /** The deleted organization of an audit-trails token: the token stays valid. */
  deleted_organization_id: string | null;
  impersonator_id: string | null;
}

interface TeamRow {
  id: string;
  organization_id: string;
  is_owners: number;
  manage_workspaces: number;
  read_workspaces: number;
  manage_projects: number;
}

/** The name of the team whose members own the organization. */
export const OWNERS_TEAM = 'owners';

const NO_RIGHTS: OrganizationRights = {
  owner: false,
  administer: false,
  manageWorkspaces: false,
  readWorkspaces: false,
  manageProjects: false,
};

const ORGANIZATION_TOKEN_RIGHTS: OrganizationRights = {
  ...NO_RIGHTS,
  administer: true,
  manageWorkspaces: true,
  readWorkspaces: true,
  manageProjects: true,
};

/** SQL condition: the token `t` has not expired at `:now`. */
const IS_VALID = '(t.expires_at IS NULL OR t.expires_at > :now)';

/** The caller behind an `Authorization` header; undefined when it is not a bearer token, or the token is unknown or expired. */
export function authenticateBearer(
  database: Database,
  header: string | undefined,
  now: Date,
): Caller | undefined {
  const row = tokenRow(database, header, now);
  return row === undefined ? undefined : callerOf(database, row);
}

/** The id of the user behind the header, without the rights: reading those of a user in hundreds of teams takes as long as the request. */
export function userBehindBearer(
  database: Database,
  header: string | undefined,
  now: Date,
): string | undefined {
  return tokenRow(database, header, now)?.user_id;
}

function tokenRow(database: Database, header: string | undefined, now: Date): TokenRow | undefined {
  const token = /^bearer +(\S+) *$/i.exec(header ?? '')?.[1];
  if (token === undefined) return undefined;
  return database.get<TokenRow>(
    `SELECT t.user_id, u.username, t.team_id, t.organization_id, t.is_for_audit_trails,
       t.deleted_organization_id, t.impersonator_id
     FROM api_tokens t JOIN users u ON u.id = t.user_id
     WHERE t.token_hash = :hash AND ${IS_VALID}`,
    { hash: hashToken(token), now: now.toISOString() },
  );
}

/**
 * A user by id, with its current rights, for work that it requested earlier. A service account has the rights of its team or
 * organization while it has a valid token. Undefined when no such user exists.
 */
export function callerById(database: Database, userId: string, now: Date): Caller | undefined {
  const row = database.get<TokenRow>(
    `SELECT u.id AS user_id, u.username, t.team_id, t.organization_id, 0 AS is_for_audit_trails,
       NULL AS deleted_organization_id, NULL AS impersonator_id
     FROM users u LEFT JOIN api_tokens t ON t.user_id = u.id AND t.is_for_audit_trails = 0 AND ${IS_VALID}
     WHERE u.id = :id LIMIT 1`,
    { id: userId, now: now.toISOString() },
  );
  return row === undefined ? undefined : callerOf(database, row);
}

function callerOf(database: Database, token: TokenRow): Caller {
  const { user_id: userId, username } = token;
  const organizationId = token.organization_id ?? token.deleted_organization_id;
  const impersonatorId = token.impersonator_id ?? undefined;
  const asUser = { actsAs: { type: 'users', id: userId } as const, userId, username, impersonatorId };
  if (organizationId !== null) {
    const ofOrganization = { ...asUser, organizationId, teamIds: [] };
    return token.is_for_audit_trails === 1
      ? { ...ofOrganization, tokenKind: 'audit-trails', organizations: new Map() }
      : {
          ...ofOrganization,
          tokenKind: 'organization',
          organizations: new Map([[organizationId, ORGANIZATION_TOKEN_RIGHTS]]),
        };
  }
  if (token.team_id !== null) {
    const teams = readTeams(database, 'id = :id', token.team_id);
    return {
      tokenKind: 'team',
      organizationId: undefined,
      actsAs: { type: 'teams', id: token.team_id },
      userId,
      username,
      impersonatorId,
      teamIds: teams.map((team) => team.id),
      organizations: rightsOf(teams),
    };
  }
  const teams = readTeams(
    database,
    'id IN (SELECT team_id FROM team_memberships WHERE user_id = :id)',
    userId,
  );
  const organizations = rightsOf(teams);
  for (const { organization_id } of database.all<{ organization_id: string }>(
    'SELECT organization_id FROM organization_memberships WHERE user_id = :id',
    { id: userId },
  )) {
    if (!organizations.has(organization_id)) organizations.set(organization_id, NO_RIGHTS);
  }
  return {
    ...asUser,
    tokenKind: 'user',
    organizationId: undefined,
    teamIds: teams.map((team) => team.id),
    organizations,
  };
}

function readTeams(database: Database, condition: string, id: string): TeamRow[] {
  return database.all<TeamRow>(
    `SELECT id, organization_id, name = '${OWNERS_TEAM}' AS is_owners, manage_workspaces, read_workspaces,
       manage_projects
     FROM teams WHERE ${condition}`,
    { id },
  );
}

function rightsOf(teams: readonly TeamRow[]): Map<string, OrganizationRights> {
  const rights = new Map<string, OrganizationRights>();
  for (const team of teams) {
    const known = rights.get(team.organization_id) ?? NO_RIGHTS;
    const owner = known.owner || team.is_owners === 1;
    const manageWorkspaces = known.manageWorkspaces || owner || team.manage_workspaces === 1;
    const manageProjects = known.manageProjects || owner || team.manage_projects === 1;
    rights.set(team.organization_id, {
      owner,
      administer: owner,
      manageWorkspaces,
      readWorkspaces:
        known.readWorkspaces || manageWorkspaces || manageProjects || team.read_workspaces === 1,
      manageProjects,
    });
  }
  return rights;
}
