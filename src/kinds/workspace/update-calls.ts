/**
 * Makes the calls that update a workspace: one sparse PATCH of what changes, and the calls of fields with separate endpoints.
 * The ownership tag is part of the PATCH, with all other direct tags, unless the service can add a single tag.
 */
import type { Address } from '../../model/address.ts';
import { ownershipTagValue } from '../../model/resource.ts';
import { type Call, type CallObject, isCallObject } from '../../model/call.ts';
import type { Change } from '../../model/change.ts';
import type { JsonObject } from '../../model/json.ts';
import type { PlannedCalls } from '../../model/kind-calls.ts';
import { asTags } from '../../api/workspaces/tag-bindings.ts';
import {
  callOrder,
  keptAssessments,
  projectRelationship,
  repeatedAssessments,
  tagBindingList,
  workspaceBody,
  workspaceCall,
  type WorkspaceCallDraft,
} from '../../api/workspaces/workspace-call.ts';
import {
  type ChangedFields,
  changedFields,
  type ClearingUpdate,
  clearingUpdates,
  updateAttributes,
} from './request-bodies.ts';
import { separateEndpointCalls } from './separate-endpoints.ts';
import { removedFileTriggers } from './triggers.ts';
import type { WorkspaceContext } from './workspace-types.ts';

/** The fact with the direct tags that were read: a call that replaces all tags relies on it. */
export const directTags = 'direct';

export function updateCalls({ address, fields }: Change, context: WorkspaceContext): PlannedCalls {
  const changed = changedFields(fields);
  const ownershipTag = writtenOwnershipTag(changed, context);
  const relationships = {
    ...projectRelationship(changed.get('projectId')?.after, context),
    ...(ownershipTag.replaces ? { 'tag-bindings': replacingTags(context, ownershipTag.text) } : {}),
  };
  const update = patchCall(address, context, {
    attributes: updateAttributes(changed, context),
    relationships,
    ...(ownershipTag.replaces ? { reliesOn: [directTags] } : {}),
  });
  const calls = [
    ...withClearingUpdates(address, changed, {
      context,
      update: update && { ...update, ...removedValues(changed, context) },
    }),
    ownershipTag.adds ? addOwnershipTagCall(address, context, ownershipTag.text) : undefined,
    ...separateEndpointCalls(address, changed, context),
  ];
  return plannedCalls(calls);
}

/** The update, and the separate updates before and after it that clear triggers, if any. */
function withClearingUpdates(
  address: Address,
  changed: ChangedFields,
  { context, update }: { readonly context: WorkspaceContext; readonly update: Call | undefined },
): (Call | undefined)[] {
  const { before, after } = clearingUpdates(changed, context);
  const { live } = context;
  const first =
    before &&
    clearCall(address, context, {
      ...before,
      suffix: 'clear-patterns',
      repeated: repeatedAssessments(live?.spec.assessmentsEnabled),
      reliesOn: ['assessmentsEnabled'],
    });
  const last: Call | undefined =
    after &&
    clearCall(address, context, {
      ...after,
      suffix: 'clear-triggers',
      repeated: repeatedIn(update),
      reliesOn: update?.reliesOn?.filter((fact) => fact === 'assessmentsEnabled') ?? [],
      needs: update === undefined ? [] : [update.id],
      description: 'clears a trigger that the update before it may have left',
    });
  return [
    first,
    update && first ? { ...update, needs: [...update.needs, first.id] } : update,
    last && update?.removes ? { ...last, removes: update.removes } : last,
  ];
}

interface ClearDraft extends ClearingUpdate, Pick<WorkspaceCallDraft, 'suffix' | 'needs' | 'description'> {
  readonly repeated: JsonObject;
  readonly reliesOn: readonly string[];
}

function clearCall(
  address: Address,
  context: WorkspaceContext,
  { attributes, repeated, reliesOn, ...draft }: ClearDraft,
): Call | undefined {
  return workspaceCall(address, context, {
    ...draft,
    method: 'PATCH',
    body: workspaceBody({ ...repeated, ...attributes }),
    order: callOrder.workspace,
    success: [200],
    permission: 'can-update',
    ...(Object.keys(repeated).length === 0 || reliesOn.length === 0 ? {} : { reliesOn }),
  });
}

/** The `assessments-enabled` that the update sends. The update after it repeats the value, because the service would turn it off. */
function repeatedIn(update: Call | undefined): JsonObject {
  const { data } = update?.body ?? {};
  const { attributes } = isCallObject(data) ? data : {};
  const sent = isCallObject(attributes) ? attributes['assessments-enabled'] : undefined;
  return typeof sent === 'boolean' ? { 'assessments-enabled': sent } : {};
}

/** The calls that are defined, with all facts that they rely on as the preconditions of the change. */
export function plannedCalls(drafts: readonly (Call | undefined)[]): PlannedCalls {
  const calls = drafts.filter((call) => call !== undefined);
  return { calls, preconditions: [...new Set(calls.flatMap(({ reliesOn = [] }) => reliesOn))] };
}

