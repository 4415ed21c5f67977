// One organization of a seed with everything that belongs to it.
// Invariant: parents are written before what refers to them: pools, projects, workspaces, teams.

import type { Database } from '../database.ts';
import { stableId } from '../identifiers.ts';
import { ensureServiceAccount, registerApiToken } from '../identity/tokens.ts';
import { DELETE_OLDERS, DONT_DELETES } from '../workspaces/data-retention-policy.ts';
import { replaceTagBindings } from '../workspaces/tag-bindings.ts';
import { DEFAULT_PROJECT } from './read-seed.ts';
import type { NamedSeed, OrganizationSeed, ProjectSeed, VcsConnectionSeed } from './seed.ts';
import { addMember, eachOf, givenColumns, type SeedContext } from './seed-context.ts';
import { applyTeam } from './seed-team.ts';
import { applyWorkspace } from './seed-workspace.ts';

export function applyOrganization(database: Database, seed: OrganizationSeed, now: Date): void {
  const context = {
    database,
    organizationId: writeOrganization(database, seed, now),
    organizationName: seed.name,
    now,
  };
  eachOf(seed['agent-pools'], (pool) => writeNamed(context, 'agent_pools', 'apool', pool));
  eachOf(seed['ssh-keys'], (key) => writeNamed(context, 'ssh_keys', 'sshkey', key));
  eachOf(seed['oauth-tokens'], (token) =>
    writeConnection(context, 'oauth_tokens', token, { client_name: token.name ?? null }),
  );
  eachOf(seed['vcs-app-installations'], (installation) =>
    writeConnection(context, 'vcs_app_installations', installation, {}),
  );
  writeSettings(context, seed);
  eachOf([{ name: DEFAULT_PROJECT }, ...(seed.projects ?? [])], (project) => writeProject(context, project));
  eachOf(seed.workspaces, (workspace) => applyWorkspace(context, workspace));
  eachOf(seed.teams, (team) => applyTeam(context, team));
  eachOf(seed.members, (username) => addMember(context, username));
  if (seed.token !== undefined) {
    const userId = ensureServiceAccount(database, `api-org-${seed.name}`, now);
    registerApiToken(database, seed.token, { userId, organizationId: context.organizationId }, now);
  }
}

function writeOrganization(database: Database, seed: OrganizationSeed, now: Date): string {
  const known = database.get<{ id: string }>('SELECT id FROM organizations WHERE name = :name', {
    name: seed.name,
  });
  if (known !== undefined) return known.id;
  const id = stableId('org', seed.name);
  database.insert('organizations', { id, name: seed.name, created_at: now.toISOString() });
  return id;
}

/** Only what the seed says; the rest stays as it is. */
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

function writeNamed(context: SeedContext, table: string, prefix: string, seed: NamedSeed): void {
  context.database.run(
    `INSERT INTO ${table} (id, organization_id, name, created_at) VALUES (:id, :organization, :name, :now)
     ON CONFLICT (organization_id, name) DO NOTHING`,
    {
      id: seed.id ?? stableId(prefix, context.organizationName, seed.name),
      organization: context.organizationId,
      name: seed.name,
      now: context.now.toISOString(),
    },
  );
}

function writeConnection(
  context: SeedContext,
  table: string,
  seed: VcsConnectionSeed,
  columns: Record<string, string | null>,
): void {
  const row = {
    id: seed.id,
    organization_id: context.organizationId,
    service_provider: seed['service-provider'] ?? 'github',
    http_url: (seed['http-url'] ?? 'https://github.com').replace(/\/+$/, ''),
    created_at: context.now.toISOString(),
    ...columns,
  };
  const known = context.database.get(`SELECT 1 FROM ${table} WHERE id = :id`, { id: seed.id });
  if (known === undefined) context.database.insert(table, row);
}

function writeProject(context: SeedContext, seed: ProjectSeed): void {
  const { database, organizationId, organizationName, now } = context;
  const known = database.get<{ id: string }>(
    'SELECT id FROM projects WHERE organization_id = :organization AND name = :name',
    { organization: organizationId, name: seed.name },
  );
  const id = known?.id ?? seed.id ?? stableId('prj', organizationName, seed.name);
  if (known === undefined) {
    database.insert('projects', {
      id,
      organization_id: organizationId,
      name: seed.name,
      is_default: Number(seed.name === DEFAULT_PROJECT),
      created_at: now.toISOString(),
    });
  }
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

function poolId(context: SeedContext, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  return context.database.get<{ id: string }>(
    'SELECT id FROM agent_pools WHERE organization_id = :organization AND name = :name',
    { organization: context.organizationId, name },
  )?.id;
}
