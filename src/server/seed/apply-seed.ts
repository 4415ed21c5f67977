/**
 * Writes a seed into the database, in one transaction, parents first. Each item is written once, when it is new, and never
 * changed later, so a seed can be applied at every start.
 */
import { addEvent } from '../workspaces/audit-trail.ts';
import type { AddedEvent } from '../workspaces/audit-event-schema.ts';
import type { Database } from '../kernel/database.ts';
import { newId, stableId } from '../kernel/identifiers.ts';
import { ensureServiceAccount, hashToken, registerApiToken } from '../kernel/tokens.ts';
import { DELETE_OLDERS, DONT_DELETES } from '../workspaces/data-retention-policies.ts';
import { addRelease } from '../workspaces/engine-releases.ts';
import { DEFAULT_PROJECT } from '../workspaces/project-record.ts';
import { replaceTagBindings } from '../workspaces/tag-bindings.ts';
import { applyMount, applyPolicy, applyServiceToken, applyTeam } from './seed-access.ts';
import { applyWorkspace } from './seed-workspace.ts';
import type {
  NamedSeed,
  OrganizationSeed,
  ProjectSeed,
  Seed,
  TokenSeed,
  UserSeed,
  UserTokenSeed,
  VcsConnectionSeed,
} from './seed-schema.ts';
import {
  addMember,
  alreadyExists,
  eachOf,
  givenColumns,
  SeedConflictError,
  type SeedContext,
  seededId,
  type Seeding,
  seedOnce,
  tokensOf,
  tokenTerms,
} from './seeding.ts';

/**
 * Writes the new items of a seed that `readSeed` has checked.
 * @throws SeedConflictError when a new item cannot be added; then nothing is written
 */
export function applySeed(database: Database, seed: Seed, now: Date): void {
  writeSeed(seedOnce(database, now), seed);
}

/** Writes the new items of a seed; `seeding` decides which items are new. */
export function writeSeed(seeding: Seeding, seed: Seed): void {
  seeding.database.transaction(() => {
    eachOf(seed.users, (user) => applyUser(seeding, user));
    eachOf(seed.users, (user) => applyUserTokens(seeding, user));
    eachOf(seed.organizations, (organization) => applyOrganization(seeding, organization));
    eachOf(seed.mounts, (path) => applyMount(seeding, path));
    eachOf(seed.releases, (version) => {
      if (seeding.recordIfNew('release', version)) addRelease(seeding.database, version);
    });
    eachOf(seed.policies, (policy) => applyPolicy(seeding, policy));
    eachOf(seed['service-tokens'], (token) => applyServiceToken(seeding, token));
  });
}

function applyUser({ database, now, recordIfNew }: Seeding, user: UserSeed): void {
  if (!recordIfNew('user', user.username)) return;
  database.run(
    `INSERT INTO users (id, username, created_at) VALUES (:id, :username, :now)
     ON CONFLICT (username) DO NOTHING`,
    { id: userId(user.username), username: user.username, now: now.toISOString() },
  );
  database.update('users', userId(user.username), givenColumns({ email: user.email }));
}

/** Called after all users exist, because one user may impersonate another. */
function applyUserTokens({ database, now, recordIfNew }: Seeding, user: UserSeed): void {
  eachOf<UserTokenSeed>(tokensOf(user), (seed) => {
    if (!recordIfNew('user', user.username, 'token', hashToken(seed.token))) return;
    const impersonator = seed['impersonated-by'];
    const impersonatorId = impersonator === undefined ? null : userId(impersonator);
    const grant = { userId: userId(user.username), impersonatorId, ...tokenTerms(seed) };
    registerApiToken(database, seed.token, grant, now);
  });
}

function userId(username: string): string {
  return stableId('user', username);
}

// One organization of a seed with everything that belongs to it.
// Invariant: the order is agent pools, projects, workspaces, teams, because each can refer to those before it.

