/**
 * Makes the calls for a change of a workspace. Pure. A create sends the ownership tag in its one POST, so that the workspace is
 * never without it. A delete is the service's safe delete; only a removal request with `force` skips it. Our own lock
 * is removed first, never anyone else's.
 */
import { asTags, type Tags } from '../../api/workspaces/tag-bindings.ts';
import {
  callId,
  callOrder,
  flatTagList,
  projectRelationship,
  repeatedAssessments,
  tagBindingList,
  workspaceBody,
  workspaceCall,
} from '../../api/workspaces/workspace-call.ts';
import { type Address, formatAddress } from '../../model/address.ts';
import type { Call } from '../../model/call.ts';
import type { Change } from '../../model/change.ts';
import { isJsonObject, type JsonObject, textsOf } from '../../model/json.ts';
import type { PlannedCalls } from '../../model/kind-calls.ts';
import {
  creatorMarkOf,
  formatOwnershipTag,
  ownershipTagValue,
  shownOwnershipTag,
} from '../../model/resource.ts';
import { foreignLockNotes, holdsLock } from './lock.ts';
import { changedFields, createAttributes, newRepository, waitsForUpdate } from './request-bodies.ts';
import { createsFlatTags, separateEndpointCalls, unlockCall } from './separate-endpoints.ts';
import { directTags, patchCall, plannedCalls, updateCalls, replacingTags } from './update-calls.ts';
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

/**
 * The calls that create a workspace: one POST with ownership tag, creator mark and the tags of its TagBindings document; then the
 * calls that need an existing workspace, the lock last.
 */
function createCalls({ address, fields }: Change, context: WorkspaceContext): Call[] {
  const { desired, dialect, target, stack, ownershipTag } = context;
  const attributes = {
    name: address.name,
    'source-name': creatorMarkOf(stack),
    ...privateState(address, context),
    ...createAttributes(desired, dialect),
  };
  const tagText =
    ownershipTag === undefined
      ? undefined
      : ownershipTagValue(formatOwnershipTag(ownershipTag), context.stackId);
  const relationships = {
    ...projectRelationship(desired.projectId, context),
    'tag-bindings': tagBindingList(declaredTags(address, context), tagText),
    ...flatTags(context),
  };
  const create: Call = {
    id: callId(address, 'create'),
    target: address.target,
    method: 'POST',
    path: ['organizations', target.organization ?? '', 'workspaces'],
    body: workspaceBody(attributes, relationships),
    order: callOrder.workspace,
    needs: [],
    success: [201],
    repeatable: false,
    createsId: { address: formatAddress(address), pointer: '/data/id' },
  };
  const repository = appInstallationCall(address, context);
  const separate = separateEndpointCalls(address, changedFields(fields), context);
  return [create, ...(repository === undefined ? [] : [repository]), ...separate];
}

function declaredTags(address: Address, context: WorkspaceContext): Tags {
  const { tags } = context.peer({ ...address, kind: 'TagBindings' }).desired ?? {};
  return asTags(tags);
}

function flatTags(context: WorkspaceContext): JsonObject {
  const names = textsOf(context.desired.tagNames);
  return createsFlatTags(context) && names.length > 0 ? { tags: flatTagList(names) } : {};
}

/**
 * Administrators of a self-hosted service can let new workspaces share their state with everyone (wire/workspaces 5.4).
 * Consumers could not be written then, so a create with declared consumers turns the sharing off.
 */
function privateState(address: Address, { peer }: WorkspaceContext): JsonObject {
  const consumers = peer({ ...address, kind: 'RemoteStateConsumers' }).desired;
  return consumers === undefined ? {} : { 'global-remote-state': false };
}

/** If a create does not accept an app installation, the repository is added just after it. */
function appInstallationCall(address: Address, context: WorkspaceContext): Call | undefined {
  const repository = context.desired.vcsRepo;
  if (!isJsonObject(repository) || !waitsForUpdate(repository, context.dialect)) return undefined;
  const attributes = {
    ...repeatedAssessments(context.desired.assessmentsEnabled),
    'vcs-repo': newRepository(repository),
  };
  return workspaceCall(address, context, {
    suffix: 'vcs-repo',
    method: 'PATCH',
    body: workspaceBody(attributes),
    order: callOrder.workspace,
    success: [200],
    permission: 'can-update',
    writes: ['vcsRepo'],
  });
}

/** Only owners may delete without the service's own check, unless the organization allows it to others. */
const refusalHints = {
  403: 'where the setting "allow-force-delete-workspaces" of the organization is off, only its owners may delete by force: turn that setting on, apply with the token of an owner, or ask for "remove: safe"',
};

/**
 * The safe delete; a plain one if the service has none and the target allows it, just after the number of resources is read. 404 is
 * not a success: this service also returns it to a token that may not delete, and a resource that counts as deleted loses its record
 * in the ledger.
 */
function deleteCalls(address: Address, context: WorkspaceContext): PlannedCalls {
  const shape = { suffix: 'delete', order: callOrder.remove, success: [204] };
  if (context.remove === 'force') {
    // A service without a safe delete has no right to force a delete: `can-destroy` is enough.
    const permission = context.live?.facts.hasSafeDelete === false ? 'can-destroy' : 'can-force-delete';
    const how = { method: 'DELETE', permission, refusalHints } as const;
    return plannedCalls([workspaceCall(address, context, { ...shape, ...how })]);
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
  return plannedCalls([unlock, remove]);
}

/**
 * Removes our own lock, then the ownership tag; everything else stays. The lock comes first: if the release is interrupted in
 * between, the workspace is still ours, and the next plan continues.
 */
function releaseCalls(address: Address, context: WorkspaceContext): PlannedCalls {
  const isOwnedByTag = context.live !== undefined && shownOwnershipTag(context.live.evidence) !== undefined;
  const relationships = isOwnedByTag ? { 'tag-bindings': replacingTags(context) } : {};
  const unlock = unlockOurs(address, context, callOrder.unlockToRelease);
  const patch = isOwnedByTag
    ? patchCall(address, context, { attributes: {}, relationships, reliesOn: [directTags] })
    : undefined;
  const release = patch && unlock ? { ...patch, needs: [...patch.needs, unlock.id] } : patch;
  const { live, record } = context;
  return {
    ...plannedCalls([unlock, release]),
    notes: live === undefined ? [] : foreignLockNotes(live, record, false),
  };
}

function unlockOurs(address: Address, context: WorkspaceContext, order: number): Call | undefined {
  const { live, record } = context;
  return live !== undefined && holdsLock(live, record) ? unlockCall(address, context, order) : undefined;
}
