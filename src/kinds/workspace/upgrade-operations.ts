/** The deprecated `operations`, folded into `executionMode`: state storage only, or not (wire/workspaces 5.7). */
import type { WorkspaceFields } from './workspace-types.ts';

/** Leaves a spec alone that has both names, for `check` to refuse. Idempotent. */
export function upgradeOperations(spec: WorkspaceFields): WorkspaceFields {
  const { operations, ...rest } = spec;
  if (operations === undefined || rest.executionMode !== undefined) return spec;
  return { ...rest, executionMode: operations === false ? 'local' : 'remote' };
}