function applyOrganization(seeding: Seeding, seed: OrganizationSeed): void {
  const { recordIfNew } = seeding;
  const wasNew = recordIfNew('organization', seed.name);
  const organizationId = findOrCreate(seeding, seed, wasNew);
  // The organization was seeded and later deleted: nothing in it is created again.
  if (organizationId === undefined) return;
  const context = { ...seeding, organizationId, organizationName: seed.name, seed };
  eachOf(seed['agent-pools'], (pool) => writeNamed(context, POOLS, pool));
  eachOf(seed['ssh-keys'], (key) => writeNamed(context, SSH_KEYS, key));
  eachOf(seed['oauth-tokens'], (token) =>
    writeConnection(context, OAUTH_TOKENS, token, {
      client_id: stableId('oc', token.id),
      client_name: token.name ?? null,
    }),
  );
  eachOf(seed['vcs-app-installations'], (installation) =>
    writeConnection(context, APP_INSTALLATIONS, installation, {}),
  );
  if (wasNew) writeSettings(context, seed);
  eachOf(seed.projects, (project) => writeProject(context, project));
  ensureDefaultProject(context);
  eachOf(seed.workspaces, (workspace) => applyWorkspace(context, workspace));
  eachOf(seed.teams, (team) => applyTeam(context, team));
  eachOf(seed.members, (username) => {
    if (recordIfNew('member', seed.name, username)) addMember(context, username);
  });
  eachOf(tokensOf(seed), (given) => writeToken(context, given, false));
  const token = seed['audit-trails-token'];
  if (token !== undefined) writeToken(context, { token }, true);
  writeAuditEvents(context, seed['audit-events'] ?? []);
}

function writeToken(context: SeedContext, seed: TokenSeed, isForAuditTrails: boolean): void {
  const { database, organizationId, organizationName, now, recordIfNew } = context;
  if (!recordIfNew('organization', organizationName, 'token', hashToken(seed.token))) return;
  const userId = ensureServiceAccount(database, organizationId, now);
  const grant = { userId, organizationId, isForAuditTrails, ...tokenTerms(seed) };
  registerApiToken(database, seed.token, grant, now);
}

/** The identity of an event is its content, and the number of equal events before it. */
function writeAuditEvents(context: SeedContext, events: readonly AddedEvent[]): void {
  const { database, organizationId, organizationName, now, recordIfNew } = context;
  const counts = new Map<string, number>();
  for (const event of events) {
    const content = JSON.stringify(event);
    const before = counts.get(content) ?? 0;
    counts.set(content, before + 1);
    if (recordIfNew('audit event', organizationName, content, String(before)))
      addEvent(database, organizationId, event, now);
  }
}

/** The id of the organization, also after a rename; undefined if it was seeded before and then deleted. */
function findOrCreate(
  { database, now }: Seeding,
  seed: OrganizationSeed,
  isNew: boolean,
): string | undefined {
  const stable = stableId('org', seed.name);
  const byName = database.get<{ id: string }>('SELECT id FROM organizations WHERE name = :name', {
    name: seed.name,
  });
  const byId = database.byId<{ id: string }>('organizations', stable);
  if (!isNew) return (byId ?? byName)?.id;
  if (byName !== undefined) return byName.id;
  // A renamed organization still has the stable id, while its old name is free.
  const id = byId === undefined ? stable : newId('org');
  database.insert('organizations', { id, name: seed.name, created_at: now.toISOString() });
  return id;
}

/** Writes the settings that the seed gives; the others stay as they are. */
function writeSettings(context: SeedContext, seed: OrganizationSeed): void {
  const { database, organizationId, now } = context;
  database.update(
    'organizations',
    organizationId,
    givenColumns({
      email: seed.email,
      default_execution_mode: seed['default-execution-mode'],
      default_agent_pool_id: poolId(context, seed['default-agent-pool']),
      allow_force_delete_workspaces: seed['allow-force-delete-workspaces'],
      assessments_enforced: seed['assessments-enforced'],
      global_remote_state_default: seed['global-remote-state-default'],
    }),
  );
  const policy = seed['data-retention-policy'];
  if (policy === undefined) return;
  const days = policy['delete-older-than-n-days'] ?? null;
  database.run(
    `INSERT INTO data_retention_policies (id, organization_id, type, delete_older_than_n_days, created_at)
     VALUES (:id, :organization, :type, :days, :now)
     ON CONFLICT (organization_id) DO UPDATE SET
       type = excluded.type, delete_older_than_n_days = excluded.delete_older_than_n_days`,
    {
      id: stableId('drp', seed.name),
      organization: organizationId,
      type: days === null ? DONT_DELETES : DELETE_OLDERS,
      days,
      now: now.toISOString(),
    },
  );
}

