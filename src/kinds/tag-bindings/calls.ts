/**
 * The request that changes the tags of a workspace. Pure. Where the service can add and change single tags, that is how
 * pure additions go; anything else replaces the whole set, claim included, and so relies on the set that was read: there
 * is no way to delete one tag, and no way to write only if nobody else did (rule 14).
 */
import type { Address } from '../../model/resource/address.ts';
import type { Call } from '../../model/plan/call.ts';
import type { Change } from '../../model/plan/change.ts';
import type { Json } from '../../model/json/json.ts';
import type { CallContext, PlannedCalls } from '../../model/kind/kind.ts';
import { asTags, type Tags } from '../../services/workspaces/bound-tags.ts';
import { workspaceOf } from '../../services/workspaces/workspace-address.ts';
import {
  repeatedAssessments,
  tagBindingList,
  workspaceBody,
} from '../../services/workspaces/workspace-body.ts';
import { callId, callOrder, workspaceCall } from '../../services/workspaces/workspace-call.ts';
import { foreignTags } from './foreign-tags.ts';
import type { LiveTags } from './live-tags.ts';
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
  return {
    calls: [replaceCall(address, context)].filter((call) => call !== undefined),
    preconditions: ['direct'],
  };
}

/** The tags that are new or get another value; undefined when any is to go. Any text may be a key, also `__proto__`. */
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
    body: tagBindingList(tags),
    order: callOrder.tags,
    success: [200],
    permission: 'can-manage-tags',
  });
}

function replaceCall(address: Address, context: Context): Call | undefined {
  const { desired, live } = context;
  const tags = { ...foreignTags(live?.facts.direct, desired), ...asTags(desired.tags) };
  const relationships = { 'tag-bindings': tagBindingList(tags, claimAfter(address, context)) };
  return workspaceCall(address, context, {
    suffix: 'replace',
    method: 'PATCH',
    body: workspaceBody(repeatedAssessments(assessmentsAfter(address, context)), relationships),
    order: callOrder.tags,
    success: [200],
    permission: 'can-update',
    description: 'replaces all tag bindings of the workspace',
  });
}

/** The claim that the workspace bears once its own change, which is sent first, is carried out. */
function claimAfter(address: Address, { peer, live }: Context): string | undefined {
  const written = peer(workspaceOf(address)).fields.find(
    ({ path }) => path.length === 1 && path[0] === 'claim',
  );
  const claim: Json | undefined = written === undefined ? live?.facts.claim : written.after;
  return typeof claim === 'string' ? claim : undefined;
}

/** What the workspace's own change, which is sent first, leaves behind; what it declares may not show in live. */
function assessmentsAfter(address: Address, { peer, live }: Context): Json | undefined {
  const { fields, desired } = peer(workspaceOf(address));
  const { assessmentsEnabled: declared } = desired ?? {};
  const written = fields.find(({ path }) => path[0] === 'assessmentsEnabled');
  return written?.after ?? declared ?? live?.facts.assessmentsEnabled;
}
