/**
 * Makes the calls that delete or release a workspace. A delete is the service's safe delete, which checks for managed
 * resources; only a tombstone with `force` skips it. Our own lock is removed first, never anyone else's (rule 18).
 */
import type { Address } from '../../../model/resource/address.ts';
import { shownOwnershipTag } from '../../../model/resource/claim.ts';
import type { Call } from '../../../model/plan/call.ts';
import type { PlannedCalls } from '../../../model/kind/kind.ts';
import { callOrder, workspaceCall } from '../../../services/workspaces/workspace-call.ts';
import { foreignLockNotes, holdsLock } from '../lock.ts';
import { unlockCall } from './neighbour-calls.ts';
import { withOwnershipTag, patchCall, relying } from './update-calls.ts';
import type { WorkspaceContext } from '../workspace-types.ts';

/** A delete without the service's own check is a right of owners, unless the organization gives it to more. */
const refusalHints = {
  403: 'where the setting "allow-force-delete-workspaces" of the organization is off, only its owners may delete by force: turn that setting on, apply with the token of an owner, or ask for "remove: safe"',
};

/**
 * Where the service has no safe delete, and the target allows it, a plain one: the number of resources is looked at just before
 * it (rules 29, 48). 404 is no success: this service also answers it to a token that may not delete, and a resource that counts as deleted
 * loses its record in the ledger.
 */
export function deleteCalls(address: Address, context: WorkspaceContext): PlannedCalls {
  const shape = { suffix: 'delete', order: callOrder.remove, success: [204] };
  if (context.remove === 'force') {
    // A service without that right deletes plainly, as in any other case.
    const permission = context.live?.facts.hasSafeDelete === false ? 'can-destroy' : 'can-force-delete';
    const how = { method: 'DELETE', permission, refusalHints } as const;
    return relying([workspaceCall(address, context, { ...shape, ...how })]);
  }
  const unlock = unlockOurs(address, context, callOrder.unlockToDelete);
  const needs = unlock === undefined ? [] : [unlock.id];
  const how =
    context.live?.facts.hasSafeDelete === false
      ? ({
          method: 'DELETE',
          refusalHints,
          description: 'the service has no safe delete: deletes a workspace without resources',
        } as const)
      : ({ method: 'POST', below: ['actions', 'safe-delete'] } as const);
  const call = workspaceCall(address, context, { ...shape, ...how, needs, permission: 'can-destroy' });
  const isPlain = how.method === 'DELETE';
  const remove: Call | undefined = call && isPlain ? { ...call, repeatable: false } : call;
  return relying([unlock, remove]);
}

/**
 * Removes our own lock, then the claim; everything else stays. The lock comes first: if the release is interrupted in between,
 * the workspace is still ours, and the next plan continues.
 */
export function releaseCalls(address: Address, context: WorkspaceContext): PlannedCalls {
  const isClaimed = context.live !== undefined && shownOwnershipTag(context.live.witness) !== undefined;
  const relationships = isClaimed ? { 'tag-bindings': withOwnershipTag(context) } : {};
  const unlock = unlockOurs(address, context, callOrder.unlockToRelease);
  const patch = isClaimed
    ? patchCall(address, context, { attributes: {}, relationships, reliesOn: ['direct'] })
    : undefined;
  const release = patch && unlock ? { ...patch, needs: [...patch.needs, unlock.id] } : patch;
  const { live, record } = context;
  return {
    ...relying([unlock, release]),
    notes: live === undefined ? [] : foreignLockNotes(live, record, false),
  };
}

function unlockOurs(address: Address, context: WorkspaceContext, order: number): Call | undefined {
  const { live, record } = context;
  return live !== undefined && holdsLock(live, record) ? unlockCall(address, context, order) : undefined;
}
