/**
 * The `include` parameter of show and list: which related resources travel with the workspaces.
 * Invariants: an unknown value is refused with 400, so that a client can tell a service that lacks an include from
 * workspaces that have nothing to include; a page costs one query for each included kind, however many workspaces it has.
 */
import { type Resource, withoutRepeats } from '../../json-api/document.ts';
import { badRequest } from '../../json-api/errors.ts';
import { type Query, queryList } from '../../json-api/query.ts';
import type { Services } from '../../services.ts';
import type { OrganizationRecord } from '../access.ts';
import { organizationResource } from '../related/organization.ts';
import { effectiveBindingResource, effectiveBindings } from '../tags/tag-bindings.ts';
import { type UserRow, userResource } from '../related/user.ts';
import type { WorkspaceRecord } from '../document/workspace-record.ts';

type Loader = (services: Services, records: readonly WorkspaceRecord[]) => Resource[];

/** What the service knows nothing about yet, or keeps no related resource for: allowed, and empty. */
const nothing: Loader = () => [];

const LOADERS: Readonly<Record<string, Loader>> = {
  current_configuration_version: nothing,
  'current_configuration_version.ingress_attributes': nothing,
  current_run: currentRuns,
  'current_run.configuration_version': currentRuns,
  'current_run.configuration_version.ingress_attributes': currentRuns,
  'current_run.plan': currentRuns,
  locked_by: lockers,
  organization: organizations,
  outputs: nothing,
  project: projects,
  readme: nothing,
};

/** An addition of this service to the spec's list; it alone also puts linkage into the workspaces. */
const EFFECTIVE_TAG_BINDINGS = 'effective_tag_bindings';

/** The includes a query asks for. @throws ApiError 400 for one that does not exist. */
export function requestedIncludes(query: Query): Set<string> {
  const names = queryList(query, 'include');
  const unknown = names.find((name) => name !== EFFECTIVE_TAG_BINDINGS && !Object.hasOwn(LOADERS, name));
  if (unknown !== undefined) {
    throw badRequest(`"${unknown}" is not a valid include parameter`, { parameter: 'include' });
  }
  return new Set(names);
}

export interface Included {
  readonly resources: readonly Resource[];
  /** By workspace id, when effective tag bindings were asked for. */
  readonly bindings?: ReadonlyMap<string, readonly Resource[]>;
}

export function includedResources(
  services: Services,
  includes: ReadonlySet<string>,
  records: readonly WorkspaceRecord[],
): Included {
  const related = [...includes].flatMap((name) => LOADERS[name]?.(services, records) ?? []);
  if (!includes.has(EFFECTIVE_TAG_BINDINGS)) return { resources: withoutRepeats(related) };
  const rows = effectiveBindings(
    services.database,
    records.map((record) => record.id),
  );
  const bindings = new Map(
    records.map((record) => [record.id, (rows.get(record.id) ?? []).map(effectiveBindingResource)]),
  );
  return { resources: withoutRepeats([...related, ...[...bindings.values()].flat()]), bindings };
}

/** The workspaces with the ids of their included tag bindings in the relationship. */
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

function organizations(services: Services, records: readonly WorkspaceRecord[]): Resource[] {
  const ids = records.map((record) => record.organization_id);
  return rowsByIds<OrganizationRecord>(services, 'organizations', ids).map(organizationResource);
}

function projects(services: Services, records: readonly WorkspaceRecord[]): Resource[] {
  const rows = rowsByIds<ProjectRow>(
    services,
    'projects',
    records.map((record) => record.project_id),
  );
  return rows.map((row) => ({
    id: row.id,
    type: 'projects',
    attributes: {
      name: row.name,
      description: row.description,
      'created-at': row.created_at,
      'auto-destroy-activity-duration': row.auto_destroy_activity_duration,
    },
    links: { self: `/api/v2/projects/${row.id}` },
  }));
}

function currentRuns(services: Services, records: readonly WorkspaceRecord[]): Resource[] {
  const ids = records.flatMap((record) => record.current_run_id ?? []);
  return rowsByIds<RunRow>(services, 'runs', ids).map((row) => ({
    id: row.id,
    type: 'runs',
    attributes: { status: row.status, 'created-at': row.created_at },
    relationships: { workspace: { data: { id: row.workspace_id, type: 'workspaces' } } },
  }));
}

/** Who locked the workspaces: users and teams; a run that holds a lock comes with `current_run`. */
function lockers(services: Services, records: readonly WorkspaceRecord[]): Resource[] {
  const idsOf = (type: string): string[] =>
    records.flatMap((record) => (record.locked_by_type === type ? (record.locked_by_id ?? []) : []));
  const users = rowsByIds<UserRow>(services, 'users', idsOf('users')).map(userResource);
  const teams = rowsByIds<IncludedTeamRow>(services, 'teams', idsOf('teams')).map((row) => ({
    id: row.id,
    type: 'teams',
    attributes: { name: row.name },
  }));
  return [...users, ...teams];
}

function rowsByIds<Row>(services: Services, table: string, ids: readonly string[]): Row[] {
  if (ids.length === 0) return [];
  return services.database.all<Row>(
    `SELECT * FROM ${table} WHERE id IN (SELECT value FROM json_each(:ids)) ORDER BY id`,
    { ids: JSON.stringify(ids) },
  );
}

interface ProjectRow {
  id: string;
  name: string;
  description: string | null;
  created_at: string;
  auto_destroy_activity_duration: string | null;
}

interface RunRow {
  id: string;
  workspace_id: string;
  status: string;
  created_at: string;
}

interface IncludedTeamRow {
  id: string;
  name: string;
}
