// A call of each endpoint besides those of workspaces, with the column of the table of rights that allows it, and the status of
// the response in that case. Ids are those of the world (world.ts).

import { identifiers } from '../serve-for-test.ts';
import { RETENTION_POLICY } from './operations.ts';
import type { Ids } from './world.ts';

export interface NeighbourOperation {
  /** such as `PATCH /teams/:team_id`, as in the service's table of endpoints */
  readonly endpoint: string;
  readonly column: string;
  readonly allowed: number;
  /** selects another element of a collection than the first one: `teams: 'owners'` */
  readonly of?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: (ids: Ids) => unknown;
}

type Attributes = Readonly<Record<string, unknown>>;

function resource(type: string, attributes: Attributes, related: Readonly<Record<string, unknown>> = {}) {
  const relationships = Object.fromEntries(Object.entries(related).map(([name, data]) => [name, { data }]));
  return () => ({ data: { type, attributes, relationships } });
}

const named = (type: string) => resource(type, { name: 'by-somebody' });
const binding = () => ({ data: [{ type: 'tag-bindings', attributes: { key: 'by', value: 'somebody' } }] });
const reading = (column: string, ...paths: readonly string[]): NeighbourOperation[] =>
  paths.map((path) => ({ endpoint: `GET ${path}`, column, allowed: 200 }));

const ORGANIZATION = '/organizations/:organization_name';
const RETENTION = `${ORGANIZATION}/relationships/data-retention-policy`;
const PROJECT = '/projects/:project_id';
const TEAM = '/teams/:team_id';
const WORKSPACE = '/workspaces/:workspace_id';
const RUN = '/runs/:run_id';
const STATE = '/state-versions/:state_version_id';
const CONFIGURATION = '/configuration-versions/:configuration_version_id';
const VARIABLE = `${WORKSPACE}/vars/:variable_id`;

const ORGANIZATIONS: readonly NeighbourOperation[] = [
  { endpoint: 'GET /ping', column: 'known', allowed: 204 },
  { endpoint: 'GET /organizations', column: 'known', allowed: 200 },
  ...reading('trail', '/organization/audit-trail'),
  { endpoint: 'POST /organizations', column: 'found', allowed: 201, body: named('organizations') },
  ...reading('belong', ORGANIZATION, `${ORGANIZATION}/entitlement-set`, `${ORGANIZATION}/stacks`),
  ...reading('belong', `${ORGANIZATION}/tags`, '/users/:user_id'),
  {
    endpoint: `PATCH ${ORGANIZATION}`,
    column: 'administer',
    allowed: 200,
    body: resource('organizations', { email: 'somebody@example.com' }),
  },
  { endpoint: `DELETE ${ORGANIZATION}`, column: 'own', allowed: 204 },
  ...reading('belong', RETENTION),
  { endpoint: `POST ${RETENTION}`, column: 'administer', allowed: 200, body: () => RETENTION_POLICY },
  { endpoint: `PATCH ${RETENTION}`, column: 'administer', allowed: 200, body: () => RETENTION_POLICY },
  { endpoint: `DELETE ${RETENTION}`, column: 'administer', allowed: 204 },
  {
    endpoint: `DELETE ${ORGANIZATION}/tags`,
    column: 'organize',
    allowed: 204,
    body: ({ tags }) => identifiers([tags ?? ''], 'tags'),
  },
  {
    endpoint: 'POST /tags/:tag_id/relationships/workspaces',
    column: 'tags',
    allowed: 204,
    body: () => identifiers(['ws-free']),
  },
];

