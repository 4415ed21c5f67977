/**
 * A workspace as the API shows it.
 * Invariant: create, update, show, list, lock and consumers all answer this same document for the same workspace and
 * caller; clients compare them.
 */
import type { Caller } from '../../identity/caller.ts';
import { type WorkspacePermissions, workspacePermissions } from '../../identity/workspace-permissions.ts';
import type { Identifier, Relationship, Resource } from '../../json-api/document.ts';
import type { Services } from '../../services.ts';
import { autoDestroyAttributes } from '../settings/auto-destroy.ts';
import { NO_RUNS, type RunStatistics, runStatistics } from './run-statistics.ts';
import { tagNamesOf } from '../tags/tags.ts';
import { vcsRepoOf, type WorkspaceRecord } from './workspace-record.ts';

/** What a document needs beside its own record; read once for a whole page. */
interface DocumentContext {
  readonly origin: string;
  readonly permissions: ReadonlyMap<string, WorkspacePermissions>;
  readonly tagNames: ReadonlyMap<string, string[]>;
  readonly statistics: ReadonlyMap<string, RunStatistics>;
}

/** The documents of these workspaces for this caller, in a fixed number of queries. `origin` is `http://host:port`. */
export function workspaceResources(
  services: Services,
  context: { readonly caller: Caller; readonly origin: string },
  records: readonly WorkspaceRecord[],
): Resource[] {
  const { database } = services;
  const ids = records.map((record) => record.id);
  const surroundings = {
    origin: context.origin,
    permissions: workspacePermissions(database, context.caller, records),
    tagNames: tagNamesOf(database, ids),
    statistics: runStatistics(database, ids),
  };
  return records.map((record) => ({
    id: record.id,
    type: 'workspaces',
    attributes: attributesOf(record, surroundings),
    relationships: relationshipsOf(record),
    links: {
      self: `/api/v2/organizations/${record.organization_name}/workspaces/${record.name}`,
      'self-html': `/app/${record.organization_name}/workspaces/${record.name}`,
    },
  }));
}

function attributesOf(record: WorkspaceRecord, surroundings: DocumentContext): Record<string, unknown> {
  return {
    name: record.name,
    description: record.description,
    'created-at': record.created_at,
    'updated-at': record.updated_at,
    'latest-change-at': record.latest_change_at,
    environment: 'default',
    source: 'api',
    'source-name': record.source_name,
    'source-url': record.source_url,
    ...executionAttributes(record),
    ...switchAttributes(record),
    ...vcsAttributes(record, surroundings.origin),
    ...autoDestroyAttributes(record),
    ...(surroundings.statistics.get(record.id) ?? NO_RUNS),
    actions: { 'is-destroyable': record.allow_destroy_plan === 1 },
    'last-assessment-result-at': null,
    locked: record.locked_by_id !== null,
    'locked-reason': record.locked_reason,
    'resource-count': record.resource_count,
    'tag-names': surroundings.tagNames.get(record.id) ?? [],
    'working-directory': record.working_directory,
    permissions: surroundings.permissions.get(record.id),
  };
}

function executionAttributes(record: WorkspaceRecord): Record<string, unknown> {
  return {
    'engine-version': record.engine_version,
    'execution-mode': record.effective_execution_mode,
    operations: record.effective_execution_mode !== 'local',
    'setting-overwrites': {
      'execution-mode': record.execution_mode !== null,
      'agent-pool': record.agent_pool_overwritten === 1,
    },
  };
}

function switchAttributes(record: WorkspaceRecord): Record<string, boolean> {
  return {
    'allow-destroy-plan': record.allow_destroy_plan === 1,
    'assessments-enabled': record.assessments_enabled === 1 || record.assessments_enforced === 1,
    'auto-apply': record.auto_apply === 1,
    'auto-apply-run-trigger': record.auto_apply_run_trigger === 1,
    'file-triggers-enabled': record.file_triggers_enabled === 1,
    'global-remote-state': record.global_remote_state === 1,
    'queue-all-runs': record.queue_all_runs === 1,
    'speculative-enabled': record.speculative_enabled === 1,
    'structured-run-output-enabled': record.structured_run_output_enabled === 1,
  };
}

function vcsAttributes(record: WorkspaceRecord, origin: string): Record<string, unknown> {
  const repo = vcsRepoOf(record);
  return {
    'trigger-prefixes': JSON.parse(record.trigger_prefixes),
    'trigger-patterns': JSON.parse(record.trigger_patterns),
    'oauth-client-name': record.vcs_client_name,
    'vcs-repo-identifier': repo?.identifier ?? null,
    'vcs-repo': repo && {
      branch: repo.branch,
      'display-identifier': repo.identifier,
      identifier: repo.identifier,
      'ingress-submodules': repo.ingressSubmodules,
      'oauth-token-id': repo.oauthTokenId,
      'repository-http-url': `${record.vcs_http_url ?? ''}/${repo.identifier}`,
      'service-provider': record.vcs_service_provider,
      'tags-regex': repo.tagsRegex,
      'webhook-url': `${origin}/webhooks/vcs/${record.id}`,
      // Not in the spec's table of responses: without it, nobody could see the drift of a value that updates set.
      ...(repo.appInstallationId === null ? {} : { 'vcs-app-installation-id': repo.appInstallationId }),
    },
  };
}

function relationshipsOf(record: WorkspaceRecord): Record<string, Relationship> {
  const path = `/api/v2/workspaces/${record.id}`;
  const currentRun = { data: identifier('runs', record.current_run_id) };
  const policy =
    record.retention_policy_id === null || record.retention_policy_type === null
      ? {}
      : {
          'data-retention-policy': {
            data: { id: record.retention_policy_id, type: record.retention_policy_type },
            links: { related: `${path}/relationships/data-retention-policy` },
          },
        };
  return {
    organization: {
      data: { id: record.organization_name, type: 'organizations' },
      links: { related: `/api/v2/organizations/${record.organization_name}` },
    },
    project: {
      data: { id: record.project_id, type: 'projects' },
      links: { related: `/api/v2/projects/${record.project_id}` },
    },
    'agent-pool': { data: identifier('agent-pools', record.effective_agent_pool_id) },
    'ssh-key': { data: identifier('ssh-keys', record.ssh_key_id) },
    'locked-by': { data: identifier(record.locked_by_type ?? 'users', record.locked_by_id) },
    'current-run': currentRun,
    'latest-run': currentRun,
    'current-configuration-version': { data: null },
    'current-state-version': { data: identifier('state-versions', record.current_state_version_id) },
    'current-assessment-result': { data: null },
    readme: { data: null },
    outputs: { data: [] },
    vars: { data: [] },
    'remote-state-consumers': { links: { related: `${path}/relationships/remote-state-consumers` } },
    'tag-bindings': { links: { related: `${path}/tag-bindings` } },
    'effective-tag-bindings': { links: { related: `${path}/effective-tag-bindings` } },
    ...policy,
  };
}

function identifier(type: string, id: string | null): Identifier | null {
  return id === null ? null : { id, type };
}
