/** An organization as the API shows it: its settings, and what the caller may do there. Its JSON:API id is its name. */
import type { ServedDialects } from '../kernel/dialects.ts';
import type { Caller } from '../kernel/caller.ts';
import { type Relationship, type Resource, related } from '../kernel/documents.ts';
import type { Services } from '../kernel/services.ts';
import type { OrganizationRecord } from './access.ts';

/** The documents of these organizations for this caller. */
export function organizationResources(
  { database, dialects, edition }: Services,
  caller: Caller,
  records: readonly OrganizationRecord[],
): Resource[] {
  const ids = JSON.stringify(records.map(({ id }) => id));
  const among = 'organization_id IN (SELECT value FROM json_each(:ids))';
  const projects = database.all<{ id: string; organization_id: string }>(
    `SELECT id, organization_id FROM projects WHERE is_default = 1 AND ${among}`,
    { ids },
  );
  const policies = edition.dataRetentionPolicies
    ? database.all<PolicyRow>(
        `SELECT id, type, organization_id FROM data_retention_policies WHERE ${among}`,
        {
          ids,
        },
      )
    : [];
  return records.map((record) => {
    const isOf = ({ organization_id }: { readonly organization_id: string }) => organization_id === record.id;
    const resource = organizationResource(record, caller, projects.find(isOf)?.id ?? '');
    return {
      ...resource,
      attributes: { ...resource.attributes, ...settingsOf(record, dialects) },
      relationships: { ...resource.relationships, ...retentionPolicy(record, policies.find(isOf)) },
    };
  });
}

interface PolicyRow {
  id: string;
  type: string;
  organization_id: string;
}

/** The relationship to the policy; absent, not null, if no policy is set (wire/workspaces 1.5.10). */
function retentionPolicy(
  { name }: OrganizationRecord,
  policy: PolicyRow | undefined,
): Record<string, Relationship> {
  if (policy === undefined) return {};
  const related = `/api/v2/organizations/${name}/relationships/data-retention-policy`;
  return { 'data-retention-policy': { data: { id: policy.id, type: policy.type }, links: { related } } };
}

function settingsOf({ flags }: OrganizationRecord, { workspaces }: ServedDialects): Record<string, unknown> {
  const set = JSON.parse(flags) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(workspaces.organizationSettings).map(([name, { default: byDefault }]) => [
      name,
      name in set ? set[name] : byDefault,
    ]),
  );
}

function organizationResource(
  record: OrganizationRecord,
  caller: Caller,
  defaultProjectId: string,
): Resource {
  const pool = record.default_agent_pool_id;
  return {
    id: record.name,
    type: 'organizations',
    attributes: {
      name: record.name,
      email: record.email,
      'external-id': record.id,
      'created-at': record.created_at,
      'default-execution-mode': record.default_execution_mode,
      'allow-force-delete-workspaces': record.allow_force_delete_workspaces === 1,
      'assessments-enforced': record.assessments_enforced === 1,
      permissions: permissionsOf(record, caller),
    },
    relationships: {
      'default-project': related('projects', defaultProjectId),
      'default-agent-pool': related('agent-pools', pool),
    },
    links: { self: `/api/v2/organizations/${record.name}` },
  };
}

function permissionsOf(record: OrganizationRecord, caller: Caller): Record<string, boolean> {
  const rights = caller.organizations.get(record.id);
  return {
    'can-update': rights?.administer === true,
    'can-destroy': rights?.owner === true,
    'can-create-workspace': rights?.manageWorkspaces === true,
    'can-create-project': rights?.manageProjects === true,
    'can-create-team': rights?.administer === true,
    'can-update-ssh-keys': rights?.administer === true,
    'can-update-agent-pools': rights?.administer === true,
    'can-update-oauth': rights?.administer === true,
    'can-update-api-token': rights?.owner === true,
  };
}
