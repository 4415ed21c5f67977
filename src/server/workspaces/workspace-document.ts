/**
 * A workspace as the API shows it. Create, update, show, list, lock and consumers return the same document for the same
 * workspace and caller.
 */
import type { Database } from '../kernel/database.ts';
import type { Relationship, Resource } from '../kernel/documents.ts';
import type { ApiRequest } from '../kernel/endpoint.ts';
import type { EditionFeatures, WorkspacesDialect } from '../kernel/workspaces-dialects.ts';
import { autoDestroyAttributes } from './auto-destroy.ts';
import { tagNamesOf } from './flat-tags.ts';
import { type WorkspacePermissions, workspacePermissions } from './permissions.ts';
import { webhookUrl } from './vcs-webhooks.ts';
import { vcsRepoOf, type WorkspaceRecord } from './workspace-record.ts';
import { type LinkedRecords, linkedRecords, relationshipsOf } from './workspace-relationships.ts';
import { inWireNames } from './workspace-request.ts';

/** What a document needs besides its own record; read once for a whole page. */
interface DocumentContext {
  readonly edition: EditionFeatures;
  readonly dialect: WorkspacesDialect;
  readonly permissions: ReadonlyMap<string, WorkspacePermissions>;
  readonly tagNames: ReadonlyMap<string, string[]>;
  readonly statistics: ReadonlyMap<string, RunStatistics>;
  readonly linked: LinkedRecords;
  webhookUrl(workspaceId: string): string;
}

/** The documents of these workspaces for this caller, in a fixed number of queries. `origin` is `http://host:port`. */
export function workspaceResources(
  { services, caller, origin }: Pick<ApiRequest, 'services' | 'caller' | 'origin'>,
  records: readonly WorkspaceRecord[],
): Resource[] {
  const { database } = services;
  const ids = records.map((record) => record.id);
  const permissions = workspacePermissions(database, caller, records);
  const context: DocumentContext = {
    edition: services.edition,
    dialect: services.dialects.workspaces,
    permissions,
    tagNames: tagNamesOf(database, ids),
    statistics: runStatistics(database, ids),
    linked: linkedRecords(database, records),
    webhookUrl: (id) => {
      const mayQueueRuns = permissions.get(id)?.['can-queue-run'] === true;
      return webhookUrl(database, origin, { id, mayQueueRuns });
    },
  };
  return records.map(withinEdition(services.edition)).map((record) => ({
    id: record.id,
    type: 'workspaces',
    attributes: inWireNames(attributesOf(record, context), context.dialect),
    relationships: withoutUnset(
      relationshipsOf(record, context.linked, context.permissions.get(record.id)),
      context.dialect,
    ),
    links: {
      self: `/api/v2/organizations/${record.organization_name}/workspaces/${record.name}`,
      'self-html': `/app/${record.organization_name}/workspaces/${record.name}`,
    },
  }));
}

/** A record without the values of features that the edition lacks; the data file may contain them. */
function withinEdition(edition: EditionFeatures): (record: WorkspaceRecord) => WorkspaceRecord {
  const lacking = edition.dataRetentionPolicies
    ? {}
    : { retention_policy_id: null, retention_policy_type: null };
  return (record) => ({ ...record, ...lacking });
}

/** Removes the relationships that the dialect leaves out while they are null. */
function withoutUnset(
  relationships: Readonly<Record<string, Relationship>>,
  { absentWhileUnset }: WorkspacesDialect,
): Record<string, Relationship> {
  return Object.fromEntries(
    Object.entries(relationships).filter(
      ([name, { data }]) => data !== null || !absentWhileUnset.includes(name),
    ),
  );
}

function attributesOf(record: WorkspaceRecord, context: DocumentContext): Record<string, unknown> {
  return {
    name: record.name,
    description: record.description,
    'created-at': record.created_at,
    'updated-at': record.updated_at,
    'latest-change-at': record.latest_change_at,
    environment: 'default',
    source: context.dialect.source,
    'source-name': record.source_name,
    'source-url': record.source_url,
    ...executionAttributes(record),
    ...switchAttributes(record),
    ...(context.edition.assessments ? assessmentAttributes(record) : {}),
    ...(context.dialect.sharesWithProject
      ? { 'project-remote-state': record.project_remote_state === 1 }
      : {}),
    ...vcsAttributes(record, context),
    ...autoDestroyAttributes(record),
    ...(context.statistics.get(record.id) ?? NO_RUNS),
    actions: { 'is-destroyable': record.allow_destroy_plan === 1 },
    'last-assessment-result-at': lastAssessedAt(record, context),
    locked: record.locked_by_id !== null,
    'locked-reason': record.locked_reason,
    'resource-count': record.resource_count,
    'tag-names': context.tagNames.get(record.id) ?? [],
    'working-directory': record.working_directory,
    permissions: context.permissions.get(record.id),
  };
}

