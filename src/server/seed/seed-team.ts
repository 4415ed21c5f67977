// One team of a seed: its rights, members, token and access.
// Invariant: access to workspaces and projects is what the seed says for those it names; other access stays.

import { stableId } from '../identifiers.ts';
import { ensureServiceAccount, registerApiToken } from '../identity/tokens.ts';
import type { TeamSeed } from './seed.ts';
import { addMember, type SeedContext } from './seed-context.ts';

export function applyTeam(context: SeedContext, seed: TeamSeed): void {
  const { database, organizationId, organizationName, now } = context;
  const id = writeTeam(context, seed);
  for (const username of seed.members ?? []) {
    addMember(context, username);
    database.run(
      'INSERT OR IGNORE INTO team_memberships (team_id, user_id) SELECT :team, id FROM users WHERE username = :username',
      { team: id, username },
    );
  }
  for (const [project, access] of Object.entries(seed['project-access'] ?? {})) {
    database.run(
      `INSERT INTO team_project_access (team_id, project_id, access)
       SELECT :team, id, :access FROM projects WHERE organization_id = :organization AND name = :project
       ON CONFLICT (team_id, project_id) DO UPDATE SET access = excluded.access`,
      { team: id, organization: organizationId, project, access },
    );
  }
  for (const [workspace, access] of Object.entries(seed['workspace-access'] ?? {})) {
    const custom = typeof access === 'string' ? null : JSON.stringify(access);
    database.run(
      `INSERT INTO team_workspace_access (team_id, workspace_id, access, custom_permissions)
       SELECT :team, id, :access, :custom FROM workspaces
       WHERE organization_id = :organization AND name = :workspace
       ON CONFLICT (team_id, workspace_id) DO UPDATE SET
         access = excluded.access, custom_permissions = excluded.custom_permissions`,
      {
        team: id,
        organization: organizationId,
        workspace,
        access: typeof access === 'string' ? access : 'custom',
        custom,
      },
    );
  }
  if (seed.token !== undefined) {
    const userId = ensureServiceAccount(database, `api-team-${organizationName}-${seed.name}`, now);
    registerApiToken(database, seed.token, { userId, teamId: id }, now);
  }
}

function writeTeam(context: SeedContext, seed: TeamSeed): string {
  const { database, organizationId, organizationName, now } = context;
  database.run(
    `INSERT INTO teams
       (id, organization_id, name, manage_workspaces, read_workspaces, manage_projects, created_at)
     VALUES (:id, :organization, :name, :manage_workspaces, :read_workspaces, :manage_projects, :now)
     ON CONFLICT (organization_id, name) DO UPDATE SET manage_workspaces = excluded.manage_workspaces,
       read_workspaces = excluded.read_workspaces, manage_projects = excluded.manage_projects`,
    {
      id: stableId('team', organizationName, seed.name),
      organization: organizationId,
      name: seed.name,
      manage_workspaces: Number(seed['manage-workspaces'] ?? false),
      read_workspaces: Number(seed['read-workspaces'] ?? false),
      manage_projects: Number(seed['manage-projects'] ?? false),
      now: now.toISOString(),
    },
  );
  return stableId('team', organizationName, seed.name);
}
