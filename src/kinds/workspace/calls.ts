/** The requests that carry out a change of a workspace. Pure. */
import type { Change } from '../../model/plan/change.ts';
import type { CallContext, PlannedCalls } from '../../model/kind/kind.ts';
import { createCalls } from './calls/create-calls.ts';
import { deleteCalls, releaseCalls } from './calls/remove-calls.ts';
import { updateCalls } from './calls/update-calls.ts';

export function calls(change: Change, context: CallContext): PlannedCalls {
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
