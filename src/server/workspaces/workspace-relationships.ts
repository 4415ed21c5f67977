/**
 * The relationships of a workspace document. A link is shown only if the caller can follow it; a record that the caller may not
 * read is shown as if it did not exist.
 */
import type { Database } from '../kernel/database.ts';
import { type Identifier, type Relationship, type Resource, related } from '../kernel/documents.ts';
import { type AssessmentResultRow, currentAssessmentResults } from './assessment-results.ts';
import type { Permission, WorkspacePermissions } from './permissions.ts';
import { type OutputRow, outputsOf } from './state-outputs.ts';
import { type VariableRow, variablesOf } from './variables.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

/** Records that refer to a workspace, while its row does not contain their ids. They are read once for a whole page. */
export interface LinkedRecords {
  /** By workspace id. */
  readonly assessments: ReadonlyMap<string, AssessmentResultRow>;
  /** By workspace id. */
  readonly variables: ReadonlyMap<string, readonly VariableRow[]>;
  /** By the id of the current state version. */
  readonly outputs: ReadonlyMap<string, readonly OutputRow[]>;
}

export function linkedRecords(database: Database, records: readonly WorkspaceRecord[]): LinkedRecords {
  const ids = records.map((record) => record.id);
  return {
    assessments: currentAssessmentResults(database, ids),
    variables: variablesOf(database, ids),
    outputs: outputsOf(
      database,
      records.flatMap((record) => record.current_state_version_id ?? []),
    ),
  };
}

/** `permissions` are the caller's on this workspace. */
export function relationshipsOf(
  record: WorkspaceRecord,
  linked: LinkedRecords,
  permissions: WorkspacePermissions | undefined,
): Record<string, Relationship> {
  const path = `/api/v2/workspaces/${record.id}`;
  const may = (permission: Permission): boolean => permissions?.[permission] === true;
  return {
    organization: related('organizations', record.organization_name),
    project: related('projects', record.project_id),
    'agent-pool': related('agent-pools', record.effective_agent_pool_id),
    'ssh-key': related('ssh-keys', record.ssh_key_id),
    'locked-by': related(record.locked_by_type ?? 'users', record.locked_by_id),
    'current-run': related('runs', record.current_run_id),
    'latest-run': related('runs', record.current_run_id),
    'current-configuration-version': related(
      'configuration-versions',
      record.current_configuration_version_id,
    ),
    ...stateRelationships(record, linked, may),
    'current-assessment-result': may('can-read-assessment-results')
      ? related('assessment-results', linked.assessments.get(record.id)?.id ?? null)
      : { data: null },
    readme: { data: identifier('workspace-readme', readmeId(record)) },
    vars: may('can-read-variable')
      ? listed('vars', linked.variables.get(record.id) ?? [], `${path}/vars`)
      : { data: [] },
    'remote-state-consumers': { links: { related: `${path}/relationships/remote-state-consumers` } },
    'tag-bindings': { links: { related: `${path}/tag-bindings` } },
    'effective-tag-bindings': { links: { related: `${path}/effective-tag-bindings` } },
    ...retentionPolicy(record, path),
  };
}

function stateRelationships(
  record: WorkspaceRecord,
  linked: LinkedRecords,
  may: (permission: Permission) => boolean,
): Record<string, Relationship> {
  const path = `/api/v2/workspaces/${record.id}`;
  const id = record.current_state_version_id;
  return {
    'current-state-version':
      id !== null && may('can-read-state-versions')
        ? { data: { id, type: 'state-versions' }, links: { related: `${path}/current-state-version` } }
        : { data: null },
    outputs: may('can-read-state-outputs')
      ? listed(
          'workspace-outputs',
          linked.outputs.get(id ?? '') ?? [],
          `${path}/current-state-version-outputs`,
        )
      : { data: [] },
  };
}

/** The relationship to the policy; absent, not null, if no policy is set (wire/workspaces 1.5.10). */
function retentionPolicy(record: WorkspaceRecord, path: string): Record<string, Relationship> {
  if (record.retention_policy_id === null || record.retention_policy_type === null) return {};
  return {
    'data-retention-policy': {
      data: { id: record.retention_policy_id, type: record.retention_policy_type },
      links: { related: `${path}/relationships/data-retention-policy` },
    },
  };
}

function listed(type: string, rows: readonly { readonly id: string }[], path: string): Relationship {
  const data = rows.map(({ id }) => ({ id, type }));
  return data.length === 0 ? { data } : { data, links: { related: path } };
}

function identifier(type: string, id: string | null): Identifier | null {
  return id === null ? null : { id, type };
}

// The README of a workspace's configuration, as the API shows it. It comes from the seed, because archives are not read here.

/** A workspace has at most one README, so the id is derived from the workspace's. */
function readmeId(record: Pick<WorkspaceRecord, 'id' | 'readme'>): string | null {
  return record.readme === null ? null : `readme-${record.id}`;
}

export function readmeResource(record: Pick<WorkspaceRecord, 'id' | 'readme'>): Resource[] {
  const id = readmeId(record);
  if (id === null) return [];
  return [{ id, type: 'workspace-readme', attributes: { 'raw-markdown': record.readme } }];
}
