/** Makes the calls for a change of a workspace. Pure. */
import type { Change } from '../../model/plan/change.ts';
import type { PlannedCalls } from '../../model/kind/kind.ts';
import { createCalls } from './calls/create-calls.ts';
import { deleteCalls, releaseCalls } from './calls/remove-calls.ts';
import { updateCalls } from './calls/update-calls.ts';
import type { WorkspaceContext } from './workspace-types.ts';

export function calls(change: Change, context: WorkspaceContext): PlannedCalls {
  switch (change.action) {
    case 'create':
      return { calls: createCalls(change, context) };
    case 'update':
    case 'adopt':
      return updateCalls(change, context);
    case 'release':
      return releaseCalls(change.address, context);
    case 'delete':
      return deleteCalls(change.address, context);
    case 'none':
      return { calls: [] };
  }
}
