/**
 * One team of a seed: its rights, members, token and access.
 * Invariant: each member, token and access is a thing of its own, so that an edited seed can add one to a team that it
 * made before; a right once given is left as it is.
 */
import { stableId } from '../identifiers.ts';
import { ensureServiceAccount, hashToken, registerApiToken } from '../identity/tokens.ts';
import type { TeamSeed } from './seed.ts';
import { addMember, eachOf, givenColumns, type SeedContext, seededId } from './seed-context.ts';

export function applyTeam(context: SeedContext, seed: TeamSeed): void {
  const id = stableId('team', context.organizationName, seed.name);
  const team = {
    id,
    name: seed.name,
    isNew: (...part: string[]) => context.isNew('team', context.organizationName, seed.name, ...part),
  };
  if (team.isNew()) writeTeam(context, id, seed);
  eachOf(seed.members, (username) => {
    if (team.isNew('member', username)) addTeamMember(context, id, username);
  });
  for (const [name, access] of Object.entries(seed['project-access'] ?? {})) {
    const projectId = seededId(context, 'projects', name);
    if (team.isNew('project-access', projectId)) giveProject(context, id, { projectId, access });
  }
  for (const [name, access] of Object.entries(seed['workspace-access'] ?? {})) {
    const workspaceId = seededId(context, 'workspaces', name);
    if (team.isNew('workspace-access', workspaceId)) giveWorkspace(context, id, { workspaceId, access });
  }
  addToken(context, team, seed.token);
}

interface Team {
  readonly id: string;
  readonly name: string;
  isNew(...part: string[]): boolean;
}

function addToken(context: SeedContext, team: Team, token: string | undefined): void {
  if (token === undefined || !team.isNew('token', hashToken(token))) return;
  const { database, organizationName, now } = context;
  const userId = ensureServiceAccount(database, `api-team-${organizationName}-${team.name}`, now);
  registerApiToken(database, token, { userId, teamId: team.id }, now);
}

/** A team that is there already, because a stack wanted its owner, gets what the seed says and keeps the rest. */
function writeTeam(context: SeedContext, id: string, seed: TeamSeed): void {
  const { database, organizationId, now } = context;
  database.run(
    `INSERT INTO teams (id, organization_id, name, created_at) VALUES (:id, :organization, :name, :now)
     ON CONFLICT (organization_id, name) DO NOTHING`,
    { id, organization: organizationId, name: seed.name, now: now.toISOString() },
  );
  database.update(
    'teams',
    id,
    givenColumns({
      manage_workspaces: seed['manage-workspaces'],
      read_workspaces: seed['read-workspaces'],
      manage_projects: seed['manage-projects'],
    }),
  );
}

function addTeamMember(context: SeedContext, team: string, username: string): void {
  addMember(context, username);
  context.database.run(
    'INSERT OR IGNORE INTO team_memberships (team_id, user_id) SELECT :team, id FROM users WHERE username = :username',
    { team, username },
  );
}

function giveProject(
  { database }: SeedContext,
  team: string,
  { projectId, access }: { readonly projectId: string; readonly access: string },
): void {
  database.run(
    `INSERT INTO team_project_access (team_id, project_id, access)
     SELECT :team, id, :access FROM projects WHERE id = :project
     ON CONFLICT (team_id, project_id) DO UPDATE SET access = excluded.access`,
    { team, project: projectId, access },
  );
}

/** Whatever the seeded workspace is called by now; nothing when it is gone. */
function giveWorkspace(
  { database }: SeedContext,
  team: string,
  { workspaceId, access }: { readonly workspaceId: string; readonly access: string | readonly string[] },
): void {
  database.run(
    `INSERT INTO team_workspace_access (team_id, workspace_id, access, custom_permissions)
     SELECT :team, id, :access, :custom FROM workspaces WHERE id = :workspace
     ON CONFLICT (team_id, workspace_id) DO UPDATE SET
       access = excluded.access, custom_permissions = excluded.custom_permissions`,
    {
      team,
      workspace: workspaceId,
      access: typeof access === 'string' ? access : 'custom',
      custom: typeof access === 'string' ? null : JSON.stringify(access),
    },
  );
}
