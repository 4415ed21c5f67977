/**
 * One workspace of a seed: created with the defaults of the API, and then with records that the API cannot create. It is created
 * once; later changes by requests are kept.
 */
import { stableId } from '../kernel/identifiers.ts';
import type { OrganizationRecord } from '../workspaces/access.ts';
import { addTags, normalTagName } from '../workspaces/flat-tags.ts';
import { replaceOutputs } from '../workspaces/state-outputs.ts';
import { makeCurrent } from '../workspaces/state-version-record.ts';
import { replaceTagBindings } from '../workspaces/tag-bindings.ts';
import { defaultSettings, findProject, type ProjectRecord } from '../workspaces/workspace-settings.ts';
import { insertWorkspace } from '../workspaces/workspaces.ts';
import type {
  AssessmentResultSeed,
  ConfigurationVersionSeed,
  OutputSeed,
  RunSeed,
  StateVersionSeed,
  VariableSeed,
  WorkspaceSeed,
} from './seed-schema.ts';
import { alreadyExists, givenColumns, SeedConflictError, type SeedContext, seededId } from './seeding.ts';

export function applyWorkspace(context: SeedContext, seed: WorkspaceSeed): void {
  const { database, organizationId, now } = context;
  const id = seededId(context, 'workspaces', seed.name);
  const thing = { table: 'workspaces', what: 'workspace', id, name: seed.name } as const;
  if (!context.recordIfNew('workspace', context.organizationName, id) || alreadyExists(context, thing))
    return;
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
  const organization = database.byId<OrganizationRecord>('organizations', organizationId);
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
  // no record of a workspace is older than the workspace
  insertWorkspace(database, { id, organizationId }, settings, creationTime(context, seed));
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

// The history of a seeded workspace: configuration versions, runs, state versions, variables, assessment results.
// Invariants: lists are in order, oldest first, a second apart and all in the past, so that all later records are newer; an id
// that the seed omits is derived from the workspace and the index in the list.

const SECOND_MS = 1000;

/** The time of the workspace's creation: no record of it is older. */
function creationTime(context: SeedContext, seed: WorkspaceSeed): Date {
  const lists = [
    runsOf(seed),
    stateVersionsOf(seed),
    seed['configuration-versions'] ?? [],
    seed['assessment-results'] ?? [],
  ];
  return before(context, Math.max(...lists.map((list) => list.length)));
}

function writeRecords(context: SeedContext, workspaceId: string, seed: WorkspaceSeed): void {
  const dated = <T>(list: readonly T[], write: (record: Placed<T>) => void): void => {
    for (const [index, record] of list.entries()) {
      write({ workspaceId, record, index, at: before(context, list.length - index).toISOString() });
    }
  };
  dated(seed['configuration-versions'] ?? [], (placed) => writeConfigurationVersion(context, placed));
  dated(runsOf(seed), (placed) => writeRun(context, placed));
  dated(stateVersionsOf(seed), (placed) => writeStateVersion(context, placed));
  dated(seed.vars ?? [], (placed) => writeVariable(context, placed));
  dated(seed['assessment-results'] ?? [], (placed) => writeAssessmentResult(context, placed));
  // The resource count in the seed replaces the one of the current state version.
  context.database.update(
    'workspaces',
    workspaceId,
    givenColumns({ resource_count: seed['resource-count'] }),
  );
}

/** A record with its index in the list and its time. */
interface Placed<T> {
  readonly workspaceId: string;
  readonly record: T;
  readonly index: number;
  readonly at: string;
}

function before({ now }: SeedContext, seconds: number): Date {
  return new Date(now.getTime() - seconds * SECOND_MS);
}

function runsOf(seed: WorkspaceSeed): readonly RunSeed[] {
  const runs = seed.runs ?? [];
  const holder = seed['locked-by-run'];
  if (holder === undefined || runs.some(({ id }) => id === holder)) return runs;
  return [...runs, { id: holder, status: 'planned' }];
}

/** All state versions of a workspace; the intermediate one is the last. */
export function stateVersionsOf(seed: WorkspaceSeed): readonly StateVersionSeed[] {
  const status = seed['intermediate-state-version'];
  const versions = seed['state-versions'] ?? [];
  return status === undefined ? versions : [...versions, { status, intermediate: true }];
}

/** The serial of the state version at this index of the list. */
export function serialAt({ serial }: StateVersionSeed, index: number): number {
  return serial ?? index + 1;
}

type RecordTable = 'runs' | 'state_versions' | 'configuration_versions' | 'variables' | 'assessment_results';

/** Writes one record. @throws SeedConflictError when another record has its id */
function write(
  context: SeedContext,
  table: RecordTable,
  row: { readonly id: string } & Record<string, string | number | null>,
): void {
  if (context.database.get(`SELECT 1 FROM ${table} WHERE id = :id`, { id: row.id }) !== undefined) {
    const what = WORDS[table];
    throw new SeedConflictError(
      `the seed's ${what} "${row.id}" cannot be added to organization "${context.organizationName}": another ${what} has its id; change one of the two ids`,
    );
  }
  context.database.insert(table, row);
}

/** Names for messages. */
const WORDS: Readonly<Record<RecordTable, string>> = {
  runs: 'run',
  state_versions: 'state version',
  configuration_versions: 'configuration version',
  variables: 'variable',
  assessment_results: 'assessment result',
};

function writeRun(context: SeedContext, { workspaceId, record, index, at }: Placed<RunSeed>): void {
  const id = record.id ?? stableId('run', workspaceId, String(index));
  write(context, 'runs', {
    id,
    workspace_id: workspaceId,
    status: record.status,
    plan_id: stableId('plan', id),
    apply_id: stableId('apply', id),
    plan_duration_ms: record['plan-duration'] ?? null,
    apply_duration_ms: record['apply-duration'] ?? null,
    failed_policy_check: Number(record['failed-policy-check'] ?? false),
    message: record.message ?? null,
    is_destroy: Number(record['is-destroy'] ?? false),
    plan_only: Number(record['plan-only'] ?? false),
    resource_additions: record['resource-additions'] ?? 0,
    resource_changes: record['resource-changes'] ?? 0,
    resource_destructions: record['resource-destructions'] ?? 0,
    configuration_version_id: record['configuration-version'] ?? null,
    created_at: at,
  });
}

function writeStateVersion(
  context: SeedContext,
  { workspaceId, record, index, at }: Placed<StateVersionSeed>,
): void {
  const id = record.id ?? stableId('sv', workspaceId, String(index));
  const count = record['resource-count'] ?? 0;
  const status = record.status ?? 'finalized';
  write(context, 'state_versions', {
    id,
    workspace_id: workspaceId,
    serial: serialAt(record, index),
    lineage: record.lineage ?? '',
    status,
    intermediate: Number(record.intermediate ?? false),
    resource_count: count,
    created_at: at,
  });
  replaceOutputs(context.database, id, (record.outputs ?? []).map(readOutput));
  if (status === 'finalized' && record.intermediate !== true) {
    makeCurrent(context.database, { id, workspace_id: workspaceId, resource_count: count });
  }
}

function readOutput({ name, value, sensitive }: OutputSeed) {
  const type = Array.isArray(value) ? 'list' : value !== null && typeof value === 'object' ? 'map' : 'string';
  const plain = typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'bool' : type;
  return { name, value: value ?? null, sensitive: sensitive ?? false, type: plain };
}

function writeConfigurationVersion(
  context: SeedContext,
  { workspaceId, record, index, at }: Placed<ConfigurationVersionSeed>,
): void {
  const id = record.id ?? stableId('cv', workspaceId, String(index));
  const ingress = record['ingress-attributes'];
  write(context, 'configuration_versions', {
    id,
    workspace_id: workspaceId,
    status: record.status ?? 'uploaded',
    source: record.source ?? 'api',
    speculative: Number(record.speculative ?? false),
    provisional: 0,
    auto_queue_runs: 1,
    error_message: record['error-message'] ?? null,
    ingress_id: ingress === undefined ? null : stableId('ia', id),
    ingress: ingress === undefined ? null : JSON.stringify(ingress),
    created_at: at,
  });
}

function writeVariable(context: SeedContext, { workspaceId, record, index, at }: Placed<VariableSeed>): void {
  write(context, 'variables', {
    id: record.id ?? stableId('var', workspaceId, String(index)),
    workspace_id: workspaceId,
    key: record.key,
    value: record.value ?? '',
    description: record.description ?? null,
    category: record.category ?? 'engine',
    hcl: Number(record.hcl ?? false),
    sensitive: Number(record.sensitive ?? false),
    created_at: at,
  });
}

function writeAssessmentResult(
  context: SeedContext,
  { workspaceId, record, index, at }: Placed<AssessmentResultSeed>,
): void {
  write(context, 'assessment_results', {
    id: record.id ?? stableId('asmtres', workspaceId, String(index)),
    workspace_id: workspaceId,
    drifted: Number(record.drifted ?? false),
    succeeded: Number(record.succeeded ?? true),
    error_message: record['error-message'] ?? null,
    created_at: at,
  });
}
