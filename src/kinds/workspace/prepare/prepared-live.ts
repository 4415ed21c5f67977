/** Live values that replace the answered ones in the comparison, with notes about them. */
import type { WorkspaceFields } from '../workspace-types.ts';

export interface PreparedLive {
  /** by field; replaces the answered value */
  readonly live: WorkspaceFields;
  readonly notes: readonly string[];
}

/** No answered value is replaced. */
export const asReturned: PreparedLive = { live: {}, notes: [] };
