/**
 * Letting a workspace go. A delete is the service's own safe delete, which looks at managed resources once more; only a
 * tombstone that says `force` gets past that. A lock of ours is taken off first, never one of anyone else (rule 18).
 */
import type { Address } from '../../../model/resource/address.ts';
import type { Call } from '../../../model/plan/call.ts';
import type { PlannedCalls } from '../../../model/kind/kind.ts';
import { callOrder, workspaceCall } from '../../../services/workspaces/workspace-call.ts';
import { foreignLockNotes, holdsLock, lockFacts } from '../lock.ts';
import { unlockCall } from './neighbour-calls.ts';
import { claimedTags, patchCall } from './update-calls.ts';
import type { WorkspaceContext } from '../workspace-types.ts';

/**
 * 404 is no success: to this service it is also the answer to a token that may not delete, and what is taken for
 * deleted loses its record in the ledger.
 */
export function deleteCalls(address: Address, context: WorkspaceContext): PlannedCalls {
  const shape = { suffix: 'delete', order: callOrder.remove, success: [204] };
  if (context.remove === 'force') {
    const permission = 'can-force-delete';
    return { calls: present([workspaceCall(address, context, { ...shape, method: 'DELETE', permission })]) };
  }
  const unlock = unlockOurs(address, context, callOrder.unlockToDelete);
  const needs = unlock === undefined ? [] : [unlock.id];
  const below = ['actions', 'safe-delete'];
  const safeDelete = { ...shape, method: 'POST', below, needs, permission: 'can-destroy' } as const;
  const calls = present([unlock, workspaceCall(address, context, safeDelete)]);
  return { calls, preconditions: unlock === undefined ? [] : lockFacts };
}

/**
 * The claim goes, and a lock of ours; everything else stays. The lock goes first: a release that is cut short in between
 * leaves something that is ours still, and the next plan goes on with it.
 */
export function releaseCalls(address: Address, context: WorkspaceContext): PlannedCalls {
  const relationships = { 'tag-bindings': claimedTags(context) };
  const unlock = unlockOurs(address, context, callOrder.unlockToRelease);
  const patch = patchCall(address, context, { attributes: {}, relationships });
  const unclaim = patch && unlock ? { ...patch, needs: [...patch.needs, unlock.id] } : patch;
  const { live, record } = context;
  return {
    calls: present([unlock, unclaim]),
    preconditions: ['direct', ...(unlock === undefined ? [] : lockFacts)],
    notes: live === undefined ? [] : foreignLockNotes(live, record, false),
  };
}

function unlockOurs(address: Address, context: WorkspaceContext, order: number): Call | undefined {
  const { live, record } = context;
  return live !== undefined && holdsLock(live, record) ? unlockCall(address, context, order) : undefined;
}

function present(calls: readonly (Call | undefined)[]): Call[] {
  return calls.filter((call) => call !== undefined);
}
