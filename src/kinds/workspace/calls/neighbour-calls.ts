/** Makes the calls of fields with endpoints of their own: SSH key, flat tags, retention, lock. */
import type { Address } from '../../../model/resource/address.ts';
import type { Call } from '../../../model/plan/call.ts';
import { isJsonObject, type Json, type JsonObject, memberOf, textsOf } from '../../../model/json/json.ts';
import { flatTagList, workspaceBody } from '../../../services/workspaces/workspace-body.ts';
import { callOrder, workspaceCall } from '../../../services/workspaces/workspace-call.ts';
import type { ChangedField, ChangedFields } from './changed-fields.ts';
import { lockFacts } from '../lock.ts';
import { retentionBody } from '../read/retention.ts';
import type { WorkspaceContext, WorkspaceFields } from '../workspace-types.ts';

/** Calls for the changed ones of these fields; on a new workspace an empty field needs no call. */
export function neighbourCalls(address: Address, changed: ChangedFields, context: WorkspaceContext): Call[] {
  const callsOfField: readonly (readonly [
    keyof WorkspaceFields,
    (change: ChangedField) => (Call | undefined)[],
  ])[] = [
    ['sshKeyId', ({ after }) => [sshKeyCall(address, context, after ?? null)]],
    ['tagNames', (change) => (createsFlatTags(context) ? [] : tagNameCalls(address, context, change))],
    ['dataRetentionPolicy', ({ after }) => [retentionCall(address, context, after ?? null)]],
    [
      'lock',
      ({ after }) => [after === null ? unlockCall(address, context) : lockCall(address, context, after)],
    ],
  ];
  return callsOfField.flatMap(([name, make]) => {
    const change = changed.get(name);
    const idle = change === undefined || (context.live === undefined && change.after === null);
    return idle ? [] : make(change).filter((call) => call !== undefined);
  });
}

/** Whether the create itself holds the flat tags, so that it can stay a single request. */
export function createsFlatTags({ live, dialect }: WorkspaceContext): boolean {
  return live === undefined && dialect.capabilities.has('flat-tags-on-create');
}

function sshKeyCall(address: Address, context: WorkspaceContext, key: Json): Call | undefined {
  return workspaceCall(address, context, {
    suffix: 'ssh-key',
    method: 'PATCH',
    below: ['relationships', 'ssh-key'],
    body: workspaceBody({ id: key }),
    order: callOrder.tags,
    success: [200],
    permission: 'can-update',
    writes: ['sshKeyId'],
  });
}

function tagNameCalls(
  address: Address,
  context: WorkspaceContext,
  { before, after }: ChangedField,
): (Call | undefined)[] {
  const [old, now] = [textsOf(before), textsOf(after)];
  const call = (suffix: string, method: 'POST' | 'DELETE', names: readonly string[]) =>
    names.length === 0
      ? undefined
      : workspaceCall(address, context, {
          suffix,
          method,
          below: ['relationships', 'tags'],
          body: flatTagList(names),
          order: callOrder.tags,
          success: [204],
          permission: 'can-manage-tags',
          ...(method === 'POST' ? { writes: ['tagNames'] } : { takesFrom: ['tagNames'] }),
        });
  return [
    call(
      'add-tag-names',
      'POST',
      now.filter((name) => !old.includes(name)),
    ),
    call(
      'remove-tag-names',
      'DELETE',
      old.filter((name) => !now.includes(name)),
    ),
  ];
}

function retentionCall(address: Address, context: WorkspaceContext, policy: Json): Call | undefined {
  const below = ['relationships', 'data-retention-policy'];
  const shape = {
    suffix: 'data-retention-policy',
    below,
    order: callOrder.tags,
    permission: 'can-update',
    writes: ['dataRetentionPolicy'],
  } as const;
  if (!isJsonObject(policy)) {
    // 404: the call was repeated after a lost answer, and the policy is gone already.
    return workspaceCall(address, context, { ...shape, method: 'DELETE', success: [200, 204, 404] });
  }
  const body = retentionBody(policy);
  const refusalHints = { 404: noRetention };
  const success = [200, 201, 204];
  return workspaceCall(address, context, { ...shape, method: 'POST', body, success, refusalHints });
}

const noRetention =
  'the hosted edition of the service has no data retention policies: if this is one, remove "dataRetentionPolicy"';

/** 409 means that somebody has locked it already, which fulfils the manifest (rule 18). */
function lockCall(address: Address, context: WorkspaceContext, lock: Json | undefined): Call | undefined {
  return workspaceCall(address, context, {
    suffix: 'lock',
    method: 'POST',
    below: ['actions', 'lock'],
    body: lockBody(lock),
    order: callOrder.lock,
    success: [200],
    already: [409],
    permission: 'can-lock',
    writes: ['lock'],
  });
}

function lockBody(lock: Json | undefined): JsonObject {
  return { reason: memberOf(lock, 'reason') ?? '' };
}

/** Only for a lock of our own. @param order position among the calls of the target, before a delete or not */
export function unlockCall(
  address: Address,
  context: WorkspaceContext,
  order: number = callOrder.lock,
): Call | undefined {
  return workspaceCall(address, context, {
    suffix: 'unlock',
    method: 'POST',
    below: ['actions', 'unlock'],
    order,
    success: [200],
    permission: 'can-unlock',
    writes: ['lock'],
    reliesOn: lockFacts,
  });
}