const PROJECTS: readonly NeighbourOperation[] = [
  ...reading('belong', `${ORGANIZATION}/projects`),
  { endpoint: `POST ${ORGANIZATION}/projects`, column: 'create', allowed: 201, body: named('projects') },
  ...reading('view', PROJECT, `${PROJECT}/tag-bindings`, `${PROJECT}/relationships/tag-bindings`),
  ...reading('view', `${PROJECT}/effective-tag-bindings`),
  { endpoint: `PATCH ${PROJECT}`, column: 'project', allowed: 200, body: named('projects') },
  // Principals with the right to delete it get 409, because it has workspaces.
  { endpoint: `DELETE ${PROJECT}`, column: 'drop-project', allowed: 409 },
  { endpoint: `DELETE ${PROJECT}`, column: 'drop-empty', allowed: 204, of: { projects: 'empty' } },
  { endpoint: `PATCH ${PROJECT}/tag-bindings`, column: 'project', allowed: 200, body: binding },
  { endpoint: `POST ${PROJECT}/relationships/tag-bindings`, column: 'project', allowed: 204, body: binding },
  { endpoint: `PATCH ${PROJECT}/relationships/tag-bindings`, column: 'project', allowed: 204, body: binding },
];

function accessesOf(kind: 'workspace' | 'project', id: string, column: string): NeighbourOperation[] {
  const type = `team-${kind}s`;
  const access = (related = {}) => resource(type, { access: 'admin' }, related)();
  return [
    { endpoint: `GET /${type}`, column: 'view', allowed: 200, query: `?filter[${kind}][id]=${id}` },
    {
      endpoint: `POST /${type}`,
      column,
      allowed: 201,
      body: ({ teams }) =>
        access({ [kind]: { type: `${kind}s`, id }, team: { type: 'teams', id: teams ?? '' } }),
    },
    ...reading('view', `/${type}/:access_id`),
    { endpoint: `PATCH /${type}/:access_id`, column, allowed: 200, body: () => access() },
    { endpoint: `DELETE /${type}/:access_id`, column, allowed: 204 },
  ];
}

const ofOwners = { of: { teams: 'owners' } } as const;
const member = () => identifiers(['member'], 'users');

const TEAMS: readonly NeighbourOperation[] = [
  ...reading('belong', `${ORGANIZATION}/teams`, TEAM),
  { endpoint: `POST ${ORGANIZATION}/teams`, column: 'administer', allowed: 201, body: named('teams') },
  { endpoint: `PATCH ${TEAM}`, column: 'administer', allowed: 200, body: named('teams') },
  // Not even an owner can rename or delete the team of the owners.
  { endpoint: `PATCH ${TEAM}`, column: 'own', allowed: 422, ...ofOwners, body: named('teams') },
  { endpoint: `DELETE ${TEAM}`, column: 'administer', allowed: 204 },
  { endpoint: `DELETE ${TEAM}`, column: 'own', allowed: 409, ...ofOwners },
  { endpoint: `POST ${TEAM}/relationships/users`, column: 'administer', allowed: 204, body: member },
  { endpoint: `POST ${TEAM}/relationships/users`, column: 'own', allowed: 204, ...ofOwners, body: member },
  { endpoint: `DELETE ${TEAM}/relationships/users`, column: 'administer', allowed: 204, body: member },
  { endpoint: `DELETE ${TEAM}/relationships/users`, column: 'own', allowed: 204, ...ofOwners, body: member },
  ...accessesOf('workspace', 'ws-free', 'grant'),
  ...accessesOf('project', 'prj-platform', 'project'),
];

function tokensOf(
  of: string,
  column: string,
  which: Pick<NeighbourOperation, 'of'> = {},
): NeighbourOperation[] {
  const path = `${of}/authentication-token`;
  return [
    { endpoint: `GET ${path}`, column, allowed: 200, ...which },
    { endpoint: `POST ${path}`, column, allowed: 201, ...which },
    { endpoint: `DELETE ${path}`, column, allowed: 204, ...which },
  ];
}

/** Tokens of a team besides its main one; `ids` of the world has one by the name of its team. */
function describedTokensOf(column: string, which: Pick<NeighbourOperation, 'of'> = {}): NeighbourOperation[] {
  const one = '/authentication-tokens/:token_id';
  const of = which.of && { of: { ...which.of, 'authentication-tokens': 'owners' } };
  const body = resource('authentication-tokens', { description: 'by somebody' });
  return [
    { endpoint: `POST ${TEAM}/authentication-tokens`, column, allowed: 201, ...which, body },
    { endpoint: `GET ${one}`, column, allowed: 200, ...of },
    { endpoint: `DELETE ${one}`, column, allowed: 204, ...of },
  ];
}

