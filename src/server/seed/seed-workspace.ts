/**
 * One workspace of a seed: created with the API's defaults, then given what the API cannot make.
 * Invariant: it is made once and whole; renamed, changed or deleted by requests, it stays what they made of it.
 */
import type { OrganizationRecord } from '../workspaces/access.ts';
import { insertWorkspace } from '../workspaces/create.ts';
import { defaultSettings, findProject, type ProjectRecord } from '../workspaces/settings/settle-workspace.ts';
import { replaceTagBindings } from '../workspaces/tags/tag-bindings.ts';
import { normalTagName } from '../workspaces/tags/tag-names.ts';
import { addTags } from '../workspaces/tags/tags.ts';
import type { WorkspaceSeed } from './seed.ts';
import { givenColumns, type SeedContext, seededId } from './seed-context.ts';
import { beginning, writeRecords } from './seed-workspace-records.ts';
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
      readme: seed.readme,
      auto_destroy_status: seed['auto-destroy-status'],
    }),
  );
  writeRecords(context, id, seed);
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
    throw new SeedConflictError(
      `the seed's workspace "${seed.name}" cannot be added to organization "${context.organizationName}": its project was deleted since; name another one, or take it out of the seed`,
    );
  }
  const settings = {
    ...defaultSettings(database, organization, project),
    name: seed.name,
    source_name: seed['source-name'] ?? null,
  };
  // nothing of a workspace is older than itself
  insertWorkspace(database, { id, organizationId }, settings, beginning(context, seed));
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
