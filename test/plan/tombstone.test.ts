import { describe, expect, test } from 'vitest';
import { formatAddress } from '../../src/model/resource/address.ts';
import type { LedgerRecord } from '../../src/model/stack/ledger.ts';
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
} from '../support/toys/toy-plan.ts';

const home = at('House', 'home');
const text = formatAddress(home);

function recorded(about: Partial<LedgerRecord> = {}): Readonly<Record<string, LedgerRecord>> {
  return { [text]: record({ id: 'id-home', ...about }) };
}

function there(about: LiveAbout = {}) {
  return [live(home, about)];
}

describe('a tombstone', () => {
  const grave = (remove: 'safe' | 'force' = 'safe', address = home) => [desired(address, {}, { remove })];
  const door = at('Door', 'front');

  test.each<[string, World, string]>([
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
      { desired: grave(), live: there({ claim: 'mine', facts: { inhabited: true } }) },
      '"to be deleted, but the service would refuse it: somebody lives in it"',
    ],
    [
      'that forces does not wait',
      { desired: grave('force'), live: there({ claim: 'mine', facts: { inhabited: true } }) },
      'delete',
    ],
    [
      'has done its work once the thing is gone, and the ledger forgets it',
      { desired: grave(), records: recorded() },
      `"it is gone: its tombstone document can be deleted", forget ${text}`,
    ],
    [
      'deletes a door that changed since our last write',
      {
        desired: grave('safe', door),
        live: [live(door, { spec: { colour: 'green' } })],
        records: { 'Door/acme/front': record({ content: { colour: 'blue' } }) },
      },
      'delete',
    ],
    [
      'deletes a door that was never ours inside what the target owns',
      { desired: grave('safe', door), live: [live(door)], target: { owns: ['*'] } },
      'delete',
    ],
    [
      'does not delete a door of nobody knows whom',
      { desired: grave('safe', door), live: [live(door)] },
      'not-ours',
    ],
    [
      'does not delete a protected door',
      {
        desired: grave('safe', door),
        live: [live(door)],
        records: { 'Door/acme/front': record({ protect: true }) },
      },
      'protected',
    ],
    ['cannot remove a part', { desired: grave('safe', at('Garden', 'home')) }, 'not-removable'],
    [
      'cannot remove what the service never deletes',
      { desired: grave('safe', at('Fence', 'long')) },
      'not-removable',
    ],
  ])('%s', (_, world, expected) => {
    expect(fate(world)).toBe(expected);
  });

  test('says in its call whether it forces', () => {
    const bodies = (['safe', 'force'] as const).map((remove) => {
      const planning = planOf({ desired: grave(remove), live: there({ claim: 'mine' }) });
      return changeAt(planning, home).calls[0]?.body;
    });
    expect(bodies).toEqual([{ force: false }, { force: true }]);
  });

  test('stands at the document that asks for it', () => {
    const planning = planOf({ desired: grave(), live: there({ claim: 'mine' }) });
    expect(changeAt(planning, home).place).toMatchObject({ file: 'toys.yaml' });
  });
});
