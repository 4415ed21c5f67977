/**
 * Makes the calls for a change of a project. Pure. A create sends the ownership tag in its one POST. A write of tags replaces the whole
 * set, the ownership tag and the tags with reserved keys included, and so relies on the set that was read.
 */
import { asTags, isReserved, projectTagKey } from '../../api/workspaces/tag-bindings.ts';
import { workspaceOf } from '../../api/workspaces/workspace.ts';
import { callId, callOrder, documentBody, tagBindingList } from '../../api/workspaces/workspace-call.ts';
import { contentAfter } from '../../compare/comparisons.ts';
import { type Address, formatAddress } from '../../model/address.ts';
import type { Call, CallId } from '../../model/call.ts';
import type { Change } from '../../model/change.ts';
import type { FieldChange } from '../../model/field.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { PlannedCalls } from '../../model/kind-calls.ts';
import {
  formatOwnershipTag,
  ownershipTagValue,
  shownOwnershipTag,
  withStackId,
} from '../../model/resource.ts';
import { fields as table, type ProjectContext } from './fields.ts';

/** The fact with the direct tags that were read. */
const directTags = 'direct';

export function calls(change: Change, context: ProjectContext): PlannedCalls {
  switch (change.action) {
    case 'create':
      return { calls: [createCall(change.address, context)] };
    case 'update':
    case 'adopt':
      return updateCalls(change, context);
    case 'release':
      return releaseCalls(change.address, context);
    case 'delete':
      return { calls: deleteCalls(change.address, context) };
    case 'none':
      return { calls: [] };
  }
}

function createCall(address: Address, context: ProjectContext): Call {
  const { desired, ownershipTag, stackId, target } = context;
  const tagText =
    ownershipTag === undefined ? undefined : ownershipTagValue(formatOwnershipTag(ownershipTag), stackId);
  const { description, autoDestroyActivityDuration: duration } = desired;
  // Null asks for the default of the service, which an absent attribute gets.
  const attributes = {
    name: address.name,
    ...given('description', description),
    ...given('auto-destroy-activity-duration', duration),
    ...given('default-execution-mode', desired.defaultExecutionMode),
    ...given('default-agent-pool-id', desired.defaultAgentPoolId),
  };
  const bindings = tagBindingList(asTags(desired.tags), tagText, projectTagKey);
  return {
    id: callId(address, 'create'),
    target: address.target,
    method: 'POST',
    path: ['organizations', target.organization ?? '', 'projects'],
    body: documentBody('projects', attributes, { 'tag-bindings': bindings }),
    order: callOrder.project,
    needs: [],
    success: [201],
    repeatable: false,
    createsId: { address: formatAddress(address), pointer: '/data/id' },
  };
}

function given(name: string, value: Json | undefined): JsonObject {
  return value === undefined || value === null ? {} : { [name]: value };
}

/** One sparse PATCH; tags are sent only if one of them changes, or the ownership tag. */
function updateCalls({ address, fields: changes }: Change, context: ProjectContext): PlannedCalls {
  const isTagged = changes.some(({ path: [name] }) => name === 'tags' || name === 'claim');
  const relationships = isTagged ? { 'tag-bindings': bindingsAfter(changes, context) } : {};
  const reliesOn = isTagged ? [directTags] : [];
  const body = documentBody('projects', changedAttributes(changes, context), relationships);
  const update = projectCall(address, context, { suffix: 'update', body, reliesOn });
  return { calls: update === undefined ? [] : [update], preconditions: reliesOn };
}

function changedAttributes(fields: readonly FieldChange[], { desired }: ProjectContext): JsonObject {
  const after = (name: string) => fields.find(({ path }) => path.length === 1 && path[0] === name)?.after;
  const [name, description, duration] = ['name', 'description', 'autoDestroyActivityDuration'].map(after);
  return {
    ...(name === undefined ? {} : { name }),
    // Some services ignore null for a text.
    ...(description === undefined ? {} : { description: description ?? '' }),
    ...(duration === undefined ? {} : { 'auto-destroy-activity-duration': duration }),
    ...executionAttributes(after('defaultExecutionMode'), after('defaultAgentPoolId'), desired),
  };
}

