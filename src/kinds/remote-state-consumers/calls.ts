/**
 * Makes the calls that change who may read a state. Pure. They add consumers or remove them, so that two writers never erase each
 * other's consumers. Only when global sharing ends, a call replaces the list, because it was unknown before.
 */
import type { Address } from '../../model/address.ts';
import type { Call, CallObject, IdReference } from '../../model/call.ts';
import type { Change } from '../../model/change.ts';
import type { Json } from '../../model/json.ts';
import type { CallContext, PlannedCalls } from '../../model/kind-calls.ts';
import { workspaceOf } from '../../api/workspaces/workspace.ts';
import {
  callId,
  callOrder,
  type WorkspaceCallDraft,
  workspaceCall,
} from '../../api/workspaces/workspace-call.ts';
import { consumersOf, edgesOf, type LiveConsumers } from './read.ts';
import type { RemoteStateConsumersSpec } from './schema.ts';

type Context = CallContext<RemoteStateConsumersSpec, LiveConsumers>;

export function calls({ address, fields }: Change, context: Context): PlannedCalls {
  const { action } = context.peer(workspaceOf(address));
  if (fields.length === 0 || (context.live === undefined && action !== 'create')) return { calls: [] };
  const planned = endsGlobalSharing(address, context)
    ? [replaceCall(address, context)]
    : edgeCalls(address, context);
  const calls = planned.filter((call) => call !== undefined);
  // A new workspace has no consumers, so its creation alone carries out an empty list.
  const isDoneByCreation = calls.length === 0 && action === 'create';
  return { calls, ...(isDoneByCreation ? { sharedCall: callId(workspaceOf(address), 'create') } : {}) };
}

function endsGlobalSharing(address: Address, context: Context): boolean {
  return sharingAfter(address, context) === false && context.live?.facts.global === true;
}

/** The value of global sharing that this plan sets; undefined when it does not change it. */
function sharingAfter(address: Address, { peer }: Context): Json | undefined {
  return peer(workspaceOf(address)).fields.find(({ path }) => path[0] === 'globalRemoteState')?.after;
}

function replaceCall(address: Address, context: Context): Call | undefined {
  const consumers = consumersOf(context.desired).flatMap((name) => idOf(address, context, name) ?? []);
  return consumersCall(address, context, {
    suffix: 'replace',
    method: 'PATCH',
    body: { data: consumers.map(asConsumer) },
    needs: [callId(workspaceOf(address), 'update')],
    description: 'replaces all consumers',
  });
}

function edgeCalls(address: Address, context: Context): (Call | undefined)[] {
  const edges = edgesOf(context.live?.facts.edges);
  const wanted = consumersOf(context.desired).flatMap(
    (name) => idOf(address, context, name) ?? edges.get(name) ?? [],
  );
  const present = new Set(edges.values());
  const added = wanted.filter((id) => typeof id !== 'string' || !present.has(id));
  const kept = new Set(wanted);
  const removed = [...present].filter((id) => !kept.has(id));
  const call = (suffix: string, method: 'POST' | 'DELETE', ids: readonly (string | IdReference)[]) =>
    ids.length === 0
      ? undefined
      : consumersCall(address, context, {
          suffix,
          method,
          body: { data: ids.map(asConsumer) },
          ...(method === 'POST' ? { writes: ['consumers'] } : { takesFrom: ['consumers'] }),
        });
  return [call('add', 'POST', added), call('remove', 'DELETE', removed)];
}

/** The id of a consumer, or a reference when this plan creates it; undefined when it does not exist, which the plan reports. */
function idOf(address: Address, context: Context, name: string): string | IdReference | undefined {
  return context.idOf({ ...workspaceOf(address), name });
}

function asConsumer(id: string | IdReference): CallObject {
  return { type: 'workspaces', id };
}

/** While a state is shared globally, the service refuses changes of the list: send them before sharing starts (wire/workspaces 5.5). */
function consumersCall(
  address: Address,
  context: Context,
  request: Omit<WorkspaceCallDraft, 'below' | 'order' | 'success' | 'permission'>,
): Call | undefined {
  const startsSharing = sharingAfter(address, context) === true;
  return workspaceCall(address, context, {
    ...request,
    below: ['relationships', 'remote-state-consumers'],
    order: startsSharing ? callOrder.beforeWorkspace : callOrder.consumers,
    success: [204],
    permission: 'can-update',
  });
}
