/**
 * The fields with separate endpoints: SSH key, flat tags, data retention, lock. Makes their calls, and reads the retention
 * policy if the workspace has its own (wire/workspaces 1.5.10, 2.5).
 */
import { callOrder, flatTagList, workspaceBody, workspaceCall } from '../../api/workspaces/workspace-call.ts';
import { relatedId, type WorkspaceItem } from '../../api/workspaces/workspace.ts';
import type { Address } from '../../model/address.ts';
import type { Call } from '../../model/call.ts';
import { type Answer, describeAnswer } from '../../model/http.ts';
import { isJsonObject, type Json, type JsonObject, memberOf, textsOf } from '../../model/json.ts';
import type { Named } from '../../model/kind-specs.ts';
import type { Session } from '../../model/kind.ts';
import { quoted } from '../../model/quoted.ts';
import { lockFacts } from './lock.ts';
import type { ChangedField, ChangedFields } from './request-bodies.ts';
import type { RetentionPolicy, WorkspaceContext, WorkspaceFields } from './workspace-types.ts';

/** The calls for the fields of this file that change. On a new workspace, an empty field needs no call. */
export function separateEndpointCalls(
  address: Address,
  changed: ChangedFields,
  context: WorkspaceContext,
): Call[] {
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

/** 409 means that the workspace is locked already, which fulfils the manifest. */
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

/** Only for our own lock. @param order the position among the calls of the target: before a delete or a release, or with other locks */
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

// Reads and writes the data retention policy of a workspace. The document links only to the workspace's own policy. Without one,
// the endpoint would return the policy of the organization, so it is not read then (wire/workspaces 1.5.10, 2.5).

const DELETE_OLDER = 'data-retention-policy-delete-olders';
const DONT_DELETE = 'data-retention-policy-dont-deletes';

type RetentionAnswer =
  | { readonly policy: RetentionPolicy | null }
  | { readonly policy?: never; readonly problem: string };

/** `{ deleteOlderThanNDays }`, `{ dontDelete: true }`, or null for none; sends a request only when there is one. */
export async function readRetention({ reader }: Session, item: WorkspaceItem): Promise<RetentionAnswer> {
  if (!hasRetention(item)) return { policy: null };
  const answer = await reader.get(
    `/workspaces/${encodeURIComponent(item.id)}/relationships/data-retention-policy`,
  );
  const policy = policyOf(answer);
  if (policy !== undefined) return { policy };
  return {
    problem: `the data retention policy of workspace ${quoted(item.name)} was not read: ${describeAnswer(answer)}`,
  };
}

export function hasRetention(item: WorkspaceItem): boolean {
  return relatedId(item, 'data-retention-policy') !== null;
}

function policyOf({ status, body }: Answer): RetentionPolicy | null | undefined {
  if (status === 404) return null;
  const data = status === 200 ? memberOf(body, 'data') : undefined;
  if (!isJsonObject(data)) return undefined;
  const { type, attributes } = data;
  if (type === DONT_DELETE) return { dontDelete: true };
  const days = memberOf(attributes, 'delete-older-than-n-days');
  return typeof days === 'number' ? { deleteOlderThanNDays: days } : undefined;
}

/** The body that sets a policy. */
function retentionBody({ deleteOlderThanNDays: days }: Named<RetentionPolicy>): JsonObject {
  if (days === undefined) return { data: { type: DONT_DELETE, attributes: {} } };
  return { data: { type: DELETE_OLDER, attributes: { 'delete-older-than-n-days': days } } };
}
