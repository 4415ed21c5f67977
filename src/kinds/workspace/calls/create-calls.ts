/**
 * Makes the calls that create a workspace: one POST with claim, birth mark and the tags of its TagBindings document, so that
 * the workspace is never without its claim (rule 20); then the calls that need an existing workspace, the lock last.
 */
import { type Address, formatAddress } from '../../../model/resource/address.ts';
import type { Call } from '../../../model/plan/call.ts';
import type { Change } from '../../../model/plan/change.ts';
import { creatorMarkOf, ownershipTagValue, formatOwnershipTag } from '../../../model/resource/claim.ts';
import { isJsonObject, type JsonObject, textsOf } from '../../../model/json/json.ts';
import { asTags, type Tags } from '../../../services/workspaces/bound-tags.ts';
import {
  flatTagList,
  projectRelationship,
  repeatedAssessments,
  tagBindingList,
  workspaceBody,
} from '../../../services/workspaces/workspace-body.ts';
import { callId, callOrder, workspaceCall } from '../../../services/workspaces/workspace-call.ts';
import { changedFields } from './changed-fields.ts';
import { createsFlatTags, neighbourCalls } from './neighbour-calls.ts';
import { newRepository, waitsForUpdate } from './repository-body.ts';
import { createAttributes } from './settings-body.ts';
import type { WorkspaceContext } from '../workspace-types.ts';

export function createCalls({ address, fields }: Change, context: WorkspaceContext): Call[] {
  const { desired, dialect, target, stack, claim } = context;
  const attributes = {
    name: address.name,
    'source-name': creatorMarkOf(stack),
    ...ownSharing(address, context),
    ...createAttributes(desired, dialect),
  };
  const claimText =
    claim === undefined ? undefined : ownershipTagValue(formatOwnershipTag(claim), context.stackId);
  const relationships = {
    ...projectRelationship(desired.projectId),
    'tag-bindings': tagBindingList(declaredTags(address, context), claimText),
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
  const neighbours = neighbourCalls(address, changedFields(fields), context);
  return [create, ...(repository === undefined ? [] : [repository]), ...neighbours];
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
 * Consumers could not be written then, so a create with declared consumers turns it off.
 */
function ownSharing(address: Address, { peer }: WorkspaceContext): JsonObject {
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
