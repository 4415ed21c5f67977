// The event that each writing endpoint records. The table is written manually, and a test fails if it lacks an endpoint.

import { afterAll, beforeAll, expect, it } from 'vitest';

import { eventProblems } from '../../../src/server/workspaces/audit-trail.ts';
import { API_ENDPOINTS } from '../../../src/server/workspaces-endpoints.ts';
import { NEIGHBOURS, neighbourPath } from '../../support/server/rights/neighbours.ts';
import { OPERATIONS, pathOf, RETENTION_POLICY } from '../../support/server/rights/operations.ts';
import { startWorld, type World } from '../../support/server/rights/world.ts';
import { identifiers } from '../../support/server/serve-for-test.ts';

const ORGANIZATION = '/organizations/:organization_name';
const PROJECT = '/projects/:project_id';
const TEAM = '/teams/:team_id';
const WORKSPACE = '/workspaces/:workspace_id';
const NAMED = `${ORGANIZATION}/workspaces/:name`;
const SET = '/varsets/:varset_id';
const RELATED = `${WORKSPACE}/relationships`;

/** Type and action of the event of each endpoint, by the endpoint. */
const EVENTS: Readonly<Record<string, string>> = {
  'POST /organizations': 'organization create',
  [`PATCH ${ORGANIZATION}`]: 'organization update',
  [`DELETE ${ORGANIZATION}`]: 'organization destroy',
  [`DELETE ${ORGANIZATION}/tags`]: 'workspace update',
  'POST /tags/:tag_id/relationships/workspaces': 'workspace update',
  [`POST ${ORGANIZATION}/relationships/data-retention-policy`]: 'data_retention_policy update',
  [`PATCH ${ORGANIZATION}/relationships/data-retention-policy`]: 'data_retention_policy update',
  [`DELETE ${ORGANIZATION}/relationships/data-retention-policy`]: 'data_retention_policy destroy',
  [`POST ${ORGANIZATION}/projects`]: 'project create',
  [`PATCH ${PROJECT}`]: 'project update',
  [`DELETE ${PROJECT}`]: 'project destroy',
  [`PATCH ${PROJECT}/tag-bindings`]: 'project update',
  [`POST ${PROJECT}/relationships/tag-bindings`]: 'project update',
  [`PATCH ${PROJECT}/relationships/tag-bindings`]: 'project update',
  [`POST ${ORGANIZATION}/teams`]: 'team create',
  [`PATCH ${TEAM}`]: 'team update',
  [`DELETE ${TEAM}`]: 'team destroy',
  [`POST ${TEAM}/relationships/users`]: 'team add_member',
  [`DELETE ${TEAM}/relationships/users`]: 'team remove_member',
  'POST /team-workspaces': 'workspace add_team',
  'PATCH /team-workspaces/:access_id': 'workspace update_team_permissions',
  'DELETE /team-workspaces/:access_id': 'workspace remove_team',
  'POST /team-projects': 'project add_team',
  'PATCH /team-projects/:access_id': 'project update_team_permissions',
  'DELETE /team-projects/:access_id': 'project remove_team',
  [`POST ${ORGANIZATION}/authentication-token`]: 'authentication_token create',
  [`DELETE ${ORGANIZATION}/authentication-token`]: 'authentication_token destroy',
  [`POST ${TEAM}/authentication-token`]: 'authentication_token create',
  [`DELETE ${TEAM}/authentication-token`]: 'authentication_token destroy',
  [`POST ${TEAM}/authentication-tokens`]: 'authentication_token create',
  'DELETE /authentication-tokens/:token_id': 'authentication_token destroy',
  [`POST ${ORGANIZATION}/agent-pools`]: 'agent_pool create',
  'PATCH /agent-pools/:record_id': 'agent_pool update',
  'DELETE /agent-pools/:record_id': 'agent_pool destroy',
  [`POST ${ORGANIZATION}/ssh-keys`]: 'ssh_key create',
  'PATCH /ssh-keys/:record_id': 'ssh_key update',
  'DELETE /ssh-keys/:record_id': 'ssh_key destroy',
  [`POST ${ORGANIZATION}/oauth-clients`]: 'oauth_client create',
  'DELETE /oauth-clients/:client_id': 'oauth_client destroy',
  [`POST ${ORGANIZATION}/workspaces`]: 'workspace create',
  [`PATCH ${WORKSPACE}`]: 'workspace update',
  [`PATCH ${NAMED}`]: 'workspace update',
  [`DELETE ${WORKSPACE}`]: 'workspace destroy',
  [`DELETE ${NAMED}`]: 'workspace destroy',
  [`POST ${WORKSPACE}/actions/safe-delete`]: 'workspace destroy',
  [`POST ${NAMED}/actions/safe-delete`]: 'workspace destroy',
  [`POST ${WORKSPACE}/actions/lock`]: 'workspace lock',
  [`POST ${WORKSPACE}/actions/unlock`]: 'workspace unlock',
  [`POST ${WORKSPACE}/actions/force-unlock`]: 'workspace force_unlock',
  [`PATCH ${RELATED}/ssh-key`]: 'workspace update',
  [`PATCH ${RELATED}/remote-state-consumers`]: 'workspace update',
  [`POST ${RELATED}/remote-state-consumers`]: 'workspace update',
  [`DELETE ${RELATED}/remote-state-consumers`]: 'workspace update',
  [`POST ${RELATED}/tags`]: 'workspace update',
  [`DELETE ${RELATED}/tags`]: 'workspace update',
  [`PATCH ${WORKSPACE}/tag-bindings`]: 'workspace update',
  [`POST ${RELATED}/tag-bindings`]: 'workspace update',
  [`PATCH ${RELATED}/tag-bindings`]: 'workspace update',
  [`POST ${RELATED}/data-retention-policy`]: 'data_retention_policy create',
  [`PATCH ${RELATED}/data-retention-policy`]: 'data_retention_policy create',
  [`DELETE ${RELATED}/data-retention-policy`]: 'data_retention_policy destroy',
  [`POST ${WORKSPACE}/state-versions`]: 'state_version create',
  [`POST ${WORKSPACE}/configuration-versions`]: 'configuration_version create',
  'POST /runs': 'run create',
  'POST /runs/:run_id/actions/apply': 'run apply',
  'POST /runs/:run_id/actions/discard': 'run discard',
  'POST /runs/:run_id/actions/cancel': 'run cancel',
  [`POST ${WORKSPACE}/vars`]: 'var create',
  [`PATCH ${WORKSPACE}/vars/:variable_id`]: 'var update',
  [`DELETE ${WORKSPACE}/vars/:variable_id`]: 'var destroy',
  [`POST ${ORGANIZATION}/varsets`]: 'variable_set create',
  [`PATCH ${SET}`]: 'variable_set update',
  [`DELETE ${SET}`]: 'variable_set destroy',
  [`POST ${SET}/relationships/workspaces`]: 'variable_set update',
  [`DELETE ${SET}/relationships/workspaces`]: 'variable_set update',
  [`POST ${SET}/relationships/projects`]: 'variable_set update',
  [`DELETE ${SET}/relationships/projects`]: 'variable_set update',
  [`POST ${SET}/relationships/vars`]: 'var create',
  [`PATCH ${SET}/relationships/vars/:variable_id`]: 'var update',
  [`DELETE ${SET}/relationships/vars/:variable_id`]: 'var destroy',
  [`POST ${WORKSPACE}/run-triggers`]: 'run_trigger create',
  'DELETE /run-triggers/:run_trigger_id': 'run_trigger destroy',
};

