import { describe, expect, it } from 'vitest';
import {
  app,
  appAddress,
  at,
  changeAt,
  desired,
  summaryOf,
  live,
  planOf,
  record,
  recorded,
  type World,
} from '../support/sample-kinds/sample-plan.ts';

describe('a removal request', () => {
  const removalOf = (remove: 'safe' | 'force' = 'safe', address = app) => [desired(address, {}, { remove })];
  const role = at('Role', 'job');

  it.each<[string, World, string]>([
    [
      'deletes a resource that we created',
      { desired: removalOf(), live: [live(app, { ownershipTag: 'mine' })], records: recorded() },
      'delete',
    ],
    [
      'deletes an adopted resource, which nothing else does',
      {
        desired: removalOf(),
        live: [live(app, { ownershipTag: 'mine' })],
        records: recorded({ origin: 'adopted' }),
      },
      'delete',
    ],
    [
      'deletes a resource with only our ownership tag',
      { desired: removalOf(), live: [live(app, { ownershipTag: 'mine' })] },
      'delete',
    ],
    [
      'does not delete a resource without an ownership tag',
      { desired: removalOf(), live: [live(app)] },
      'not-ours',
    ],
    [
      'does not delete a resource of another stack',
      { desired: removalOf('force'), live: [live(app, { ownershipTag: 'yours' })] },
      'not-ours',
    ],
    [
      'does not delete a resource that inherits our ownership tag from its project',
      { desired: removalOf(), live: [live(app, { ownershipTag: 'mine', inherited: true })] },
      'not-ours',
    ],
    [
      'does not delete a protected resource',
      { desired: removalOf('force'), live: [live(app, { ownershipTag: 'mine:protect' })] },
      'protected',
    ],
    [
      'waits while the service would refuse a safe delete',
      { desired: removalOf(), live: [live(app, { ownershipTag: 'mine', facts: { inUse: true } })] },
      '"to be deleted, but kept: it is in use"',
    ],
    [
      'that forces does not wait',
      { desired: removalOf('force'), live: [live(app, { ownershipTag: 'mine', facts: { inUse: true } })] },
      'delete',
    ],
    [
      'is done once the resource is gone, and the ledger forgets it',
      { desired: removalOf(), records: recorded() },
      `"it is gone: its removal request can be deleted", forget ${appAddress}`,
    ],
    [
      'deletes a role that changed since our last write',
      {
        desired: removalOf('safe', role),
        live: [live(role, { spec: { colour: 'green' } })],
        records: { 'Role/acme/job': record({ content: { colour: 'blue' } }) },
      },
      'delete',
    ],
    [
      'deletes a role that was never ours if the target owns its name',
      { desired: removalOf('safe', role), live: [live(role)], target: { owns: ['*'] } },
      'delete',
    ],
    [
      'does not delete a role without a record',
      { desired: removalOf('safe', role), live: [live(role)] },
      'not-ours',
    ],
    [
      'does not delete a protected role',
      {
        desired: removalOf('safe', role),
        live: [live(role)],
        records: { 'Role/acme/job': record({ protect: true }) },
      },
      'protected',
    ],
    ['cannot remove a child', { desired: removalOf('safe', at('Child', 'app')) }, 'not-removable'],
    [
      'cannot remove settings, which the service never deletes',
      { desired: removalOf('safe', at('Settings', 'config')) },
      'not-removable',
    ],
  ])('%s', (_, world, expected) => {
    expect(summaryOf(world)).toBe(expected);
  });

  it('sends in its call whether it forces', () => {
    const bodies = (['safe', 'force'] as const).map((remove) => {
      const planning = planOf({ desired: removalOf(remove), live: [live(app, { ownershipTag: 'mine' })] });
      return changeAt(planning, app).calls[0]?.body;
    });
    expect(bodies).toEqual([{ force: false }, { force: true }]);
  });

  it('has the place of the document that asks for it', () => {
    const planning = planOf({ desired: removalOf(), live: [live(app, { ownershipTag: 'mine' })] });
    expect(changeAt(planning, app).place).toMatchObject({ file: 'manifest.yaml' });
  });
});
