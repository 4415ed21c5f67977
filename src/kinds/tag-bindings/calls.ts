/**
 * Makes the call that changes the tags of a workspace. Pure. If the service can add single tags, additions are sent that way.
 * All other changes replace the whole set, the claim included, and so rely on the set that was read: the API can neither
 * delete one tag nor write conditionally (rule 14).
 */
import type { Address } from '../../model/address.ts';
import type { Call } from '../../model/call.ts';
import type { Change } from '../../model/change.ts';
import { withStackId } from '../../model/resource.ts';
import type { Json } from '../../model/json.ts';
import type { CallContext, PlannedCalls } from '../../model/kind.ts';
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
import { foreignTags, type LiveTags } from './fields.ts';
import type { TagBindingsSpec } from './schema.ts';

type Context = CallContext<TagBindingsSpec, LiveTags>;

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
  return workspaceCall(address, context, {
    suffix: 'add',
    method: 'PATCH',
    below: ['tag-bindings'],
    body: tagBindingList(tags, missingId(context)),
    order: callOrder.tags,
    success: [200],
    permission: 'can-manage-tags',
  });
}

function replaceCall(address: Address, context: Context): Call | undefined {
  const { desired, live } = context;
  const tags = { ...foreignTags(live?.facts.direct, desired), ...asTags(desired.tags) };
  const relationships = { 'tag-bindings': tagBindingList(tags, ownershipTagAfter(address, context)) };
  const { isWritten, value } = assessmentsAfter(address, context);
  const repeated = repeatedAssessments(value);
  const isRead = !isWritten && Object.keys(repeated).length > 0;
  return workspaceCall(address, context, {
    suffix: 'replace',
    method: 'PATCH',
    body: workspaceBody(repeated, relationships),
    reliesOn: ['direct', ...(isRead ? ['assessmentsEnabled'] : [])],
    order: callOrder.tags,
    success: [200],
    permission: 'can-update',
    description: 'replaces all tag bindings of the workspace',
  });
}

/** The claim, where it has no id yet: the id is added when tags are written anyway. */
function missingId({ live, stack, stackId }: Context): string | undefined {
  const claim = live?.facts.claim;
  if (typeof claim !== 'string') return undefined;
  const after = withStackId(claim, stack, stackId);
  return after === claim ? undefined : after;
}

/** The claim that the workspace has after its own change, which is sent first. */
function ownershipTagAfter(address: Address, { peer, live, stack, stackId }: Context): string | undefined {
  const written = peer(workspaceOf(address)).fields.find(
    ({ path }) => path.length === 1 && path[0] === 'claim',
  );
  const claim: Json | undefined = written === undefined ? live?.facts.claim : written.after;
  return typeof claim === 'string' ? withStackId(claim, stack, stackId) : undefined;
}

interface AssessmentsAfter {
  /** by the workspace's own change; else it must still be as it was read */
  readonly isWritten: boolean;
  readonly value: Json | undefined;
}

/** The value that the workspace has after its own change, which is sent first; live may hide the declared value. */
function assessmentsAfter(address: Address, { peer, live, dialect }: Context): AssessmentsAfter {
  const { fields, desired, live: workspace } = peer(workspaceOf(address));
  const { assessmentsEnabled: declared } = desired ?? {};
  const written = (name: string) => fields.find(({ path }) => path[0] === name)?.after;
  const mode = written('executionMode') ?? workspace?.facts?.['modeAfter'] ?? live?.facts.executionMode;
  const kept = keptAssessments(live?.facts.assessmentsEnabled, { mode, dialect });
  return {
    isWritten: fields.some(({ path: [name] }) => name === 'assessmentsEnabled'),
    value: written('assessmentsEnabled') ?? declared ?? kept,
  };
}
