// One workspace of a seed: created with the API's defaults when missing, then given what the API cannot make.
// Invariant: what the seed does not mention keeps the value that requests gave it.

import { stableId } from '../identifiers.ts';
import type { OrganizationRecord } from '../workspaces/access.ts';
import { insertWorkspace } from '../workspaces/create.ts';
import { defaultSettings, findProject, type ProjectRecord } from '../workspaces/settle-workspace.ts';
import { replaceTagBindings } from '../workspaces/tag-bindings.ts';
import { normalTagName } from '../workspaces/tag-names.ts';
import { addTags } from '../workspaces/tags.ts';
import type { RunSeed, WorkspaceSeed } from './seed.ts';
import { givenColumns, type SeedContext } from './seed-context.ts';

export function applyWorkspace(context: SeedContext, seed: WorkspaceSeed): void {
  const { database, organizationId, now } = context;
  const id = findWorkspace(context, seed.name) ?? createWorkspace(context, seed);
  const run = seed['locked-by-run'];
  database.update(
    'workspaces',
    id,
    givenColumns({
      resource_count: seed['resource-count'],
      global_remote_state: seed['global-remote-state'],
      locked_by_type: run === undefined ? undefined : 'runs',
      locked_by_id: run,
    }),
  );
  const runs = seed.runs ?? [];
  for (const [index, each] of runs.entries())
    writeRun(context, id, { run: each, index, at: runTime(context, runs, index) });
  if (seed['intermediate-state-version'] !== undefined) {
    writeStateVersion(context, id, seed['intermediate-state-version']);
  }
  const names = (seed.tags ?? []).flatMap((name) => normalTagName(name) ?? []);
  addTags(database, { id, organization_id: organizationId }, names, now);
  if (seed['tag-bindings'] !== undefined) {
    const bindings = Object.entries(seed['tag-bindings']).map(([key, value]) => ({ key, value }));
    replaceTagBindings(database, { workspace_id: id }, bindings, now);
  }
}

function findWorkspace(context: SeedContext, name: string): string | undefined {
  return context.database.get<{ id: string }>(
    'SELECT id FROM workspaces WHERE organization_id = :organization AND name = :name',
    { organization: context.organizationId, name },
  )?.id;
}

function createWorkspace(context: SeedContext, seed: WorkspaceSeed): string {
  const { database, organizationId, organizationName } = context;
  const organization = database.get<OrganizationRecord>('SELECT * FROM organizations WHERE id = :id', {
    id: organizationId,
  });
  const project = seedProject(context, seed.project);
  if (organization === undefined || project === undefined) {
    throw new Error(`the seed's workspace ${seed.name} has no organization or project to be created in`);
  }
  const settings = {
    ...defaultSettings(organization, project),
    name: seed.name,
    source_name: seed['source-name'] ?? null,
  };
  const id = seed.id ?? stableId('ws', organizationName, seed.name);
  // no run is older than its workspace
  insertWorkspace(database, { id, organizationId }, settings, runTime(context, seed.runs ?? [], 0));
  return id;
}

function seedProject(context: SeedContext, name: string | undefined): ProjectRecord | undefined {
  const { database, organizationId } = context;
  if (name === undefined) return findProject(database, organizationId, undefined);
  return database.get<ProjectRecord>(
    'SELECT * FROM projects WHERE organization_id = :organization AND name = :name',
    { organization: organizationId, name },
  );
}

/** A second apart and all in the past: the last of the list is the newest, and whatever happens from now on is newer. */
function runTime(context: SeedContext, runs: readonly RunSeed[], index: number): Date {
  return new Date(context.now.getTime() - (runs.length - index) * 1000);
}

function writeRun(
  context: SeedContext,
  workspaceId: string,
  entry: { run: RunSeed; index: number; at: Date },
): void {
  const { run, index, at } = entry;
  context.database.run(
    `INSERT INTO runs
       (id, workspace_id, status, plan_duration_ms, apply_duration_ms, failed_policy_check, created_at)
     VALUES (:id, :workspace, :status, :plan, :apply, :failed, :created_at)
     ON CONFLICT (id) DO UPDATE SET status = excluded.status, plan_duration_ms = excluded.plan_duration_ms,
       apply_duration_ms = excluded.apply_duration_ms, failed_policy_check = excluded.failed_policy_check`,
    {
      id: run.id ?? stableId('run', workspaceId, String(index)),
      workspace: workspaceId,
      status: run.status,
      plan: run['plan-duration'] ?? null,
      apply: run['apply-duration'] ?? null,
      failed: Number(run['failed-policy-check'] ?? false),
      created_at: at.toISOString(),
    },
  );
}

function writeStateVersion(context: SeedContext, workspaceId: string, status: string): void {
  context.database.run(
    `INSERT INTO state_versions (id, workspace_id, serial, status, intermediate, created_at)
     VALUES (:id, :workspace, 1, :status, 1, :now)
     ON CONFLICT (id) DO UPDATE SET status = excluded.status, intermediate = 1`,
    {
      id: stableId('sv', workspaceId),
      workspace: workspaceId,
      status,
      now: context.now.toISOString(),
    },
  );
}
