/**
 * The `include` parameter of show and list: the related resources in the answer.
 * Invariants: an unknown value is refused with 400, so that a client can distinguish a service that lacks an include from
 * workspaces that have nothing to include; a page costs one query for each included kind, however many workspaces it has.
 */
import { assessmentResultResource, currentAssessmentResults } from './assessment-results.ts';
import {
  configurationVersionResource,
  configurationVersionsById,
  ingressResources,
} from './configuration-version-record.ts';
import { type Permission, type WorkspacePermissions, workspacePermissions } from './permissions.ts';
import { type Resource, withoutRepeats } from '../kernel/documents.ts';
import { type ApiRequest, includesOf, type Query } from '../kernel/endpoint.ts';
import { logLink } from './runs.ts';
import { applyResource, planResource, type RunRow, runResource, runsById } from './run-record.ts';
import { organizationResources } from './organization-document.ts';
import { projectResource, projectsById } from './project-record.ts';
import { outputResource, outputsOf } from './state-outputs.ts';
import { stateVersionResources } from './state-version-document.ts';
import { stateVersionsById } from './state-version-record.ts';
import { teamResource, teamsById } from './teams.ts';
import { variableResource, variablesOf } from './variables.ts';
import { type OrganizationRecord, projectRights } from './access.ts';
import { readmeResource } from './workspace-relationships.ts';
import type { WorkspaceRecord } from './workspace-record.ts';

import { type UserRow, userResource } from './users.ts';
import { effectiveBindingResource, effectiveBindings } from './tag-bindings.ts';

interface IncludeContext {
  readonly request: ApiRequest;
  readonly records: readonly WorkspaceRecord[];
  readonly permissions: ReadonlyMap<string, WorkspacePermissions>;
}

type Loader = (context: IncludeContext) => Resource[];

const LOADERS: Readonly<Record<string, Loader>> = {
  current_assessment_result: assessmentResults,
  current_configuration_version: (context) => currentConfigurations(context).resources,
  'current_configuration_version.ingress_attributes': (context) => {
    const { resources, ingress } = currentConfigurations(context);
    return [...resources, ...ingress];
  },
  current_run: (context) => currentRuns(context).resources,
  'current_run.apply': (context) => {
    const { rows, resources } = currentRuns(context);
    const withApply = rows.filter((row) => row.plan_only === 0);
    return [...resources, ...withApply.map((row) => applyResource(row, logLinkOf(context, row, 'apply')))];
  },
  'current_run.configuration_version': (context) => {
    const { rows, resources } = currentRuns(context);
    return [...resources, ...configurationsOfRuns(context, rows).resources];
  },
  'current_run.configuration_version.ingress_attributes': (context) => {
    const { rows, resources } = currentRuns(context);
    const configurations = configurationsOfRuns(context, rows);
    return [...resources, ...configurations.resources, ...configurations.ingress];
  },
  'current_run.plan': (context) => {
    const { rows, resources } = currentRuns(context);
    return [...resources, ...rows.map((row) => planResource(row, logLinkOf(context, row, 'plan')))];
  },
  current_state_version: stateVersions,
  locked_by: lockHolders,
  organization: organizations,
  outputs,
  project: projects,
  readme: readmes,
  vars: variables,
};

function logLinkOf({ request }: IncludeContext, row: RunRow, phase: 'plan' | 'apply') {
  return logLink(request.services, request.origin, row, phase);
}

/** An addition to the spec's list; the only include that also adds resource linkage (`data`) to the workspaces. */
const EFFECTIVE_TAG_BINDINGS = 'effective_tag_bindings';

/** The includes of a query. @throws ApiError 400 for an unknown one */
export function requestedIncludes(query: Query): Set<string> {
  return includesOf(query, [...Object.keys(LOADERS), EFFECTIVE_TAG_BINDINGS]);
}

interface Included {
  readonly resources: readonly Resource[];
  /** By workspace id; absent unless effective tag bindings are included. */
  readonly bindings?: ReadonlyMap<string, readonly Resource[]>;
}

/** The included resources of these workspaces, as far as the caller may read them. */
export function includedResources(
  request: ApiRequest,
  includes: ReadonlySet<string>,
  records: readonly WorkspaceRecord[],
): Included {
  if (includes.size === 0) return { resources: [] };
  const permissions = workspacePermissions(request.services.database, request.caller, records);
  const context = { request, records, permissions };
  const related = [...includes].flatMap((name) => LOADERS[name]?.(context) ?? []);
  if (!includes.has(EFFECTIVE_TAG_BINDINGS)) return { resources: withoutRepeats(related) };
  const rows = effectiveBindings(
    request.services.database,
    records.map((record) => record.id),
  );
  const bindings = new Map(
    records.map((record) => [record.id, (rows.get(record.id) ?? []).map(effectiveBindingResource)]),
  );
  return { resources: withoutRepeats([...related, ...[...bindings.values()].flat()]), bindings };
}

