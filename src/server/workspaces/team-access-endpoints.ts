/** GET, POST, PATCH and DELETE of /team-workspaces and /team-projects: the same for both, except for the rights. */
import { GRANTABLE_PERMISSIONS, type Grantable } from './permissions.ts';
import { asObject, MemberReader, readResource } from '../kernel/request-body.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  created,
  type Endpoint,
  NO_CONTENT,
  ok,
  on,
  queryText,
} from '../kernel/endpoint.ts';
import { badRequest, conflict, invalid, notFound, type PointedProblem } from '../kernel/documents.ts';
import { pagedAnswer } from '../kernel/pagination.ts';
import { requireProject, requireProjectRight } from './project-record.ts';
import type { Services } from '../kernel/services.ts';
import { requireWorkspace } from './access.ts';
import { fromWireNames, problemInWireNames } from './workspace-request.ts';
import {
  accessById,
  type AccessKind,
  accessResource,
  type AccessRow,
  grantAccess,
  grantedText,
  PROJECT_ACCESS,
  readAccessAttributes,
  recordAccessEvent,
  TEAM_ACCESSES,
  WORKSPACE_ACCESS,
} from './team-access.ts';
import { teamsById } from './teams.ts';

export const TEAM_ACCESS_ENDPOINTS: readonly Endpoint[] = (['workspace', 'project'] as const).flatMap(
  (kind) => {
    const path = `/${TEAM_ACCESSES[kind].type}`;
    return [
      on('GET', path, (request) => list(request, kind)),
      on('POST', path, (request) => create(request, kind)),
      on('GET', `${path}/:access_id`, (request) => show(request, kind)),
      on('PATCH', `${path}/:access_id`, (request) => update(request, kind)),
      on('DELETE', `${path}/:access_id`, (request) => remove(request, kind)),
    ];
  },
);

/** `filter[workspace][id]` or `filter[project][id]` is required. */
function list(request: ApiRequest, kind: AccessKind): ApiAnswer {
  const filter = `filter[${kind}][id]`;
  const id = queryText(request.query, filter) ?? '';
  if (id === '') throw badRequest(`${filter} must be given`, { parameter: filter });
  requireThing(request, { kind, id, right: 'see' });
  const { columns, table, column } = TEAM_ACCESSES[kind];
  const query = {
    select: columns,
    from: `${table} a WHERE a.${column} = :id`,
    order: 'a.team_id',
    parameters: { id },
  };
  return pagedAnswer<AccessRow>(request, query, (rows) =>
    rows.map((row) => accessResource(kind, row, request.services.dialects.workspaces)),
  );
}

function show(request: ApiRequest, kind: AccessKind): ApiAnswer {
  const { row } = requireAccess(request, { kind, right: 'see' });
  return ok({ data: accessResource(kind, row, request.services.dialects.workspaces) });
}

function create(request: ApiRequest, kind: AccessKind): ApiAnswer {
  const { database } = request.services;
  const thingId = relatedId(request.body, kind) ?? '';
  const organizationId = requireThing(request, { kind, id: thingId, right: 'administer' });
  const teamId = relatedId(request.body, 'team');
  const [team] = teamsById(database, [teamId ?? '']);
  if (team?.organization_id !== organizationId) {
    const detail = 'The team does not exist in this organization';
    throw invalid([{ detail, pointer: '/data/relationships/team/data/id' }]);
  }
  const grant = readGrant(request.services, request.body, kind, undefined);
  if (find(request.services, kind, team.id, thingId) !== undefined) {
    throw conflict('The team has an access already: change that one');
  }
  grantAccess(database, kind, { teamId: team.id, thingId, ...grant });
  const row = requireFound(find(request.services, kind, team.id, thingId));
  recordAccessEvent(request, { kind, row, organizationId, action: 'add_team' });
  return created({ data: accessResource(kind, row, request.services.dialects.workspaces) });
}

function update(request: ApiRequest, kind: AccessKind): ApiAnswer {
  const { row: before, organizationId } = requireAccess(request, { kind, right: 'administer' });
  const grant = readGrant(request.services, request.body, kind, before);
  grantAccess(request.services.database, kind, {
    teamId: before.team_id,
    thingId: before.thing_id,
    ...grant,
  });
  const row = requireFound(accessById(request.services.database, kind, before.id));
  if (grantedText(row) !== grantedText(before)) {
    const action = 'update_team_permissions';
    recordAccessEvent(request, { kind, row, organizationId, action });
  }
  return ok({ data: accessResource(kind, row, request.services.dialects.workspaces) });
}

