/**
 * The settings of a workspace after a create or an update: the one place that applies all rules.
 * Invariant: nothing is written here; the result is consistent, or one error names every problem.
 */
import type { Database } from '../kernel/database.ts';
import type { WorkspacesDialect } from '../kernel/workspaces-dialects.ts';
import { invalid, type PointedProblem } from '../kernel/documents.ts';
import type { OrganizationRecord } from './access.ts';
import { compareVersions, engineVersionProblem, latestRelease, releaseForRuns } from './engine-releases.ts';
import { resolveAutoDestroy } from './auto-destroy.ts';
import { resolveExecution, resolvePlainSettings } from './execution-settings.ts';
import { resolveVcs } from './vcs-settings.ts';
import { problemInWireNames, type WorkspaceRequest } from './workspace-request.ts';
import type { ExecutionMode, WorkspaceSettings } from './workspace-record.ts';

export interface ProjectRecord {
  id: string;
  organization_id: string;
  name: string;
  default_execution_mode: ExecutionMode | null;
  default_agent_pool_id: string | null;
  auto_destroy_activity_duration: string | null;
}

/** The project with this id, or the default one without an id; undefined when the organization has no such project. */
export function findProject(
  database: Database,
  organizationId: string,
  projectId: string | undefined,
): ProjectRecord | undefined {
  return database.get<ProjectRecord>(
    `SELECT * FROM projects WHERE organization_id = :organization
     AND CASE WHEN :id IS NULL THEN is_default = 1 ELSE id = :id END`,
    { organization: organizationId, id: projectId ?? null },
  );
}

/** The settings of a new workspace: the column "Default on create" of the spec. */
export function defaultSettings(
  database: Database,
  organization: OrganizationRecord,
  project: ProjectRecord,
): WorkspaceSettings {
  return {
    project_id: project.id,
    name: '',
    description: null,
    execution_mode: null,
    agent_pool_id: null,
    agent_pool_overwritten: 0,
    allow_destroy_plan: 1,
    assessments_enabled: 0,
    auto_apply: 0,
    auto_apply_run_trigger: 0,
    auto_destroy_at: null,
    auto_destroy_activity_duration: null,
    inherits_project_auto_destroy: 1,
    engine_version: latestRelease(database),
    file_triggers_enabled: 1,
    global_remote_state: organization.global_remote_state_default,
    project_remote_state: 0,
    queue_all_runs: 0,
    source_name: null,
    source_url: null,
    speculative_enabled: 1,
    structured_run_output_enabled: 1,
    trigger_patterns: '[]',
    trigger_prefixes: '[]',
    vcs_repo: null,
    working_directory: null,
  };
}

interface SettingsContext {
  readonly database: Database;
  readonly dialect: WorkspacesDialect;
  readonly organization: OrganizationRecord;
  readonly project: ProjectRecord;
  readonly current: WorkspaceSettings;
  readonly request: WorkspaceRequest;
  readonly creating: boolean;
}

/**
 * The settings after the request, with the project already decided. `problems` are those found while reading the body.
 * @throws ApiError 422 with every problem.
 */
export function resolveWorkspaceSettings(
  context: SettingsContext,
  problems: PointedProblem[],
): WorkspaceSettings {
  const { database, dialect, organization, project, current, request } = context;
  const belongs = (table: string) => (id: string) => belongsTo(database, table, organization.id, id);
  const settings: WorkspaceSettings = {
    ...current,
    project_id: project.id,
    ...resolvePlainSettings(current, request, {
      problems,
      takesAbsoluteDirectories: dialect.takesAbsoluteDirectories,
    }),
    ...resolveExecution(
      current,
      request,
      {
        inheritedMode: project.default_execution_mode ?? organization.default_execution_mode,
        inheritedPoolId: project.default_agent_pool_id ?? organization.default_agent_pool_id,
        poolExists: belongs('agent_pools'),
      },
      problems,
    ),
    ...resolveVcs(
      current,
      request,
      {
        patternsNeedFileTriggers: dialect.patternsNeedFileTriggers,
        takesAppInstallation: !context.creating || dialect.takesAppInstallationOnCreate,
        oauthTokenExists: belongs('oauth_tokens'),
        appInstallationExists: belongs('vcs_app_installations'),
      },
      problems,
    ),
    ...resolveAutoDestroy(
      current,
      request,
      {
        projectDuration: project.auto_destroy_activity_duration,
        dateEndsDuration: dialect.dateEndsDuration,
      },
      problems,
    ),
  };
  checkEngine(context, problems);
  checkAssessments(context, settings, problems);
  checkNameIsFree(context, settings.name, problems);
  checkSharing(settings, problems);
  if (problems.length > 0) throw invalid(problems.map((problem) => problemInWireNames(problem, dialect)));
  return settings;
}

function belongsTo(database: Database, table: string, organizationId: string, id: string): boolean {
  return (
    database.get(`SELECT 1 FROM ${table} WHERE id = :id AND organization_id = :organization`, {
      id,
      organization: organizationId,
    }) !== undefined
  );
}

function checkEngine({ database, dialect, request }: SettingsContext, problems: PointedProblem[]): void {
  if (request.engineVersion === undefined) return;
  const detail = engineVersionProblem(database, dialect, request.engineVersion);
  if (detail !== undefined) problems.push({ detail, pointer: '/data/attributes/engine-version' });
}

const OLDEST_ASSESSED_ENGINE = '0.15.4';

/** If the organization enforces assessments, the workspace's own setting has no effect and is not checked. */
function checkAssessments(
  { database, dialect, organization, project, request }: SettingsContext,
  settings: WorkspaceSettings,
  problems: PointedProblem[],
): void {
  if (request.assessmentsEnabled !== true || organization.assessments_enforced === 1) return;
  const refuse = (detail: string): void => {
    problems.push({ detail, pointer: '/data/attributes/assessments-enabled' });
  };
  const mode =
    settings.execution_mode ?? project.default_execution_mode ?? organization.default_execution_mode;
  if (mode !== 'remote' && !(mode === 'agent' && dialect.assessesAgents)) {
    refuse(`assessments-enabled needs the execution mode remote, and the workspace's is ${mode}`);
  }
  const engine = releaseForRuns(database, settings.engine_version);
  if (compareVersions(engine, OLDEST_ASSESSED_ENGINE) < 0) {
    refuse(
      `assessments-enabled needs engine ${OLDEST_ASSESSED_ENGINE} or newer, and the workspace's is ${engine}`,
    );
  }
}

/** Clients recognize this error by its text. */
function checkSharing(settings: WorkspaceSettings, problems: PointedProblem[]): void {
  if (settings.project_remote_state === 0 || settings.global_remote_state === 0) return;
  problems.push({
    detail: 'Project remote state cannot be enabled when global remote state sharing is enabled',
    pointer: '/data/attributes/project-remote-state',
  });
}

function checkNameIsFree(context: SettingsContext, name: string, problems: PointedProblem[]): void {
  if (name === context.current.name) return;
  const taken = context.database.get(
    'SELECT 1 FROM workspaces WHERE organization_id = :organization AND name = :name',
    { organization: context.organization.id, name },
  );
  if (taken !== undefined) {
    problems.push({ detail: 'Name has already been taken', pointer: '/data/attributes/name' });
  }
}