const POOLS = { table: 'agent_pools', what: 'agent pool', prefix: 'apool' } as const;
const SSH_KEYS = { table: 'ssh_keys', what: 'SSH key', prefix: 'sshkey' } as const;
const OAUTH_TOKENS = { table: 'oauth_tokens', what: 'OAuth token' } as const;
const APP_INSTALLATIONS = { table: 'vcs_app_installations', what: 'app installation' } as const;

function writeNamed(
  context: SeedContext,
  { table, what, prefix }: typeof POOLS | typeof SSH_KEYS,
  seed: NamedSeed,
): void {
  const { database, organizationId, organizationName, now, recordIfNew } = context;
  const id = seed.id ?? stableId(prefix, organizationName, seed.name);
  if (
    !recordIfNew(what, organizationName, id) ||
    alreadyExists(context, { table, what, id, name: seed.name })
  )
    return;
  database.insert(table, {
    id,
    organization_id: organizationId,
    name: seed.name,
    created_at: now.toISOString(),
  });
}

function writeConnection(
  context: SeedContext,
  { table, what }: typeof OAUTH_TOKENS | typeof APP_INSTALLATIONS,
  seed: VcsConnectionSeed,
  columns: Record<string, string | null>,
): void {
  if (
    !context.recordIfNew(what, context.organizationName, seed.id) ||
    alreadyExists(context, { table, what, id: seed.id })
  )
    return;
  context.database.insert(table, {
    id: seed.id,
    organization_id: context.organizationId,
    service_provider: seed['service-provider'] ?? 'github',
    http_url: (seed['http-url'] ?? 'https://github.com').replace(/\/+$/, ''),
    created_at: context.now.toISOString(),
    ...columns,
  });
}

function writeProject(context: SeedContext, seed: ProjectSeed): void {
  const { database, organizationName, now } = context;
  const id = seededId(context, 'projects', seed.name);
  if (!context.recordIfNew('project', organizationName, id)) return;
  const thing = { table: 'projects', what: 'project', id, name: seed.name } as const;
  if (!alreadyExists(context, thing)) insertProject(context, id, seed.name);
  database.update(
    'projects',
    id,
    givenColumns({
      description: seed.description,
      default_execution_mode: seed['default-execution-mode'],
      default_agent_pool_id: poolId(context, seed['default-agent-pool']),
      auto_destroy_activity_duration: seed['auto-destroy-activity-duration'],
    }),
  );
  if (seed['tag-bindings'] !== undefined) {
    const bindings = Object.entries(seed['tag-bindings']).map(([key, value]) => ({ key, value }));
    replaceTagBindings(database, { project_id: id }, bindings, now);
  }
}

/** Creates the default project, which every organization has, even if the seed does not contain it. */
function ensureDefaultProject(context: SeedContext): void {
  const { database, organizationId, organizationName } = context;
  const known = database.get(
    'SELECT 1 FROM projects WHERE organization_id = :organization AND is_default = 1',
    {
      organization: organizationId,
    },
  );
  if (known === undefined) {
    // A renamed organization's default project may still have this id.
    const stable = stableId('prj', organizationName, DEFAULT_PROJECT);
    const taken = database.get('SELECT 1 FROM projects WHERE id = :id', { id: stable }) !== undefined;
    insertProject(context, taken ? newId('prj') : stable, DEFAULT_PROJECT);
  }
}

function insertProject({ database, organizationId, now }: SeedContext, id: string, name: string): void {
  database.insert('projects', {
    id,
    organization_id: organizationId,
    name,
    is_default: Number(name === DEFAULT_PROJECT),
    created_at: now.toISOString(),
  });
}

function poolId(context: SeedContext, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const id = seededId(context, 'agent-pools', name);
  if (context.database.get('SELECT 1 FROM agent_pools WHERE id = :id', { id }) === undefined) {
    throw new SeedConflictError(
      `the seed names the agent pool "${name}" of organization "${context.organizationName}", which was deleted since; take it out of the seed`,
    );
  }
  return id;
}