function remove(request: ApiRequest, kind: AccessKind): ApiAnswer {
  const { row, organizationId } = requireAccess(request, { kind, right: 'administer' });
  request.services.database.delete(TEAM_ACCESSES[kind].table, row.id);
  recordAccessEvent(request, { kind, row, organizationId, action: 'remove_team' });
  return NO_CONTENT;
}

type Right = 'see' | 'administer';

function requireAccess(
  request: ApiRequest,
  { kind, right }: { readonly kind: AccessKind; readonly right: Right },
): { readonly row: AccessRow; readonly organizationId: string } {
  const row = requireFound(accessById(request.services.database, kind, request.params['access_id'] ?? ''));
  return { row, organizationId: requireThing(request, { kind, id: row.thing_id, right }) };
}

/** @throws ApiError 404 */
function requireFound(row: AccessRow | undefined): AccessRow {
  if (row === undefined) throw notFound('Team access');
  return row;
}

/** Checks the right to the workspace or project with this id. @returns its organization's id @throws ApiError 404 without the right */
function requireThing(
  request: ApiRequest,
  { kind, id, right }: { readonly kind: AccessKind; readonly id: string; readonly right: Right },
): string {
  const thingRequest = { ...request, params: { [`${kind}_id`]: id } };
  if (kind === 'workspace') {
    const { workspace, permissions } = requireWorkspace(thingRequest);
    // A caller without all permissions of an admin could grant the missing ones to its own team.
    const isAdmin = GRANTABLE_PERMISSIONS.every((one) => permissions[one]);
    if (right === 'administer' && !isAdmin) throw notFound('Workspace');
    return workspace.organization_id;
  }
  return right === 'see'
    ? requireProject(thingRequest).project.organization_id
    : requireProjectRight(thingRequest, 'administer').organization_id;
}

function find(services: Services, kind: AccessKind, team: string, thing: string): AccessRow | undefined {
  const { columns, table, column } = TEAM_ACCESSES[kind];
  return services.database.get<AccessRow>(
    `SELECT ${columns} FROM ${table} a WHERE a.team_id = :team AND a.${column} = :thing`,
    { team, thing },
  );
}

/** @throws ApiError 422 with every problem */
function readGrant(
  { dialects: { workspaces: dialect } }: Services,
  body: unknown,
  kind: AccessKind,
  before: AccessRow | undefined,
): { access: string; permissions?: readonly Grantable[] } {
  const problems: PointedProblem[] = [];
  const { type, levels } = TEAM_ACCESSES[kind];
  const { attributes } = readResource(body, type, before?.id);
  const read = new MemberReader(attributes, AT, problems);
  const access = read.nullableWord('access', levels) ?? before?.access;
  if (access === undefined && problems.length === 0) read.refuse('access', 'access is required');
  const current = JSON.parse(before?.custom_permissions ?? '["can-read-run"]') as Grantable[];
  const groups = kind === 'workspace' ? [[WORKSPACE_ACCESS, attributes, AT] as const] : groupsOf(read);
  const permissions = groups.reduce((granted, [group, sent, at]) => {
    const members = fromWireNames(sent, dialect);
    return readAccessAttributes(group, new MemberReader(members, at, problems), members, granted);
  }, current);
  if (access === undefined || problems.length > 0)
    throw invalid(problems.map((problem) => problemInWireNames(problem, dialect)));
  return { access, ...(access === 'custom' && { permissions }) };
}

const AT = '/data/attributes';

/** The groups of attributes of a project access, each with its members in the body and their pointer. */
function groupsOf(read: MemberReader) {
  return Object.entries(PROJECT_ACCESS).map(
    ([name, group]) => [group, read.nullableObject(name) ?? {}, `${AT}/${name}`] as const,
  );
}

function relatedId(body: unknown, name: string): string | undefined {
  const relationships = asObject(asObject(asObject(body)?.['data'])?.['relationships']);
  const id = asObject(asObject(relationships?.[name])?.['data'])?.['id'];
  return typeof id === 'string' ? id : undefined;
}
