// Which reads are recorded in the audit trail: those of the endpoints that the specification lists, and no others. The table
// is written manually from the specification.

import { afterAll, beforeAll, expect, it } from 'vitest';

import { API_ENDPOINTS } from '../../../src/server/workspaces-endpoints.ts';
import { NEIGHBOURS, neighbourPath } from '../../support/server/rights/neighbours.ts';
import { OPERATIONS, pathOf } from '../../support/server/rights/operations.ts';
import { startWorld, type World } from '../../support/server/rights/world.ts';

const ORGANIZATION = '/organizations/:organization_name';
const WORKSPACE = '/workspaces/:workspace_id';

/** By endpoint: its event, and the resource whose id the event has. For a list, that is the parent of the listed resources. */
const EVENTS: Readonly<Record<string, readonly [event: string, of: string]>> = {
  [`${ORGANIZATION}/authentication-token`]: ['authentication_token show', 'itself'],
  '/teams/:team_id/authentication-token': ['authentication_token show', 'itself'],
  '/authentication-tokens/:token_id': ['authentication_token show', 'itself'],
  '/configuration-versions/:configuration_version_id': ['configuration_version show', 'itself'],
  [`${ORGANIZATION}/oauth-tokens`]: ['oauth_token index', 'organization'],
  '/oauth-clients/:client_id/oauth-tokens': ['oauth_token index', 'oauth-clients'],
  '/oauth-tokens/:token_id': ['oauth_token show', 'itself'],
  [`${ORGANIZATION}/ssh-keys`]: ['ssh_key index', 'organization'],
  '/ssh-keys/:record_id': ['ssh_key show', 'itself'],
  [`${WORKSPACE}/state-versions`]: ['state_version index', 'workspaces'],
  '/state-versions': ['state_version index', 'workspaces'],
  '/state-versions/:state_version_id': ['state_version show', 'itself'],
  [`${WORKSPACE}/current-state-version`]: ['state_version show', 'itself'],
  [`${WORKSPACE}/vars`]: ['var index', 'workspaces'],
  [`${WORKSPACE}/vars/:variable_id`]: ['var show', 'itself'],
  '/varsets/:varset_id/relationships/vars': ['var index', 'varsets'],
  '/varsets/:varset_id/relationships/vars/:variable_id': ['var show', 'itself'],
};

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const events = () => world.rows('SELECT * FROM audit_events ORDER BY position');

/** The path with which the tables of rights call an endpoint. */
function pathFor(endpoint: string): string {
  const own = OPERATIONS.find((operation) => operation.endpoint === endpoint);
  if (own !== undefined) return pathOf(own, 'subject');
  const beside = NEIGHBOURS.find((operation) => operation.endpoint === endpoint && operation.allowed < 400);
  if (beside === undefined) throw new Error(`no table of rights has ${endpoint}`);
  return neighbourPath(beside, world.ids);
}

const reading = API_ENDPOINTS.filter(
  ({ method, needsOfDialect }) => method === 'GET' && needsOfDialect === undefined,
).map(({ path }) => path);

it('the table of events has only existing endpoints', () => {
  expect(Object.keys(EVENTS).filter((path) => !reading.includes(path))).toEqual([]);
});

it.each(Object.entries(EVENTS))('GET %s is recorded in the trail: %s', async (endpoint, [event, of]) => {
  world.restore();
  const before = events().length;
  const path = pathFor(`GET ${endpoint}`);
  const answer = await world.as('owner').get(path);
  expect(answer.status).toBe(200);
  const organization = events()[0]?.['organization_id'];
  const ids = { ...world.ids, organization, itself: answer.resource.id };
  const [type, action] = event.split(' ');
  expect(events().slice(before)).toMatchObject([
    {
      actor_name: 'owner',
      actor_type: 'Client',
      request_id: answer.headers.get('x-request-id'),
      resource_type: type,
      resource_action: action,
      resource_id: ids[of as keyof typeof ids],
    },
  ]);

  // A refused read is not recorded.
  const recorded = events().length;
  expect((await world.as('stranger').get(path)).status).toBe(404);
  if (action === 'index' && Array.isArray(answer.document.data) && answer.document.meta !== undefined) {
    const wrong = path.includes('?') ? `${path}&page[number]=9e99` : `${path}?page[number]=99999999999999999`;
    await world.as('owner').get(wrong.replace('9e99', '99999999999999999'));
  }
  expect(events().length).toBe(recorded);
});

it('records no other read', async () => {
  world.restore();
  const before = events().length;
  for (const path of reading.filter((one) => EVENTS[one] === undefined)) {
    const token = path === '/organization/audit-trail' ? 'organization' : 'owner';
    const { status } = await world.as(token).get(pathFor(`GET ${path}`));
    expect([path, status < 300 || status === 404]).toEqual([path, true]);
    expect([path, events().length]).toEqual([path, before]);
  }
});
