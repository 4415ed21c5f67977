/**
 * One workspace of a seed: created with the API's defaults, then given what the API cannot make.
 * Invariant: it is made once and whole; renamed, changed or deleted by requests, it stays what they made of it.
 */
import { stableId } from '../identifiers.ts';
import type { OrganizationRecord } from '../workspaces/access.ts';
import { insertWorkspace } from '../workspaces/create.ts';
import { defaultSettings, findProject, type ProjectRecord } from '../workspaces/settings/settle-workspace.ts';
import { replaceTagBindings } from '../workspaces/tags/tag-bindings.ts';
import { normalTagName } from '../workspaces/tags/tag-names.ts';
import { addTags } from '../workspaces/tags/tags.ts';
import type { RunSeed, WorkspaceSeed } from './seed.ts';
import { givenColumns, type SeedContext, seededId } from './seed-context.ts';
import { isThere, SeedConflictError } from './seeding.ts';

export function applyWorkspace(context: SeedContext, seed: WorkspaceSeed): void {
  const { database, organizationId, now } = context;
  const id = seededId(context, 'workspaces', seed.name);
  const thing = { table: 'workspaces', what: 'workspace', id, name: seed.name } as const;
  if (!context.isNew('workspace', context.organizationName, id) || isThere(context, thing)) return;
  createWorkspace(context, id, seed);
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

function createWorkspace(context: SeedContext, id: string, seed: WorkspaceSeed): void {
  const { database, organizationId } = context;
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
  // no run is older than its workspace
  insertWorkspace(database, { id, organizationId }, settings, runTime(context, seed.runs ?? [], 0));
}

function seedProject(context: SeedContext, name: string | undefined): ProjectRecord | undefined {
  const { database, organizationId } = context;
  if (name === undefined) return findProject(database, organizationId, undefined);
  return database.get<ProjectRecord>(
    `SELECT * FROM projects WHERE organization_id = :organization AND (id = :id OR name = :name)
     ORDER BY id = :id DESC LIMIT 1`,
    { organization: organizationId, id: seededId(context, 'projects', name), name },
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
  const id = run.id ?? stableId('run', workspaceId, String(index));
  if (context.database.get('SELECT 1 FROM runs WHERE id = :id', { id }) !== undefined) {
    throw new SeedConflictError(
      `the seed's run "${id}" cannot be added to organization "${context.organizationName}": another run has its id; give one of the two another`,
    );
  }
  context.database.run(
    `INSERT INTO runs
       (id, workspace_id, status, plan_duration_ms, apply_duration_ms, failed_policy_check, created_at)
     VALUES (:id, :workspace, :status, :plan, :apply, :failed, :created_at)`,
    {
      id,
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
     VALUES (:id, :workspace, 1, :status, 1, :now)`,
    {
      id: stableId('sv', workspaceId),
      workspace: workspaceId,
      status,
      now: context.now.toISOString(),
    },
  );
}
