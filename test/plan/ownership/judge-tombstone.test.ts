import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../../src/model/address.ts';
import type { LedgerRecord } from '../../../src/model/ledger.ts';
import {
  at,
  changeAt,
  desired,
  fate,
  type LiveAbout,
  live,
  planOf,
  record,
  type World,
} from '../../support/toys/toy-plan.ts';

const app = at('Whole', 'app');
const text = formatAddress(app);

function recorded(about: Partial<LedgerRecord> = {}): Readonly<Record<string, LedgerRecord>> {
  return { [text]: record({ id: 'id-app', ...about }) };
}

function there(about: LiveAbout = {}) {
  return [live(app, about)];
}

describe('a tombstone', () => {
  const grave = (remove: 'safe' | 'force' = 'safe', address = app) => [desired(address, {}, { remove })];
  const role = at('Role', 'job');

  it.each<[string, World, string]>([
    [
      'deletes what we created',
      { desired: grave(), live: there({ claim: 'mine' }), records: recorded() },
      'delete',
    ],
    [
      'deletes what was adopted, which nothing else does',
      { desired: grave(), live: there({ claim: 'mine' }), records: recorded({ origin: 'adopted' }) },
      'delete',
    ],
    ['deletes what only bears our claim', { desired: grave(), live: there({ claim: 'mine' }) }, 'delete'],
    ['does not delete what bears no claim', { desired: grave(), live: there() }, 'not-ours'],
    [
      "does not delete what is another stack's",
      { desired: grave('force'), live: there({ claim: 'yours' }) },
      'not-ours',
    ],
    [
      'does not delete what has our claim from its project',
      { desired: grave(), live: there({ claim: 'mine', inherited: true }) },
      'not-ours',
    ],
    [
      'does not delete what is protected',
      { desired: grave('force'), live: there({ claim: 'mine:protect' }) },
      'protected',
    ],
    [
      'waits while the service would refuse a safe delete',
      { desired: grave(), live: there({ claim: 'mine', facts: { inUse: true } }) },
      '"to be deleted, but kept: it is in use"',
    ],
    [
      'that forces does not wait',
      { desired: grave('force'), live: there({ claim: 'mine', facts: { inUse: true } }) },
      'delete',
    ],
    [
      'has done its work once the thing is gone, and the ledger forgets it',
      { desired: grave(), records: recorded() },
      `"it is gone: its tombstone document can be deleted", forget ${text}`,
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
    ['cannot remove a part', { desired: grave('safe', at('Part', 'app')) }, 'not-removable'],
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
      const planning = planOf({ desired: grave(remove), live: there({ claim: 'mine' }) });
      return changeAt(planning, app).calls[0]?.body;
    });
    expect(bodies).toEqual([{ force: false }, { force: true }]);
  });

  it('stands at the document that asks for it', () => {
    const planning = planOf({ desired: grave(), live: there({ claim: 'mine' }) });
    expect(changeAt(planning, app).place).toMatchObject({ file: 'manifest.yaml' });
  });
});