function removedValues(changed: ChangedFields, context: WorkspaceContext): Pick<Call, 'removes'> {
  const { before, after } = changed.get('fileTriggersEnabled') ?? {};
  // Only where the ledger keeps the ownership, a service may derive file triggers (`derivesFileTriggers`).
  const isLimited = context.target.ownership === 'ledger';
  const removes = {
    ...removedMode(changed, context),
    ...(isLimited ? removedFileTriggers(before, after, context.desired) : {}),
  };
  return Object.keys(removes).length === 0 ? {} : { removes };
}

/**
 * The mode that a reset has to remove. Empty if the workspace may inherit the same mode, or if the service itself reports whether a
 * mode is inherited: then the response to the reset shows whether the mode was removed.
 */
function removedMode(changed: ChangedFields, { live }: WorkspaceContext): NonNullable<Call['removes']> {
  const { before, after } = changed.get('executionMode') ?? {};
  if (after !== null || typeof before !== 'string') return {};
  const isCertain = live?.spec.settingOverwrites?.executionMode === true;
  return isCertain || live?.facts.inheritedMode === before ? {} : { executionMode: before };
}

interface WrittenOwnershipTag {
  /** absent if the tag is removed or does not change */
  readonly text?: string;
  /** a separate call adds the tag */
  readonly adds: boolean;
  /** the update replaces all tags */
  readonly replaces: boolean;
}

function writtenOwnershipTag(
  changed: ChangedFields,
  { dialect, stackId }: WorkspaceContext,
): WrittenOwnershipTag {
  if (!changed.has('claim')) return { adds: false, replaces: false };
  const text = changed.get('claim')?.after;
  if (typeof text !== 'string') return { adds: false, replaces: true };
  const adds = dialect.capabilities.has('additive-tag-bindings');
  return { text: ownershipTagValue(text, stackId), adds, replaces: !adds };
}

/**
 * All direct tags of the live workspace, with or without the ownership tag, as a replacing write must send them.
 * @throws Error when they were not read: a bug; `prepare` refuses such a change, which would erase them
 */
export function replacingTags({ live }: WorkspaceContext, ownershipTag?: string): JsonObject {
  const direct = live?.facts.direct;
  if (direct === undefined) throw new Error('tag bindings cannot be replaced unread');
  return tagBindingList(asTags(direct), ownershipTag);
}

interface PatchDraft extends Pick<Call, 'reliesOn'> {
  readonly attributes: JsonObject;
  readonly relationships: CallObject;
}

/** The PATCH of the workspace; undefined when nothing in the document itself changes. */
export function patchCall(
  address: Address,
  context: WorkspaceContext,
  { attributes, relationships, reliesOn = [] }: PatchDraft,
): Call | undefined {
  if (Object.keys(attributes).length + Object.keys(relationships).length === 0) return undefined;
  const { live } = context;
  const mode = attributes['execution-mode'] ?? live?.facts.modeAfter;
  const kept = keptAssessments(live?.spec.assessmentsEnabled, { mode, dialect: context.dialect });
  // The declared value goes before the live one, which is not the workspace's own while the organization enforces assessments.
  const repeated = repeatedAssessments(context.desired.assessmentsEnabled ?? kept);
  // A value that is only repeated must still be as it was read, or it would overwrite a value that the plan does not show.
  const isRepeated = Object.keys(repeated).some((name) => !Object.hasOwn(attributes, name));
  const facts = [...reliesOn, ...(isRepeated ? ['assessmentsEnabled'] : [])];
  return workspaceCall(address, context, {
    suffix: 'update',
    method: 'PATCH',
    body: workspaceBody({ ...repeated, ...attributes }, relationships),
    order: callOrder.workspace,
    success: [200],
    permission: 'can-update',
    ...(facts.length === 0 ? {} : { reliesOn: facts }),
    ...(mayUsePage(attributes, relationships) ? { sharesRead: true } : {}),
  });
}

/** Attributes that have a part in whether and when the service destroys something: before they change, the workspace is read alone. */
const destroyAttributes: readonly string[] = [
  'allow-destroy-plan',
  'auto-destroy-at',
  'auto-destroy-activity-duration',
  'inherits-project-auto-destroy',
  'execution-mode',
  'setting-overwrites',
];

/**
 * Whether a page of the list is recent enough as the read before this call. It is not if the call replaces something as a whole, grants
 * access by a move to another project, may destroy something, or renames the workspace, which moves it in the list.
 */
function mayUsePage(
  { name, 'vcs-repo': repository, ...others }: JsonObject,
  relationships: CallObject,
): boolean {
  const needsOwnRead = Object.entries(others).some(
    ([attribute, value]) => Array.isArray(value) || destroyAttributes.includes(attribute),
  );
  return (
    Object.keys(relationships).length === 0 && !needsOwnRead && name === undefined && repository === undefined
  );
}

function addOwnershipTagCall(
  address: Address,
  context: WorkspaceContext,
  ownershipTag: string | undefined,
): Call | undefined {
  return workspaceCall(address, context, {
    suffix: 'claim',
    method: 'PATCH',
    below: ['tag-bindings'],
    body: tagBindingList({}, ownershipTag),
    order: callOrder.workspace,
    success: [200],
    permission: 'can-manage-tags',
    writes: ['claim'],
  });
}
