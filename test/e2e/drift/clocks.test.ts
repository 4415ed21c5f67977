// The clock of the service may differ from ours: trueup finds who modified a resource by the service's clock, from its responses.
import { expect, it } from 'vitest';
import type { DriftJson } from '../../../src/report/json/drift-schema.ts';
import { openBench } from '../../support/cli/bench.ts';
import { workspace } from '../../support/cli/documents.ts';

const organizationToken = 'the-token-of-acme-itself';
const bobToken = 'the-token-of-bob';
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** A service whose clock can be moved, with the workspace `app` applied. @param ahead how far its clock is ahead at first */
async function openScene(ahead = 0) {
  const clock = { ahead };
  const now = () => new Date(Date.now() + clock.ahead);
  const bench = await openBench({
    people: { bob: bobToken },
    organization: { token: organizationToken },
    now,
  });
  const stack = await bench.checkout({ workspaces: { auditToken: { file: 'audit-token' } } });
  await stack.write('audit-token', organizationToken);
  await stack.setUp(workspace('app', { autoApply: true }));
  const change = async (token: string | undefined, attributes: object) => {
    const client = token === undefined ? bench.byHand : bench.byHand.as(token);
    const body = { data: { type: 'workspaces', attributes } };
    expect((await client.patch(`/workspaces/${await bench.idOf('app')}`, body)).status).toBe(200);
  };
  const touched = async () => {
    const { drifted } = JSON.parse((await stack.run(['drift', '--format', 'json'], 3)).out) as DriftJson;
    const { touches = [], unknown } = drifted[0]?.touched ?? {};
    return { names: touches.map(({ actor }) => actor.name), unknown };
  };
  return { clock, bench, stack, change, touched };
}

it.each([
  ['two hours behind', -2 * hour],
  ['two hours ahead', 2 * hour],
  ['twenty days ahead', 20 * day],
])(
  'With a service clock that is %s, a drift report names the actor and how long ago the change was',
  async (_, ahead) => {
    const { stack, change, touched, clock } = await openScene(ahead);
    await change(bobToken, { 'auto-apply': false });
    expect(await touched()).toEqual({ names: ['bob'], unknown: undefined });
    clock.ahead += 3.5 * hour;
    expect((await stack.run(['drift'], 3)).out).toMatch(/ · modified 3 h ago by user-\w+ \(bob\)/);
  },
);

it('A drift report says what is unknown because the service has forgotten it by its own clock', async () => {
  const { change, touched, clock } = await openScene();
  await change(bobToken, { description: 'not managed' });
  clock.ahead = 20 * day;
  await change(undefined, { 'auto-apply': false });
  const { names, unknown } = await touched();
  expect(names).toEqual(['ann']);
  expect(unknown).toMatch(/last applied before that: the service keeps its trail for 14 days/);
});

it('A drift report does not name the actor of an earlier drift that was accepted', async () => {
  const { stack, change, touched, clock } = await openScene();
  await change(bobToken, { 'auto-apply': false });
  await stack.declare(workspace('app', { autoApply: false }));
  clock.ahead += minute;
  expect((await stack.run(['apply', '--yes'], 0)).out).toMatch(/No changes/);
  await change(undefined, { 'auto-apply': true });
  expect(await touched()).toEqual({ names: ['ann'], unknown: undefined });
  expect((await stack.run(['history'], 0)).out).toContain('nothing to do, recorded as found');
});

it('An apply from before the service clock moved ahead does not count as later than a change', async () => {
  const { bench, change, touched, clock } = await openScene();
  await change(bobToken, { description: 'not managed' });
  clock.ahead = 2 * hour;
  await change(undefined, { 'auto-apply': false });
  expect((await touched()).names).toEqual(['ann', 'bob']);
  expect(bench.wire.writes()).toEqual([]);
});
