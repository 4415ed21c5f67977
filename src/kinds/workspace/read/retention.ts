/**
 * Reads and writes the data retention policy of a workspace. The document has a link only to a policy of its own. Without one,
 * the endpoint would answer the organization's policy, so it is not read then (wire/workspaces 1.5.10, 2.5).
 */
import { isJsonObject, type JsonObject, memberOf } from '../../../model/json/json.ts';
import type { Session } from '../../../model/kind/kind.ts';
import type { Named } from '../../../model/kind/spec-types.ts';
import { type Answer, describeAnswer } from '../../../model/wire.ts';
import { quoted } from '../../../model/quoted.ts';
import { relatedId, type WorkspaceItem } from '../../../services/workspaces/workspace-item.ts';
import type { RetentionPolicy } from '../workspace-types.ts';

const DELETE_OLDER = 'data-retention-policy-delete-olders';
const DONT_DELETE = 'data-retention-policy-dont-deletes';

type RetentionAnswer =
  | { readonly policy: RetentionPolicy | null }
  | { readonly policy?: never; readonly problem: string };

/** `{ deleteOlderThanNDays }`, `{ dontDelete: true }`, or null for none; sends a request only when there is one. */
export async function readRetention({ reader }: Session, item: WorkspaceItem): Promise<RetentionAnswer> {
  if (relatedId(item, 'data-retention-policy') === null) return { policy: null };
  const answer = await reader.get(
    `/workspaces/${encodeURIComponent(item.id)}/relationships/data-retention-policy`,
  );
  const policy = policyOf(answer);
  if (policy !== undefined) return { policy };
  return {
    problem: `the data retention policy of workspace ${quoted(item.name)} was not read: ${describeAnswer(answer)}`,
  };
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
export function retentionBody({ deleteOlderThanNDays: days }: Named<RetentionPolicy>): JsonObject {
  if (days === undefined) return { data: { type: DONT_DELETE, attributes: {} } };
  return { data: { type: DELETE_OLDER, attributes: { 'delete-older-than-n-days': days } } };
}
