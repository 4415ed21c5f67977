import { describe, expect, it } from 'vitest';
import {
  app,
  appAddress,
  at,
  changeAt,
  desired,
  fate,
  live,
  planOf,
  record,
  recorded,
  type World,
} from '../support/sample-kinds/sample-plan.ts';

describe('a removal request', () => {
  const grave = (remove: 'safe' | 'force' = 'safe', address = app) => [desired(address, {}, { remove })];
  const role = at('Role', 'job');

  it.each<[string, World, string]>([
    [
      'deletes what we created',
      { desired: grave(), live: [live(app, { ownershipTag: 'mine' })], records: recorded() },
      'delete',
    ],
    [
      'deletes what was adopted, which nothing else does',
      {
        desired: grave(),
        live: [live(app, { ownershipTag: 'mine' })],
        records: recorded({ origin: 'adopted' }),
      },
      'delete',
    ],
    [
      'deletes what only bears our claim',
      { desired: grave(), live: [live(app, { ownershipTag: 'mine' })] },
      'delete',
    ],
    ['does not delete what bears no claim', { desired: grave(), live: [live(app)] }, 'not-ours'],
    [
      "does not delete what is another stack's",
      { desired: grave('force'), live: [live(app, { ownershipTag: 'yours' })] },
      'not-ours',
    ],
    [
      'does not delete what has our claim from its project',
      { desired: grave(), live: [live(app, { ownershipTag: 'mine', inherited: true })] },
      'not-ours',
    ],
    [
      'does not delete what is protected',
      { desired: grave('force'), live: [live(app, { ownershipTag: 'mine:protect' })] },
      'protected',
    ],
    [
      'waits while the service would refuse a safe delete',
      { desired: grave(), live: [live(app, { ownershipTag: 'mine', facts: { inUse: true } })] },
      '"to be deleted, but kept: it is in use"',
    ],
    [
      'that forces does not wait',
      { desired: grave('force'), live: [live(app, { ownershipTag: 'mine', facts: { inUse: true } })] },
      'delete',
    ],
    [
      'has done its work once the thing is gone, and the ledger forgets it',
      { desired: grave(), records: recorded() },
      `"it is gone: its removal request can be deleted", forget ${appAddress}`,
    ],
    [
      'deletes a role that changed since our last write',
      {
        desired: grave('safe', role),
        live: [live(role, { spec: { colour: 'green' } })],
        records: { 'Role/acme/job': record({ content: { colour: 'blue' } }) },
      },
      'delete',
    ],
    [
      'deletes a role that was never ours inside what the target owns',
      { desired: grave('safe', role), live: [live(role)], target: { owns: ['*'] } },
      'delete',
    ],
    [
      'does not delete a role of nobody knows whom',
      { desired: grave('safe', role), live: [live(role)] },
      'not-ours',
    ],
    [
      'does not delete a protected role',
      {
        desired: grave('safe', role),
        live: [live(role)],
        records: { 'Role/acme/job': record({ protect: true }) },
      },
      'protected',
    ],
    ['cannot remove a part', { desired: grave('safe', at('Child', 'app')) }, 'not-removable'],
    [
      'cannot remove what the service never deletes',
      { desired: grave('safe', at('Settings', 'config')) },
      'not-removable',
    ],
  ])('%s', (_, world, expected) => {
    expect(fate(world)).toBe(expected);
  });

  it('says in its call whether it forces', () => {
    const bodies = (['safe', 'force'] as const).map((remove) => {
      const planning = planOf({ desired: grave(remove), live: [live(app, { ownershipTag: 'mine' })] });
      return changeAt(planning, app).calls[0]?.body;
    });
    expect(bodies).toEqual([{ force: false }, { force: true }]);
  });

  it('is at the document that asks for it', () => {
    const planning = planOf({ desired: grave(), live: [live(app, { ownershipTag: 'mine' })] });
    expect(changeAt(planning, app).place).toMatchObject({ file: 'manifest.yaml' });
  });
});
