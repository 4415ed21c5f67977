/**
 * How long a workspace's data is kept: GET, POST, PATCH and DELETE …/relationships/data-retention-policy.
 * Invariant: a workspace has at most one policy of its own; without one the organization's default shows through.
 */
import type { SqlParameters } from '../../data-file/database.ts';
import { newId } from '../../identifiers.ts';
import { asObject, MemberReader } from '../../json-api/body.ts';
import type { Resource } from '../../json-api/document.ts';
import { type ApiAnswer, type ApiRequest, NO_CONTENT, ok } from '../../json-api/endpoint.ts';
import { invalid, notFound, type PointedProblem } from '../../json-api/errors.ts';
import type { Services } from '../../services.ts';
import { requireWorkspace } from '../access.ts';
import type { WorkspaceRecord } from '../document/workspace-record.ts';

export const DELETE_OLDERS = 'data-retention-policy-delete-olders';
export const DONT_DELETES = 'data-retention-policy-dont-deletes';
/** The name that the first self-hosted releases used for the policy that deletes. */
const LEGACY_DELETE_OLDERS = 'data-retention-policies';

interface PolicyRow {
  id: string;
  type: string;
  delete_older_than_n_days: number | null;
}

export function showRetentionPolicy(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request);
  const policy =
    findPolicy(services, 'workspace_id = :id', workspace.id) ??
    findPolicy(services, 'organization_id = :id', workspace.organization_id);
  if (policy === undefined) throw notFound('Data retention policy');
  return ok({ data: policyResource(policy) });
}

/** POST and PATCH: creates the policy or replaces it, also by one of the other type. */
export function putRetentionPolicy(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-update');
  const before = findPolicy(services, 'workspace_id = :id', workspace.id);
  const columns = requestedPolicy(request.body, before);
  const id = before?.id ?? newId('drp');
  const change = { id, days: columns.delete_older_than_n_days };
  if (before === undefined) {
    const row = { id, workspace_id: workspace.id, ...columns, created_at: services.now().toISOString() };
    services.database.insert('data_retention_policies', row);
    recordPolicyEvent(services, request, workspace, { ...change, action: 'create' });
  } else if (services.database.update('data_retention_policies', id, columns)) {
    recordPolicyEvent(services, request, workspace, { ...change, action: 'update' });
  }
  return ok({ data: policyResource({ id, ...columns }) });
}

export function deleteRetentionPolicy(services: Services, request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(services, request, 'can-update');
  const policy = findPolicy(services, 'workspace_id = :id', workspace.id);
  if (policy === undefined) throw notFound('Data retention policy');
  services.database.run('DELETE FROM data_retention_policies WHERE id = :id', { id: policy.id });
  recordPolicyEvent(services, request, workspace, {
    id: policy.id,
    action: 'destroy',
    days: policy.delete_older_than_n_days,
  });
  return NO_CONTENT;
}

function findPolicy(services: Services, condition: string, id: string): PolicyRow | undefined {
  return services.database.get<PolicyRow>(
    `SELECT id, type, delete_older_than_n_days FROM data_retention_policies WHERE ${condition}`,
    { id },
  );
}

function policyResource(policy: PolicyRow): Resource {
  const days = policy.delete_older_than_n_days;
  return {
    id: policy.id,
    type: policy.type,
    attributes: days === null ? {} : { 'delete-older-than-n-days': days },
  };
}

type PolicyColumns = SqlParameters & { type: string; delete_older_than_n_days: number | null };

/** A PATCH may leave the number of days out; it then stays as it was. */
function requestedPolicy(body: unknown, before: PolicyRow | undefined): PolicyColumns {
  const data = asObject(asObject(body)?.['data']);
  const type = data?.['type'];
  if (type === DONT_DELETES) return { type: DONT_DELETES, delete_older_than_n_days: null };
  if (type !== DELETE_OLDERS && type !== LEGACY_DELETE_OLDERS) {
    const detail = `type must be "${DELETE_OLDERS}" or "${DONT_DELETES}"`;
    throw invalid([{ detail, pointer: '/data/type' }]);
  }
  const problems: PointedProblem[] = [];
  const read = new MemberReader(asObject(data?.['attributes']) ?? {}, '/data/attributes', problems);
  const days =
    read.positiveInteger('delete-older-than-n-days') ?? before?.delete_older_than_n_days ?? undefined;
  if (days === undefined && problems.length === 0) {
    read.refuse('delete-older-than-n-days', 'delete-older-than-n-days is required');
  }
  if (days === undefined || problems.length > 0) throw invalid(problems);
  return { type: DELETE_OLDERS, delete_older_than_n_days: days };
}

interface PolicyChange {
  readonly id: string;
  readonly action: 'create' | 'update' | 'destroy';
  readonly days: number | null;
}

function recordPolicyEvent(
  services: Services,
  request: ApiRequest,
  workspace: WorkspaceRecord,
  change: PolicyChange,
): void {
  services.recordEvent({
    organizationId: workspace.organization_id,
    actor: request.caller,
    requestId: request.requestId,
    resource: { id: change.id, type: 'data_retention_policy', action: change.action },
    meta: {
      ...(change.days === null ? {} : { delete_older_than_n_days: change.days }),
      organization: workspace.organization_name,
      organization_id: workspace.organization_id,
    },
  });
}
