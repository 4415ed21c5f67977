/**
 * Teams, mounts, policies and tokens of a seed. Each member, token and access is seeded separately, so an edited seed can
 * add one to an existing team.
 */
import { canonicalBlocks } from '../cluster-auth/address-blocks.ts';
import { CLUSTER_AUTH_METHOD, storeMount } from '../cluster-auth/mounts.ts';
import { tokenPolicies } from '../cluster-auth/policy-rules.ts';
import { PLAIN_GRANT, storeToken } from '../cluster-auth/token-record.ts';
import { stableId } from '../kernel/identifiers.ts';
import { ensureServiceAccount, hashToken, registerApiToken } from '../kernel/tokens.ts';
import type { Permission } from '../workspaces/permissions.ts';
import { type AccessKind, type Grant, grantAccess } from '../workspaces/team-access.ts';
import type { PolicySeed, ServiceTokenSeed, TeamSeed, TokenSeed } from './seed-schema.ts';
import {
  addMember,
  eachOf,
  expiryOf,
  givenColumns,
  secondsOf,
  type SeedContext,
  seededId,
  type Seeding,
  tokensOf,
  tokenTerms,
} from './seeding.ts';

export function applyTeam(context: SeedContext, seed: TeamSeed): void {
  const recordIfNew = (...part: string[]) =>
    context.recordIfNew('team', context.organizationName, seed.name, ...part);
  const id = findOrCreate(context, seed, recordIfNew());
  // The team was seeded and later deleted: nothing of it is created again.
  if (id === undefined) return;
  eachOf(seed.members, (username) => {
    if (recordIfNew('member', username)) addTeamMember(context, id, username);
  });
  for (const [name, access] of Object.entries(seed['project-access'] ?? {})) {
    const thingId = seededId(context, 'projects', name);
    if (recordIfNew('project-access', thingId))
      grantIfPresent(context, 'project', { teamId: id, thingId, access });
  }
  for (const [name, access] of Object.entries(seed['workspace-access'] ?? {})) {
    const thingId = seededId(context, 'workspaces', name);
    if (!recordIfNew('workspace-access', thingId)) continue;
    grantIfPresent(context, 'workspace', {
      teamId: id,
      thingId,
      ...(typeof access === 'string'
        ? { access }
        : { access: 'custom', permissions: access as readonly Permission[] }),
    });
  }
  eachOf(tokensOf(seed), (token) => addToken(context, { id, name: seed.name, recordIfNew }, token));
}

interface Team {
  readonly id: string;
  readonly name: string;
  recordIfNew(...part: string[]): boolean;
}

/** The id of the team, also after a rename; undefined if it was seeded before and then deleted. */
function findOrCreate(context: SeedContext, seed: TeamSeed, isNew: boolean): string | undefined {
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
  // A team that already exists, because a stack needed its owner, gets the settings of the seed and keeps all others.
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
  if (!team.recordIfNew('token', hashToken(seed.token))) return;
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

/** Grants access by id, so a renamed project or workspace is found; does nothing if it was deleted. */
function grantIfPresent(context: SeedContext, kind: AccessKind, grant: Grant): void {
  const found = context.database.get(`SELECT 1 FROM ${kind}s WHERE id = :id`, { id: grant.thingId });
  if (found !== undefined) grantAccess(context.database, kind, grant);
}

// The secrets service in a seed: mounts, policies and tokens. read-seed.ts has checked their durations and times.

/** A cluster-auth mount in the root namespace; an existing one stays as it is. */
export function applyMount({ database, now, recordIfNew }: Seeding, path: string): void {
  if (!recordIfNew('mount', path)) return;
  storeMount(database, { namespace: '', path, type: CLUSTER_AUTH_METHOD, settings: {} }, now);
}

/** A policy of the root namespace, with its name in lower case as in the API. It replaces a policy of the same name. */
export function applyPolicy({ database, recordIfNew }: Seeding, policy: PolicySeed): void {
  const name = policy.name.toLowerCase();
  if (!recordIfNew('policy', name)) return;
  database.run(
    `INSERT INTO service_policies (namespace, name, rules, source) VALUES ('', :name, :rules, '')
     ON CONFLICT (namespace, name) DO UPDATE SET rules = excluded.rules, source = ''`,
    { name, rules: JSON.stringify(policy.rules) },
  );
}

/** A token of the root namespace. Without a ttl, a period or an expiry it never expires and is not renewable. */
export function applyServiceToken({ database, now, recordIfNew }: Seeding, seed: ServiceTokenSeed): void {
  if (!recordIfNew('service-token', hashToken(seed.token))) return;
  const period = secondsOf(seed.period);
  const explicitMaxTtl = secondsOf(seed['explicit-max-ttl']);
  const end = expiryOf(seed) ?? undefined;
  const boundCidrs = canonicalBlocks(seed['bound-cidrs'] ?? []);
  const requested = period || secondsOf(seed.ttl) || explicitMaxTtl;
  const capped = explicitMaxTtl > 0 ? Math.min(requested, explicitMaxTtl) : requested;
  const creationTtl = end === undefined ? capped : Math.trunc((end.getTime() - now.getTime()) / 1000);
  const expiresAt = end ?? (capped > 0 ? new Date(now.getTime() + capped * 1000) : null);
  storeToken(
    database,
    seed.token,
    {
      ...PLAIN_GRANT,
      displayName: seed.name ?? 'seeded',
      policies: tokenPolicies(seed.policies, false),
      type: seed.type ?? 'service',
      expiresAt,
      creationTtl,
      explicitMaxTtl,
      period,
      numUses: seed['num-uses'] ?? 0,
      boundCidrs: boundCidrs.ok ? boundCidrs.value : [],
      renewable: seed.renewable ?? (expiresAt !== null && seed.type !== 'batch'),
      meta: seed.meta ?? null,
    },
    now,
  );
}
