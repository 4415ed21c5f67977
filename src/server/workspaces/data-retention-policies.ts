/**
 * How long data is kept: GET, POST, PATCH and DELETE …/relationships/data-retention-policy of a workspace and of an
 * organization (wire/workspaces 2.5). Each has at most one policy; a workspace without one shows the organization's.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import type { SqlParameters } from '../kernel/database.ts';
import { invalid, notFound, type PointedProblem, type Resource } from '../kernel/documents.ts';
import { type ApiAnswer, type ApiRequest, NO_CONTENT, ok } from '../kernel/endpoint.ts';
import { newId } from '../kernel/identifiers.ts';
import { asObject, MemberReader } from '../kernel/request-body.ts';
import type { Services } from '../kernel/services.ts';
import { requireOrganization, requireOrganizationRight, requireWorkspace } from './access.ts';

export const DELETE_OLDERS = 'data-retention-policy-delete-olders';
export const DONT_DELETES = 'data-retention-policy-dont-deletes';
/** The name that the first self-hosted releases used for the policy that deletes. */
const LEGACY_DELETE_OLDERS = 'data-retention-policies';

interface PolicyRow {
  id: string;
  type: string;
  delete_older_than_n_days: number | null;
}

/** The owner of the policy; the caller's right was checked before. */
interface Holder {
  readonly column: 'workspace_id' | 'organization_id';
  readonly id: string;
  readonly organization: { readonly id: string; readonly name: string };
}

function requireWorkspaceHolder(request: ApiRequest): Holder {
  const { workspace } = requireWorkspace(request, 'can-update');
  const organization = { id: workspace.organization_id, name: workspace.organization_name };
  return { column: 'workspace_id', id: workspace.id, organization };
}

export function showRetentionPolicy(request: ApiRequest): ApiAnswer {
  const { workspace } = requireWorkspace(request);
  return showPolicy(
    findPolicy(request.services, 'workspace_id', workspace.id) ??
      findPolicy(request.services, 'organization_id', workspace.organization_id),
  );
}

/** POST and PATCH. */
export function putRetentionPolicy(request: ApiRequest): ApiAnswer {
  return putPolicy(request, requireWorkspaceHolder(request));
}

export function deleteRetentionPolicy(request: ApiRequest): ApiAnswer {
  return deletePolicy(request, requireWorkspaceHolder(request));
}

/** @throws ApiError 404 when there is no policy */
function showPolicy(policy: PolicyRow | undefined): ApiAnswer {
  if (policy === undefined) throw notFound('Data retention policy');
  return ok({ data: policyResource(policy) });
}

/** Creates or replaces the policy; the new one may have the other type. @throws ApiError 422 */
function putPolicy(request: ApiRequest, holder: Holder): ApiAnswer {
  const before = findPolicy(request.services, holder.column, holder.id);
  const columns = requestedPolicy(request.body, before);
  const id = before?.id ?? newId('drp');
  const change = { id, days: columns.delete_older_than_n_days };
  if (before === undefined) {
    const row = {
      id,
      [holder.column]: holder.id,
      ...columns,
      created_at: request.services.now().toISOString(),
    };
    request.services.database.insert('data_retention_policies', row);
    recordPolicyEvent(request, holder, { ...change, action: 'create' });
  } else if (request.services.database.update('data_retention_policies', id, columns)) {
    recordPolicyEvent(request, holder, { ...change, action: 'update' });
  }
  return ok({ data: policyResource({ id, ...columns }) });
}

/** @throws ApiError 404 when there is no policy */
function deletePolicy(request: ApiRequest, holder: Holder): ApiAnswer {
  const policy = findPolicy(request.services, holder.column, holder.id);
  if (policy === undefined) throw notFound('Data retention policy');
  request.services.database.delete('data_retention_policies', policy.id);
  recordPolicyEvent(request, holder, {
    id: policy.id,
    action: 'destroy',
    days: policy.delete_older_than_n_days,
  });
  return NO_CONTENT;
}

/** The holder's own policy. */
function findPolicy(services: Services, column: Holder['column'], id: string): PolicyRow | undefined {
  return services.database.get<PolicyRow>(
    `SELECT id, type, delete_older_than_n_days FROM data_retention_policies WHERE ${column} = :id`,
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

/** A PATCH without the number of days keeps the current number. */
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

function recordPolicyEvent(request: ApiRequest, { organization }: Holder, change: PolicyChange): void {
  const about = { id: change.id, organization_id: organization.id };
  recordEvent(request, `data_retention_policy.${change.action}`, about, {
    delete_older_than_n_days: change.days ?? undefined,
    organization: organization.name,
    organization_id: organization.id,
  });
}

// The retention policy of an organization, for workspaces without their own (wire/workspaces 2.5).

export function showOrganizationPolicy(request: ApiRequest): ApiAnswer {
  const { organization } = requireOrganization(request);
  return showPolicy(findPolicy(request.services, 'organization_id', organization.id));
}

/** POST and PATCH. */
export function putOrganizationPolicy(request: ApiRequest): ApiAnswer {
  return putPolicy(request, requireOrganizationHolder(request));
}

export function deleteOrganizationPolicy(request: ApiRequest): ApiAnswer {
  return deletePolicy(request, requireOrganizationHolder(request));
}

function requireOrganizationHolder(request: ApiRequest): Holder {
  const organization = requireOrganizationRight(request, 'administer');
  return { column: 'organization_id', id: organization.id, organization };
}