/** Mode and pool belong together: a pool is sent only with the mode `agent`, and removed together with it. */
function executionAttributes(
  mode: Json | undefined,
  pool: Json | undefined,
  { defaultExecutionMode: wantedMode, defaultAgentPoolId: wantedPool }: ProjectContext['desired'],
): JsonObject {
  if (mode === undefined && pool === undefined) return {};
  if ((wantedMode ?? mode ?? null) === null)
    return { 'setting-overwrites': { 'default-execution-mode': false, 'default-agent-pool': false } };
  return {
    ...given('default-execution-mode', wantedMode ?? mode),
    ...(wantedMode === 'agent' ? given('default-agent-pool-id', wantedPool) : {}),
  };
}

/** The whole set after the write, including the tags that no manifest can own. */
function bindingsAfter(changes: readonly FieldChange[], context: ProjectContext): JsonObject {
  const { live } = context;
  const reserved = Object.entries(asTags(live?.facts.direct)).filter(([key]) => isReserved(key));
  const own = asTags(contentAfter(table, live?.spec, changes)['tags']);
  const tags = { ...own, ...Object.fromEntries(reserved) };
  return tagBindingList(tags, ownershipTagAfter(changes, context), projectTagKey);
}

function ownershipTagAfter(
  fields: readonly FieldChange[],
  { live, stack, stackId }: ProjectContext,
): string | undefined {
  const written = fields.find(({ path }) => path.length === 1 && path[0] === 'claim');
  if (written !== undefined)
    return typeof written.after === 'string' ? ownershipTagValue(written.after, stackId) : undefined;
  const shown = live && shownOwnershipTag(live.evidence);
  return shown && withStackId(formatOwnershipTag(shown), stack, stackId);
}

/** Removes the ownership tag; everything else stays. */
function releaseCalls(address: Address, context: ProjectContext): PlannedCalls {
  const { live } = context;
  if (live === undefined || shownOwnershipTag(live.evidence) === undefined) return { calls: [] };
  const bindings = tagBindingList(asTags(live.facts.direct), undefined, projectTagKey);
  const body = documentBody('projects', {}, { 'tag-bindings': bindings });
  const release = projectCall(address, context, { suffix: 'update', body, reliesOn: [directTags] });
  return { calls: release === undefined ? [] : [release], preconditions: [directTags] };
}

/** The service refuses to delete a project that has workspaces; those that this plan deletes or moves go first. */
function deleteCalls(address: Address, context: ProjectContext): Call[] {
  const { live, peer } = context;
  const needs = (live?.facts.members ?? []).flatMap(({ name, id }): CallId[] => {
    const named = { ...workspaceOf(address), name };
    // The plan may have the workspace at another address, so it is looked up by its id as well.
    const { action, fields, live: member } = peer(named, id);
    const workspace = member?.address ?? named;
    if (action === 'delete') return [callId(workspace, 'delete')];
    return fields.some(({ path: [field] }) => field === 'projectId') ? [callId(workspace, 'update')] : [];
  });
  const id = context.idOf(address);
  if (id === undefined) return [];
  return [
    {
      id: callId(address, 'delete'),
      target: address.target,
      method: 'DELETE',
      path: ['projects', id],
      order: callOrder.removeProject,
      needs,
      success: [204],
      repeatable: true,
      permission: 'can-destroy',
      description: 'deletes an empty project: the service refuses it while there is a workspace in it',
    },
  ];
}

function projectCall(
  address: Address,
  context: ProjectContext,
  { suffix, body, reliesOn }: { readonly suffix: string } & Required<Pick<Call, 'body' | 'reliesOn'>>,
): Call | undefined {
  const id = context.idOf(address);
  if (id === undefined) return undefined;
  return {
    id: callId(address, suffix),
    target: address.target,
    method: 'PATCH',
    path: ['projects', id],
    body,
    order: callOrder.project,
    needs: [],
    success: [200],
    repeatable: true,
    permission: 'can-update',
    ...(reliesOn.length === 0 ? {} : { reliesOn }),
  };
}
