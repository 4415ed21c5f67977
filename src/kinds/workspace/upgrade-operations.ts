/** The deprecated `operations`, folded into `executionMode`: state storage only, or not (wire/workspaces 5.7). */
import type { Spec } from '../../model/resource/resource.ts';

/** Leaves a spec alone that has both names, for `check` to refuse. Idempotent. */
export function upgradeOperations(spec: Spec): Spec {
  const { operations, ...rest } = spec;
  if (operations === undefined || rest['executionMode'] !== undefined) return spec;
  return { ...rest, executionMode: operations === false ? 'local' : 'remote' };
}
