/**
 * Makes the call that changes the tags of a workspace. Pure. If the service can add single tags, additions are sent that way.
 * All other changes replace the whole set, the ownership tag included, and so rely on the set that was read: the API can neither
 * delete one tag nor write conditionally.
 */
import type { Address } from '../../model/address.ts';
import type { Call, CallId } from '../../model/call.ts';
import type { Change } from '../../model/change.ts';
import type { FieldChange } from '../../model/field.ts';
import { withStackId } from '../../model/resource.ts';
import type { Json } from '../../model/json.ts';
import type { CallContext, PlannedCalls } from '../../model/kind-calls.ts';
import { asTags, type Tags } from '../../api/workspaces/tag-bindings.ts';
import { workspaceOf } from '../../api/workspaces/workspace.ts';
import {
  callId,
  callOrder,
  keptAssessments,
  repeatedAssessments,
  tagBindingList,
  workspaceBody,
  workspaceCall,
} from '../../api/workspaces/workspace-call.ts';
import { tagsOfOthers, type LiveTags } from './fields.ts';
import type { TagBindingsSpec } from './schema.ts';

type Context = CallContext<TagBindingsSpec, LiveTags>;

/** The fact with the direct tags that were read. */
const directTags = 'direct';

export function calls(change: Change, context: Context): PlannedCalls {
  const { address, fields } = change;
  const workspace = workspaceOf(address);
  if (context.peer(workspace).action === 'create')
    return { calls: [], sharedCall: callId(workspace, 'create') };
  if (fields.length === 0 || context.live === undefined) return { calls: [] };
  const additions = addedTags(change);
  if (additions !== undefined && context.dialect.capabilities.has('additive-tag-bindings')) {
    return { calls: [addCall(address, context, additions)].filter((call) => call !== undefined) };
  }
  const replace = replaceCall(address, context);
  return {
    calls: replace === undefined ? [] : [replace],
    preconditions: replace?.reliesOn ?? [],
  };
}

/** The tags that are new or get another value; undefined when any is removed. Any text may be a key, also `__proto__`. */
function addedTags({ fields }: Change): Tags | undefined {
  const added = new Map<string, string>();
  for (const { path, after } of fields) {
    const [, key] = path;
    if (key === undefined || typeof after !== 'string') return undefined;
    added.set(key, after);
  }
  return Object.fromEntries(added);
}

function addCall(address: Address, context: Context, tags: Tags): Call | undefined {
  const ownershipTag = tagWithMissingId(address, context);
  return workspaceCall(address, context, {
    suffix: 'add',
    method: 'PATCH',
    below: ['tag-bindings'],
    body: tagBindingList(tags, ownershipTag),
    ...(ownershipTag === undefined ? { sharesRead: true } : {}),
    order: callOrder.tags,
    success: [200],
    permission: 'can-manage-tags',
  });
}

function replaceCall(address: Address, context: Context): Call | undefined {
  const { desired, live } = context;
  const tags = { ...tagsOfOthers(live?.facts.direct, desired), ...asTags(desired.tags) };
  const relationships = { 'tag-bindings': tagBindingList(tags, ownershipTagAfter(address, context)) };
  const { isWritten, value, needs } = assessmentsAfter(address, context);
  const repeated = repeatedAssessments(value);
  const repeatsLive = !isWritten && Object.keys(repeated).length > 0;
  return workspaceCall(address, context, {
    suffix: 'replace',
    method: 'PATCH',
    body: workspaceBody(repeated, relationships),
    reliesOn: [directTags, ...(repeatsLive ? ['assessmentsEnabled'] : [])],
    order: callOrder.tags,
    needs,
    success: [200],
    permission: 'can-update',
    description: 'replaces all tag bindings of the workspace',
  });
}

/** The ownership tag with the stack's id, if only the id is missing: a write of tags adds it, unless the workspace's change does. */
function tagWithMissingId(address: Address, context: Context): string | undefined {
  const { live, stack, stackId } = context;
  const ownershipTag = live?.facts.ownershipTag;
  if (typeof ownershipTag !== 'string' || writtenTag(address, context) !== undefined) return undefined;
  const after = withStackId(ownershipTag, stack, stackId);
  return after === ownershipTag ? undefined : after;
}

/** The ownership tag of the workspace after its own change, which is sent first. */
function ownershipTagAfter(address: Address, context: Context): string | undefined {
  const { live, stack, stackId } = context;
  const written = writtenTag(address, context);
  const ownershipTag: Json | undefined = written === undefined ? live?.facts.ownershipTag : written.after;
  return typeof ownershipTag === 'string' ? withStackId(ownershipTag, stack, stackId) : undefined;
}

function writtenTag(address: Address, { peer }: Context): FieldChange | undefined {
  const { fields } = peer(workspaceOf(address));
  return fields.find(({ path }) => path.length === 1 && path[0] === 'claim');
}

interface AssessmentsAfter {
  /** whether the change of the workspace writes the value; else it must still be as it was read */
  readonly isWritten: boolean;
  readonly value: Json | undefined;
  /** the call of the workspace's change that the value comes from */
  readonly needs: readonly CallId[];
}

/** The "assessments-enabled" of the workspace after its own change, which is sent first; live may hide the declared value. */
function assessmentsAfter(address: Address, { peer, live, dialect }: Context): AssessmentsAfter {
  const { fields, desired, live: workspace } = peer(workspaceOf(address));
  const { assessmentsEnabled: declared } = desired ?? {};
  const written = (name: string) => fields.find(({ path }) => path[0] === name)?.after;
  const mode = written('executionMode') ?? workspace?.facts?.['modeAfter'] ?? live?.facts.executionMode;
  const kept = keptAssessments(live?.facts.assessmentsEnabled, { mode, dialect });
  const isWrittenField = (name: string) => fields.some(({ path }) => path[0] === name);
  const isWritten = isWrittenField('assessmentsEnabled');
  return {
    isWritten,
    value: written('assessmentsEnabled') ?? declared ?? kept,
    needs: isWritten || isWrittenField('executionMode') ? [callId(workspaceOf(address), 'update')] : [],
  };
}
