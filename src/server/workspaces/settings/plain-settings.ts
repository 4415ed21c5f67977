/**
 * The attributes that stand for themselves: name, version, switches, texts.
 * Invariant: an absent attribute keeps its previous value, with one exception that the spec makes:
 * assessments-enabled falls back to false on every update that does not repeat it.
 */
import { posix } from 'node:path';

import type { PointedProblem } from '../../json-api/errors.ts';
import type { WorkspaceSettings } from '../document/workspace-record.ts';
import type { WorkspaceRequest } from '../document/workspace-request.ts';

const NAME = /^[A-Za-z0-9_-]+$/;

/** The settings that follow from the request's plain attributes. */
export function resolvePlainSettings(
  current: WorkspaceSettings,
  request: WorkspaceRequest,
  { problems, takesAbsolute }: { readonly problems: PointedProblem[]; readonly takesAbsolute: boolean },
): Partial<WorkspaceSettings> {
  checkName(request.name, problems);
  checkWorkingDirectory(request.workingDirectory, takesAbsolute, problems);
  return {
    name: request.name ?? current.name,
    description: keepAbsent(request.description, current.description),
    working_directory: keepAbsent(request.workingDirectory, current.working_directory),
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

/** The requested value where there is one, null included; the current one where the request is silent. */
export function keepAbsent<T>(requested: T | undefined, current: T): T {
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

/** It is a folder of the repository, told from the repository's root. */
function checkWorkingDirectory(
  path: string | null | undefined,
  takesAbsolute: boolean,
  problems: PointedProblem[],
): void {
  if (typeof path !== 'string') return;
  const leaves = (posix.isAbsolute(path) && !takesAbsolute) || /^\.\.(?:\/|$)/.test(posix.normalize(path));
  if (!leaves) return;
  problems.push({
    detail: 'working-directory must be a relative path inside the repository',
    pointer: '/data/attributes/working-directory',
  });
}
