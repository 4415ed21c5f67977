/**
 * Where runs execute: execution mode, the deprecated `operations`, agent pool, and what is inherited.
 *
 * execution-mode "agent"          own mode, and own pool unless setting-overwrites.agent-pool is false
 * execution-mode null             inherit both
 * setting-overwrites …: false     drop the own value and inherit, even beside a literal value
 *
 * Invariant: a workspace keeps a pool of its own only while its own mode is `agent`; a mode of `agent` always has a pool.
 */
import type { PointedProblem } from '../../json-api/errors.ts';
import type { ExecutionMode, WorkspaceSettings } from '../document/workspace-record.ts';
import type { WorkspaceRequest } from '../document/workspace-request.ts';

/** What the organization and the project say, and which pools exist. */
interface ExecutionSurroundings {
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
  surroundings: ExecutionSurroundings,
  problems: PointedProblem[],
): ExecutionSettings {
  checkTogether(current, request, problems);
  const mode = ownMode(current, request);
  const overwritten = ownsPool(current, request, mode);
  const poolId = mode === 'agent' && overwritten ? requestedPool(current, request) : null;
  checkPool({ request, mode, overwritten, poolId, surroundings }, problems);
  return { execution_mode: mode, agent_pool_id: poolId, agent_pool_overwritten: Number(overwritten) };
}

/** The workspace's own mode after the request; null when it inherits. */
function ownMode(current: WorkspaceSettings, request: WorkspaceRequest): ExecutionMode | null {
  if (request.settingOverwrites.executionMode === false) return null;
  if (request.executionMode !== undefined) return request.executionMode;
  if (request.operations !== undefined) return request.operations ? 'remote' : 'local';
  return current.execution_mode;
}

/** Whether the workspace's own pool (or its having none) counts. A literal mode says so unless the request denies it. */
function ownsPool(
  current: WorkspaceSettings,
  request: WorkspaceRequest,
  mode: ExecutionMode | null,
): boolean {
  if (mode === null) return false;
  const saysMode = typeof request.executionMode === 'string' || request.operations !== undefined;
  const givesPool = typeof request.agentPoolId === 'string';
  return (
    request.settingOverwrites.agentPool ?? (saysMode || givesPool || current.agent_pool_overwritten === 1)
  );
}

function requestedPool(current: WorkspaceSettings, request: WorkspaceRequest): string | null {
  return request.agentPoolId === undefined ? current.agent_pool_id : request.agentPoolId;
}

function checkTogether(
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
  readonly surroundings: ExecutionSurroundings;
}

function checkPool(choice: PoolChoice, problems: PointedProblem[]): void {
  const { request, mode, overwritten, poolId, surroundings } = choice;
  const refuse = (detail: string): void => {
    problems.push({ detail, pointer: '/data/attributes/agent-pool-id' });
  };
  const given = request.agentPoolId;
  const literalMode = mode ?? surroundings.inheritedMode;
  if (typeof given === 'string' && literalMode !== 'agent') {
    refuse(`agent-pool-id must not be given when execution-mode is ${literalMode}`);
  } else if (typeof given === 'string' && !surroundings.poolExists(given)) {
    refuse(`The agent pool "${given}" does not belong to the organization`);
  } else if (mode === 'agent' && (overwritten ? poolId : surroundings.inheritedPoolId) === null) {
    refuse('agent-pool-id is required when execution-mode is agent');
  }
}