/** Sent again, these create another resource. All others change nothing, or are refused. */
const CREATE_ANOTHER = [
  `POST ${ORGANIZATION}/authentication-token`,
  `POST ${TEAM}/authentication-token`,
  `POST ${ORGANIZATION}/oauth-clients`,
  `POST ${WORKSPACE}/configuration-versions`,
  `POST ${WORKSPACE}/state-versions`,
  'POST /runs',
];

interface Call {
  readonly path: string;
  readonly body: unknown;
}

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

/** The request with which the tables of rights call an endpoint. */
function callOf(endpoint: string): Call {
  const own = OPERATIONS.find((operation) => operation.endpoint === endpoint);
  if (own !== undefined) {
    return { path: pathOf(own, 'free'), body: own.body?.('free', 'ws-subject') };
  }
  const called = NEIGHBOURS.filter((operation) => operation.endpoint === endpoint);
  const beside = called.find(({ allowed }) => allowed < 400);
  if (beside === undefined) throw new Error(`no table of rights has ${endpoint}`);
  return { path: neighbourPath(beside, world.ids), body: beside.body?.(world.ids) };
}

/** Creates what the call needs in order to change something. */
async function prepare(method: string, { path, body }: Call): Promise<void> {
  const owner = world.as('owner');
  if (path.endsWith('unlock')) await owner.post(path.replace(/(force-)?unlock$/, 'lock'));
  if (method === 'DELETE' && path.includes('/relationships/'))
    await owner.post(path, body ?? RETENTION_POLICY);
}