function recordsOf(type: string): NeighbourOperation[] {
  const one = `/${type}/:record_id`;
  const column = 'administer';
  const fresh = resource(type, { name: 'by-somebody', value: 'secret' });
  return [
    ...reading('belong', `${ORGANIZATION}/${type}`, one),
    { endpoint: `POST ${ORGANIZATION}/${type}`, column, allowed: 201, body: fresh },
    { endpoint: `PATCH ${one}`, column, allowed: 200, body: named(type) },
    { endpoint: `DELETE ${one}`, column, allowed: 204 },
  ];
}

const SHARED: readonly NeighbourOperation[] = [
  ...tokensOf(ORGANIZATION, 'own'),
  ...tokensOf(TEAM, 'administer'),
  ...tokensOf(TEAM, 'own', ofOwners),
  ...describedTokensOf('administer'),
  ...describedTokensOf('own', ofOwners),
  ...recordsOf('agent-pools'),
  ...recordsOf('ssh-keys'),
  ...reading('belong', `${ORGANIZATION}/oauth-clients`, `${ORGANIZATION}/oauth-tokens`),
  ...reading('belong', '/oauth-clients/:client_id', '/oauth-clients/:client_id/oauth-tokens'),
  ...reading('belong', '/oauth-tokens/:token_id'),
  {
    endpoint: `POST ${ORGANIZATION}/oauth-clients`,
    column: 'administer',
    allowed: 201,
    body: resource('oauth-clients', { 'service-provider': 'github', 'http-url': 'https://git.example.com' }),
  },
  { endpoint: 'DELETE /oauth-clients/:client_id', column: 'administer', allowed: 204 },
];

const ofWorkspace = { workspace: { type: 'workspaces', id: 'ws-free' } };
const variable = resource('vars', { key: 'by', value: 'somebody', category: 'env' });
/** A state that is saved under the lock of a run, by principals that may apply the run. */
const state = resource(
  'state-versions',
  {
    serial: 2,
    md5: 'd41d8cd98f00b204e9800998ecf8427e',
    lineage: '',
  },
  { run: { type: 'runs', id: 'run-planned' } },
);

const AROUND_A_WORKSPACE: readonly NeighbourOperation[] = [
  ...reading('read', `${WORKSPACE}/state-versions`, `${WORKSPACE}/current-state-version`, STATE),
  ...reading('read', `${WORKSPACE}/current-state-version-outputs`, `${STATE}/outputs`),
  ...reading('read', '/state-version-outputs/:output_id'),
  {
    endpoint: 'GET /state-versions',
    column: 'read',
    allowed: 200,
    query: '?filter[organization][name]=acme&filter[workspace][name]=subject',
  },
  { endpoint: `POST ${WORKSPACE}/state-versions`, column: 'write', allowed: 201, body: state },
  ...reading('view', `${WORKSPACE}/configuration-versions`, CONFIGURATION),
  ...reading('view', `${CONFIGURATION}/ingress-attributes`),
  {
    endpoint: `POST ${WORKSPACE}/configuration-versions`,
    column: 'queue',
    allowed: 201,
    body: resource('configuration-versions', {}),
  },
  ...reading('view', `${WORKSPACE}/runs`, RUN, `${RUN}/plan`, `${RUN}/apply`, `${RUN}/run-events`),
  ...reading('view', '/plans/:plan_id', '/applies/:apply_id'),
  { endpoint: 'POST /runs', column: 'queue', allowed: 201, body: resource('runs', {}, ofWorkspace) },
  ...['auto-apply', 'is-destroy'].map((attribute) => ({
    endpoint: 'POST /runs',
    column: 'write',
    allowed: 201,
    body: resource('runs', { [attribute]: true }, ofWorkspace),
  })),
  { endpoint: `POST ${RUN}/actions/apply`, column: 'write', allowed: 202 },
  { endpoint: `POST ${RUN}/actions/discard`, column: 'write', allowed: 202 },
  { endpoint: `POST ${RUN}/actions/cancel`, column: 'write', allowed: 202, of: { runs: 'pending' } },
  ...reading('read', `${WORKSPACE}/assessment-results`, `${WORKSPACE}/current-assessment-result`),
  ...reading('read', '/assessment-results/:assessment_result_id'),
  ...reading('read', `${WORKSPACE}/vars`, VARIABLE),
  { endpoint: `POST ${WORKSPACE}/vars`, column: 'write', allowed: 201, body: variable },
  {
    endpoint: `PATCH ${VARIABLE}`,
    column: 'write',
    allowed: 200,
    body: resource('vars', { value: 'other' }),
  },
  { endpoint: `DELETE ${VARIABLE}`, column: 'write', allowed: 204 },
];

