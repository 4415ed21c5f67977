/** What of a live workspace is compared with another value than was answered, because its own is hidden; and what to say of it. */
import type { WorkspaceFields } from '../workspace-types.ts';

export interface PreparedLive {
  /** by field; takes the place of what was answered */
  readonly live: WorkspaceFields;
  readonly notes: readonly string[];
}

/** Everything is as it was answered. */
export const asAnswered: PreparedLive = { live: {}, notes: [] };
