/**
 * One team of a seed: its rights, members, token and access.
 * Invariant: each member, token and access is a thing of its own, so that an edited seed can add one to a team that it
 * made before; a right once given is left as it is.
 */
import { stableId } from '../identifiers.ts';
import type { Permission } from '../identity/workspace-permissions.ts';
import { ensureServiceAccount, hashToken, registerApiToken } from '../identity/tokens.ts';
import { type AccessKind, type Grant, grantAccess } from '../teams/team-access.ts';
import type { TeamSeed, TokenSeed } from './seed.ts';
import {
  addMember,
  eachOf,
  givenColumns,
  type SeedContext,
  seededId,
  tokensOf,
  tokenTerms,
} from './seed-context.ts';

export function applyTeam(context: SeedContext, seed: TeamSeed): void {
  const isNew = (...part: string[]) => context.isNew('team', context.organizationName, seed.name, ...part);
  const id = findOrMake(context, seed, isNew());
  // Deleted since: then nothing of it is made again.
  if (id === undefined) return;
  eachOf(seed.members, (username) => {
    if (isNew('member', username)) addTeamMember(context, id, username);
  });
  for (const [name, access] of Object.entries(seed['project-access'] ?? {})) {
    const thingId = seededId(context, 'projects', name);
    if (isNew('project-access', thingId)) give(context, 'project', { teamId: id, thingId, access });
  }
  for (const [name, access] of Object.entries(seed['workspace-access'] ?? {})) {
    const thingId = seededId(context, 'workspaces', name);
    if (!isNew('workspace-access', thingId)) continue;
    give(context, 'workspace', {
      teamId: id,
      thingId,
      ...(typeof access === 'string'
        ? { access }
        : { access: 'custom', permissions: access as readonly Permission[] }),
    });
  }
  eachOf(tokensOf(seed), (token) => addToken(context, { id, name: seed.name, isNew }, token));
}

interface Team {
  readonly id: string;
  readonly name: string;
  isNew(...part: string[]): boolean;
}

/** The id of the team, whatever it is called by now; undefined when it was seeded before and is gone. */
function findOrMake(context: SeedContext, seed: TeamSeed, isNew: boolean): string | undefined {
  const { database, organizationId, organizationName, now } = context;
  const stable = stableId('team', organizationName, seed.name);
  const known = database.get<{ id: string }>(
    `SELECT id FROM teams WHERE organization_id = :organization AND (id = :id OR name = :name)
     ORDER BY id = :id DESC LIMIT 1`,
    { organization: organizationId, id: stable, name: seed.name },
  );
  if (!isNew) return known?.id;
  const id = known?.id ?? stable;
  if (known === undefined) {
    const created_at = now.toISOString();
    database.insert('teams', { id, organization_id: organizationId, name: seed.name, created_at });
  }
  // A team that is there already, because a stack wanted its owner, gets what the seed says and keeps the rest.
  database.update(
    'teams',
    id,
    givenColumns({
      manage_workspaces: seed['manage-workspaces'],
      read_workspaces: seed['read-workspaces'],
      manage_projects: seed['manage-projects'],
    }),
  );
  return id;
}

function addToken(context: SeedContext, team: Team, seed: TokenSeed): void {
  if (!team.isNew('token', hashToken(seed.token))) return;
  const { database, now } = context;
  const userId = ensureServiceAccount(database, team.id, now);
  registerApiToken(database, seed.token, { userId, teamId: team.id, ...tokenTerms(seed) }, now);
}

function addTeamMember(context: SeedContext, team: string, username: string): void {
  addMember(context, username);
  context.database.run(
    'INSERT OR IGNORE INTO team_memberships (team_id, user_id) SELECT :team, id FROM users WHERE username = :username',
    { team, username },
  );
}

/** Whatever the seeded thing is called by now; nothing when it is gone. */
function give(context: SeedContext, kind: AccessKind, grant: Grant): void {
  const there = context.database.get(`SELECT 1 FROM ${kind}s WHERE id = :id`, { id: grant.thingId });
  if (there !== undefined) grantAccess(context.database, kind, grant);
}