const SET = '/varsets/:varset_id';
const SET_VARIABLE = `${SET}/relationships/vars/:variable_id`;
const ofTheSet = { of: { vars: 'of a set' } } as const;

const VARIABLE_SETS: readonly NeighbourOperation[] = [
  ...reading('browse', `${ORGANIZATION}/varsets`, SET, `${SET}/relationships/vars`),
  { endpoint: `GET ${SET_VARIABLE}`, column: 'browse', allowed: 200, ...ofTheSet },
  ...reading('read', `${WORKSPACE}/varsets`),
  ...reading('view', `${PROJECT}/varsets`),
  { endpoint: `POST ${ORGANIZATION}/varsets`, column: 'organize', allowed: 201, body: named('varsets') },
  { endpoint: `PATCH ${SET}`, column: 'organize', allowed: 200, body: named('varsets') },
  { endpoint: `DELETE ${SET}`, column: 'organize', allowed: 204 },
  ...['POST', 'DELETE'].flatMap((method) => [
    {
      endpoint: `${method} ${SET}/relationships/workspaces`,
      column: 'organize',
      allowed: 204,
      body: () => identifiers(['ws-subject']),
    },
    {
      endpoint: `${method} ${SET}/relationships/projects`,
      column: 'organize',
      allowed: 204,
      body: ({ projects }: Ids) => identifiers([projects ?? ''], 'projects'),
    },
  ]),
  { endpoint: `POST ${SET}/relationships/vars`, column: 'organize', allowed: 201, body: variable },
  {
    endpoint: `PATCH ${SET_VARIABLE}`,
    column: 'organize',
    allowed: 200,
    ...ofTheSet,
    body: resource('vars', { value: 'other' }),
  },
  { endpoint: `DELETE ${SET_VARIABLE}`, column: 'organize', allowed: 204, ...ofTheSet },
];

const RUN_TRIGGERS: readonly NeighbourOperation[] = [
  {
    endpoint: `GET ${WORKSPACE}/run-triggers`,
    column: 'view',
    allowed: 200,
    query: '?filter[run-trigger][type]=inbound',
  },
  {
    endpoint: `POST ${WORKSPACE}/run-triggers`,
    column: 'change',
    allowed: 201,
    body: resource('run-triggers', {}, { sourceable: { type: 'workspaces', id: 'ws-free' } }),
  },
  ...reading('view', '/run-triggers/:run_trigger_id'),
  { endpoint: 'DELETE /run-triggers/:run_trigger_id', column: 'change', allowed: 204 },
];

export const NEIGHBOURS: readonly NeighbourOperation[] = [
  ...ORGANIZATIONS,
  ...PROJECTS,
  ...TEAMS,
  ...SHARED,
  ...AROUND_A_WORKSPACE,
  ...VARIABLE_SETS,
  ...RUN_TRIGGERS,
];

/** The path below /api/v2, with ids for parameters; the segment before a parameter is its collection. */
export function neighbourPath({ endpoint, of = {}, query = '' }: NeighbourOperation, ids: Ids): string {
  const [, path = ''] = endpoint.split(' ');
  return (
    path.replaceAll(/([a-z-]+)\/:\w+/g, (_, collection: string) => {
      const which = of[collection];
      const key = which === undefined ? collection : `${collection} ${which}`;
      return `${collection}/${ids[key] ?? `no-id-of-${key}`}`;
    }) + query
  );
}