/** The time of the current assessment result; null if there is none, or if the caller may not read it. */
function lastAssessedAt({ id }: WorkspaceRecord, { linked, permissions }: DocumentContext): string | null {
  if (permissions.get(id)?.['can-read-assessment-results'] !== true) return null;
  return linked.assessments.get(id)?.created_at ?? null;
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
    'auto-apply': record.auto_apply === 1,
    'auto-apply-run-trigger': record.auto_apply_run_trigger === 1,
    'file-triggers-enabled': record.file_triggers_enabled === 1,
    'global-remote-state': record.global_remote_state === 1,
    'queue-all-runs': record.queue_all_runs === 1,
    'speculative-enabled': record.speculative_enabled === 1,
    'structured-run-output-enabled': record.structured_run_output_enabled === 1,
  };
}

function assessmentAttributes(record: WorkspaceRecord): Record<string, boolean> {
  return { 'assessments-enabled': record.assessments_enabled === 1 || record.assessments_enforced === 1 };
}

function vcsAttributes(
  record: WorkspaceRecord,
  { dialect, webhookUrl }: DocumentContext,
): Record<string, unknown> {
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
      'webhook-url': webhookUrl(record.id),
      // Not in the spec's table of responses: without it, clients could not detect drift of a value that updates can set.
      ...(repo.appInstallationId === null
        ? {}
        : inWireNames({ 'vcs-app-installation-id': repo.appInstallationId }, dialect)),
    },
  };
}

// The performance attributes of workspaces.
// Invariant: they cover the last 30 runs that were applied or errored, and are null without such a run.

interface RunStatistics {
  readonly 'apply-duration-average': number | null;
  readonly 'plan-duration-average': number | null;
  readonly 'policy-check-failures': number | null;
  readonly 'run-failures': number | null;
  readonly 'workspace-kpis-runs-count': number | null;
}

const NO_RUNS: RunStatistics = {
  'apply-duration-average': null,
  'plan-duration-average': null,
  'policy-check-failures': null,
  'run-failures': null,
  'workspace-kpis-runs-count': null,
};

interface StatisticsRow {
  workspace_id: string;
  apply_average: number | null;
  plan_average: number | null;
  policy_failures: number;
  failures: number;
  runs: number;
}

const COUNTED_RUNS = 30;

/** The statistics by workspace id, without workspaces that have no counted run. Durations are in milliseconds. */
function runStatistics(database: Database, workspaceIds: readonly string[]): Map<string, RunStatistics> {
  const rows = database.all<StatisticsRow>(
    `SELECT workspace_id,
       CAST(ROUND(AVG(apply_duration_ms)) AS INTEGER) AS apply_average,
       CAST(ROUND(AVG(plan_duration_ms)) AS INTEGER) AS plan_average,
       SUM(failed_policy_check) AS policy_failures, SUM(status = 'errored') AS failures, COUNT(*) AS runs
     FROM (SELECT r.*, ROW_NUMBER() OVER (PARTITION BY workspace_id ORDER BY created_at DESC, id DESC) AS age
           FROM runs r
           WHERE workspace_id IN (SELECT value FROM json_each(:ids)) AND status IN ('applied', 'errored'))
     WHERE age <= ${COUNTED_RUNS} GROUP BY workspace_id`,
    { ids: JSON.stringify(workspaceIds) },
  );
  return new Map(
    rows.map((row) => [
      row.workspace_id,
      {
        'apply-duration-average': row.apply_average,
        'plan-duration-average': row.plan_average,
        'policy-check-failures': row.policy_failures,
        'run-failures': row.failures,
        'workspace-kpis-runs-count': row.runs,
      },
    ]),
  );
}
