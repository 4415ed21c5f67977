/** Converts the deprecated `operations` to `executionMode`: false is "local", true is "remote" (wire/workspaces 5.7). */
import type { WorkspaceFields } from './workspace-types.ts';

/** A spec with both names stays unchanged: `check` refuses it. Idempotent. */
export function upgradeOperations(spec: WorkspaceFields): WorkspaceFields {
  const { operations, ...rest } = spec;
  if (operations === undefined || rest.executionMode !== undefined) return spec;
  return { ...rest, executionMode: operations === false ? 'local' : 'remote' };
}
