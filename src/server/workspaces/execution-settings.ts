/**
 * The settings of a workspace that do not depend on other settings (name, version, booleans, texts), and where its runs execute.
 * An absent attribute keeps its value, except assessments-enabled, which returns to its default.
 */
import { posix } from 'node:path';
import type { PointedProblem } from '../kernel/documents.ts';
import type { ExecutionMode, WorkspaceSettings } from './workspace-record.ts';
import type { WorkspaceRequest } from './workspace-request.ts';

const NAME = /^[A-Za-z0-9_-]+$/;

/** The settings that do not depend on other settings, after the request. */
export function resolvePlainSettings(
  current: WorkspaceSettings,
  request: WorkspaceRequest,
  {
    problems,
    takesAbsoluteDirectories,
  }: { readonly problems: PointedProblem[]; readonly takesAbsoluteDirectories: boolean },
): Partial<WorkspaceSettings> {
  checkName(request.name, problems);
  checkWorkingDirectory(request.workingDirectory, takesAbsoluteDirectories, problems);
  return {
    name: request.name ?? current.name,
    description: keepIfAbsent(request.description, current.description),
    working_directory: keepIfAbsent(request.workingDirectory, current.working_directory),
    engine_version: request.engineVersion ?? current.engine_version,
    assessments_enabled: Number(request.assessmentsEnabled ?? false),
    allow_destroy_plan: flag(request.allowDestroyPlan, current.allow_destroy_plan),
    auto_apply: flag(request.autoApply, current.auto_apply),
    auto_apply_run_trigger: flag(request.autoApplyRunTrigger, current.auto_apply_run_trigger),
    global_remote_state: flag(request.globalRemoteState, current.global_remote_state),
    project_remote_state: flag(request.projectRemoteState, current.project_remote_state),
    queue_all_runs: flag(request.queueAllRuns, current.queue_all_runs),
    speculative_enabled: flag(request.speculativeEnabled, current.speculative_enabled),
    structured_run_output_enabled: flag(
      request.structuredRunOutputEnabled,
      current.structured_run_output_enabled,
    ),
  };
}

/** The requested value, also if it is null; the current value if the attribute is absent. */
export function keepIfAbsent<T>(requested: T | undefined, current: T): T {
  return requested === undefined ? current : requested;
}

function flag(requested: boolean | undefined, current: number): number {
  return requested === undefined ? current : Number(requested);
}

function checkName(name: string | undefined, problems: PointedProblem[]): void {
  if (name !== undefined && !NAME.test(name)) {
    problems.push({
      detail: 'Name can only include letters, numbers, -, and _',
      pointer: '/data/attributes/name',
    });
  }
}

/** The working directory must be a directory of the repository, relative to its root. */
function checkWorkingDirectory(
  path: string | null | undefined,
  takesAbsoluteDirectories: boolean,
  problems: PointedProblem[],
): void {
  if (typeof path !== 'string') return;
  const leavesRepository =
    (posix.isAbsolute(path) && !takesAbsoluteDirectories) || /^\.\.(?:\/|$)/.test(posix.normalize(path));
  if (!leavesRepository) return;
  problems.push({
    detail: 'working-directory must be a relative path inside the repository',
    pointer: '/data/attributes/working-directory',
  });
}

// Where runs execute: execution mode, the deprecated `operations`, agent pool, and inheritance.
//
// execution-mode "agent"          own mode, and own pool unless setting-overwrites.agent-pool is false
// execution-mode null             inherit both
// setting-overwrites …: false     remove the own value and inherit, even if the request has a value
//
// Invariant: a workspace has its own pool only while its own mode is `agent`; the mode `agent` always has a pool.

/** The inherited mode and pool, and which pools exist. */
interface ExecutionContext {
  readonly inheritedMode: ExecutionMode;
  readonly inheritedPoolId: string | null;
  poolExists(id: string): boolean;
}

type ExecutionSettings = Pick<
  WorkspaceSettings,
  'execution_mode' | 'agent_pool_id' | 'agent_pool_overwritten'
>;

export function resolveExecution(
  current: WorkspaceSettings,
  request: WorkspaceRequest,
  context: ExecutionContext,
  problems: PointedProblem[],
): ExecutionSettings {
  checkModeConflicts(current, request, problems);
  const mode = ownMode(current, request);
  const overwritten = ownsPool(current, request, mode);
  const poolId = mode === 'agent' && overwritten ? requestedPool(current, request) : null;
  checkPool({ request, mode, overwritten, poolId, context }, problems);
  return { execution_mode: mode, agent_pool_id: poolId, agent_pool_overwritten: Number(overwritten) };
}

/** The workspace's own mode after the request; null when it inherits. */
function ownMode(current: WorkspaceSettings, request: WorkspaceRequest): ExecutionMode | null {
  if (request.settingOverwrites.executionMode === false) return null;
  if (request.executionMode !== undefined) return request.executionMode;
  if (request.operations !== undefined) return request.operations ? 'remote' : 'local';
  return current.execution_mode;
}

/** Whether the workspace's own pool (or none) is used instead of the inherited one; by default true for an explicit mode. */
function ownsPool(
  current: WorkspaceSettings,
  request: WorkspaceRequest,
  mode: ExecutionMode | null,
): boolean {
  if (mode === null) return false;
  const setsMode = typeof request.executionMode === 'string' || request.operations !== undefined;
  const givesPool = typeof request.agentPoolId === 'string';
  return (
    request.settingOverwrites.agentPool ?? (setsMode || givesPool || current.agent_pool_overwritten === 1)
  );
}

function requestedPool(current: WorkspaceSettings, request: WorkspaceRequest): string | null {
  return request.agentPoolId === undefined ? current.agent_pool_id : request.agentPoolId;
}

function checkModeConflicts(
  current: WorkspaceSettings,
  request: WorkspaceRequest,
  problems: PointedProblem[],
): void {
  if (request.operations !== undefined && request.executionMode !== undefined) {
    problems.push({
      detail: 'operations must not be given together with execution-mode',
      pointer: '/data/attributes/operations',
    });
  }
  const wantsOwnMode = request.settingOverwrites.executionMode === true;
  const hasOwnMode =
    request.executionMode !== undefined ||
    request.operations !== undefined ||
    current.execution_mode !== null;
  if (wantsOwnMode && (!hasOwnMode || request.executionMode === null)) {
    problems.push({
      detail: 'execution-mode must be given when setting-overwrites.execution-mode is true',
      pointer: '/data/attributes/execution-mode',
    });
  }
}

interface PoolChoice {
  readonly request: WorkspaceRequest;
  readonly mode: ExecutionMode | null;
  readonly overwritten: boolean;
  readonly poolId: string | null;
  readonly context: ExecutionContext;
}

function checkPool(choice: PoolChoice, problems: PointedProblem[]): void {
  const { request, mode, overwritten, poolId, context } = choice;
  const refuse = (detail: string): void => {
    problems.push({ detail, pointer: '/data/attributes/agent-pool-id' });
  };
  const given = request.agentPoolId;
  const effectiveMode = mode ?? context.inheritedMode;
  if (typeof given === 'string' && effectiveMode !== 'agent') {
    refuse(`agent-pool-id must not be given when execution-mode is ${effectiveMode}`);
  } else if (typeof given === 'string' && !context.poolExists(given)) {
    refuse(`The agent pool "${given}" does not belong to the organization`);
  } else if (mode === 'agent' && (overwritten ? poolId : context.inheritedPoolId) === null) {
    refuse('agent-pool-id is required when execution-mode is agent');
  }
}