/** The workspaces, with the ids of their included tag bindings in the relationship `effective-tag-bindings`. */
export function withLinkage(workspaces: readonly Resource[], included: Included): readonly Resource[] {
  const { bindings } = included;
  if (bindings === undefined) return workspaces;
  return workspaces.map((workspace) => {
    const own = bindings.get(workspace.id ?? '') ?? [];
    const data = own.map((binding) => ({ id: binding.id ?? '', type: binding.type }));
    const name = 'effective-tag-bindings';
    return {
      ...workspace,
      relationships: {
        ...workspace.relationships,
        [name]: { data, ...workspace.relationships?.[name] },
      },
    };
  });
}

/** The workspaces on which the caller has this permission. */
function readable({ records, permissions }: IncludeContext, permission: Permission): WorkspaceRecord[] {
  return records.filter((record) => permissions.get(record.id)?.[permission]);
}

function organizations({ request, records }: IncludeContext): Resource[] {
  const ids = records.map((record) => record.organization_id);
  const rows = request.services.database.byIds<OrganizationRecord>('organizations', ids);
  return organizationResources(request.services, request.caller, rows);
}

function projects({ request, records }: IncludeContext): Resource[] {
  const ids = records.map((record) => record.project_id);
  return projectsById(request.services.database, ids).map((row) =>
    projectResource(row, projectRights(request.services.database, request.caller, row)),
  );
}

function currentRuns({ request, records, permissions }: IncludeContext): {
  rows: RunRow[];
  resources: Resource[];
} {
  const ids = records.flatMap((record) => record.current_run_id ?? []);
  const rows = runsById(request.services.database, ids);
  const resources = runResources(request, permissions, rows);
  return { rows, resources };
}

function runResources(
  { services: { dialects } }: ApiRequest,
  permissions: IncludeContext['permissions'],
  rows: readonly RunRow[],
): Resource[] {
  return rows.map((row) => runResource(row, permissions.get(row.workspace_id), dialects.workspaces));
}

interface Configurations {
  readonly resources: Resource[];
  readonly ingress: Resource[];
}

function currentConfigurations({ request, records }: IncludeContext): Configurations {
  return configurationsById(
    request,
    records.map((record) => record.current_configuration_version_id),
  );
}

function configurationsOfRuns({ request }: IncludeContext, runs: readonly RunRow[]): Configurations {
  return configurationsById(
    request,
    runs.map((run) => run.configuration_version_id),
  );
}

function configurationsById({ services }: ApiRequest, ids: readonly (string | null)[]): Configurations {
  const rows = configurationVersionsById(
    services.database,
    ids.flatMap((id) => id ?? []),
  );
  return {
    resources: rows.map((row) => configurationVersionResource(row)),
    ingress: rows.flatMap(ingressResources),
  };
}

function stateVersions(context: IncludeContext): Resource[] {
  const { request, permissions } = context;
  const ids = readable(context, 'can-read-state-versions').flatMap(
    (record) => record.current_state_version_id ?? [],
  );
  const reader = { origin: request.origin, permissions };
  return stateVersionResources(request.services, reader, stateVersionsById(request.services.database, ids));
}

function outputs(context: IncludeContext): Resource[] {
  const ids = readable(context, 'can-read-state-outputs').flatMap(
    (record) => record.current_state_version_id ?? [],
  );
  return [...outputsOf(context.request.services.database, ids).values()]
    .flat()
    .map((row) => outputResource(row, { type: 'workspace-outputs' }));
}

function assessmentResults(context: IncludeContext): Resource[] {
  const ids = readable(context, 'can-read-assessment-results').map((record) => record.id);
  return [...currentAssessmentResults(context.request.services.database, ids).values()].map(
    assessmentResultResource,
  );
}

function variables(context: IncludeContext): Resource[] {
  const ids = readable(context, 'can-read-variable').map((record) => record.id);
  return [...variablesOf(context.request.services.database, ids).values()]
    .flat()
    .map((row) => variableResource(row, context.request.services.dialects.workspaces));
}

function readmes({ records }: IncludeContext): Resource[] {
  return records.flatMap(readmeResource);
}

/** The holders of the workspaces' locks: users, teams and runs. */
function lockHolders({ request, records, permissions }: IncludeContext): Resource[] {
  const idsOf = (type: string): string[] =>
    records.flatMap((record) => (record.locked_by_type === type ? (record.locked_by_id ?? []) : []));
  const users = request.services.database.byIds<UserRow>('users', idsOf('users')).map(userResource);
  const teams = teamsById(request.services.database, idsOf('teams')).map(teamResource);
  const runs = runResources(request, permissions, runsById(request.services.database, idsOf('runs')));
  return [...users, ...teams, ...runs];
}