/** The events of requests, without those that the service records when it starts a run. */
const events = () => world.rows("SELECT * FROM audit_events WHERE actor_type <> 'System' ORDER BY position");
const count = () => events().length;

it('the table of events has every endpoint that writes', () => {
  // An endpoint that only one dialect serves (a subscription) changes nothing.
  const writing = API_ENDPOINTS.filter(
    ({ method, needsOfDialect }) => method !== 'GET' && needsOfDialect === undefined,
  );
  expect(Object.keys(EVENTS).toSorted()).toEqual(
    writing.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});

it.each(Object.entries(EVENTS))('%s is recorded in the trail: %s', async (endpoint, event) => {
  world.restore();
  const [method = ''] = endpoint.split(' ');
  const owner = world.as('owner');
  const call = callOf(endpoint);
  await prepare(method, call);
  const before = count();
  const answer = await owner.send(method, call.path, call.body);
  expect([answer.status < 300, answer.text]).toEqual([true, answer.text]);
  const written = events().slice(before);
  expect(
    written.map((row) => [`${row['resource_type']} ${row['resource_action']}`, row['request_id']]),
  ).toEqual([[event, answer.headers.get('x-request-id')]]);

  await owner.send(method, call.path, call.body);
  expect(count(), 'after the same request').toBe(before + (CREATE_ANOTHER.includes(endpoint) ? 2 : 1));
});

it('records only events that the admin API would accept', async () => {
  world.restore();
  const owner = world.as('owner');
  // The specification requires days in the event of a destroyed policy; the policy of this table deletes nothing, and has none.
  const others = [
    `DELETE ${ORGANIZATION}`,
    `DELETE ${ORGANIZATION}/relationships/data-retention-policy`,
    `DELETE ${RELATED}/data-retention-policy`,
  ];
  for (const endpoint of Object.keys(EVENTS).filter((one) => !others.includes(one))) {
    const [method = ''] = endpoint.split(' ');
    const call = callOf(endpoint);
    await prepare(method, call);
    await owner.send(method, call.path, call.body);
    const written = world.rows('SELECT * FROM audit_events ORDER BY position DESC LIMIT 3');
    for (const { resource_type: type, resource_action: action, meta } of written) {
      const event = { type: String(type), action: String(action), meta: JSON.parse(String(meta)) };
      const problems = eventProblems(event, '');
      expect([endpoint, problems]).toEqual([endpoint, []]);
    }
    world.restore();
  }
});

it('records nothing for refused requests', async () => {
  world.restore();
  const before = count();
  for (const endpoint of Object.keys(EVENTS)) {
    const [method = ''] = endpoint.split(' ');
    const { path, body } = callOf(endpoint);
    await world.as('can-read-settings').send(method, path, body);
    const answer = await world.as('owner').send(method, path, identifiers(['nonsense'], 'nonsense'));
    // Some endpoints ignore the body, and succeed.
    if (answer.status < 300) world.restore();
    expect([endpoint, count()]).toEqual([endpoint, before]);
  }
});
