/** What the history shows about applies that never ended. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { begunChanges } from '../../src/run/open-entries.ts';
import { localLedger } from '../../src/ledger/local-ledger.ts';
import type { HistoryChange, HistoryEntry, HistoryStore, Ledger } from '../../src/model/ledger.ts';
import { formatIdentity, identityOf } from '../../src/model/stack.ts';
import { samples } from '../support/sample-kinds/sample-kind.ts';
import { at, desired, ledgerOf, record, stack, target } from '../support/sample-kinds/sample-plan.ts';
import { readAddress } from '../../src/model/address.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

const here = formatIdentity(identityOf(target));
const job = at('Role', 'job');
const address = readAddress('Role/acme/job');

const entry = (
  id: string,
  { targets = { acme: here }, ...about }: Partial<HistoryEntry> = {},
): HistoryEntry => ({
  version: 1,
  id,
  stack: 'mine',
  run: { id: 'run', who: 'ann', where: 'here' },
  began: '2026-11-20T11:42:00.000Z',
  digest: 'd',
  targets,
  changes: [
    { address: readAddress('Role/acme/job'), action: 'create', reason: 'declared, not live', fields: [] },
  ],
  ...about,
});

/** An apply that has ended, with this outcome of its creation. */
const ended = (outcome: Partial<HistoryChange>): Partial<HistoryEntry> => ({
  ended: 'now',
  changes: entry('').changes.map((change) => ({ ...change, ...outcome })),
});
const lost = ended({ outcome: 'unknown' });
const doubted = ended({ outcome: 'failed', inDoubt: true });
const unrecorded = { ...ended({ outcome: 'applied' }), unrecorded: true } as const;
const refused = ended({ outcome: 'failed' });

async function begun(entries: readonly HistoryEntry[], ledger: Partial<Ledger> = {}): Promise<string[]> {
  const directory = temporaryFolder();
  const store = localLedger(join(directory, 'mine.ledger.json'), 'mine');
  await store.keepEntries(entries);
  const known = { ...ledgerOf({}), ...ledger };
  return [
    ...(await begunChanges(store, { stack, kinds: samples, resources: [desired(job)], ledger: known }))
      .creations,
  ];
}

describe('a plan reads of a history with 40 entries', () => {
  const many = (about: (index: number) => Partial<HistoryEntry>) =>
    Array.from({ length: 40 }, (_, index) => entry(String(index).padStart(2, '0'), about(index)));
  const part = { selected: 1, of: 2 };

  it.each<[string, readonly HistoryEntry[], number]>([
    ['one, if the newest apply of the whole stack has ended', many(() => ({ ended: 'now' })), 1],
    ['one, if that apply has failed', many(() => ended({ outcome: 'failed' })), 1],
    ['one, if that apply lists what is open', many(() => ({ ended: 'now', openCreations: [address] })), 1],
    [
      'three, if one of a part came after it',
      many((index) => (index === 39 ? { ended: 'now', part } : { ended: 'now' })),
      3,
    ],
    ['all, if all applies were of parts', many(() => ({ ended: 'now', part })), 40],
  ])('%s', async (_, entries, expected) => {
    const store = localLedger(join(temporaryFolder(), 'mine.ledger.json'), 'mine');
    await store.keepEntries(entries);
    let read = 0;
    const counting: Pick<HistoryStore, 'readEntries'> = {
      readEntries: async (...given) => {
        const found = await store.readEntries(...given);
        read += found.length;
        return found;
      },
    };
    await begunChanges(counting, { stack, kinds: samples, resources: [desired(job)], ledger: ledgerOf({}) });
    expect(read).toBe(expected);
  });
});

describe('a creation counts as begun', () => {
  it.each<[string, readonly HistoryEntry[], Partial<Ledger>, string[]]>([
    ['if the last apply never ended', [entry('1')], {}, ['Role/acme/job']],
    ['if none of the last applies ended', [entry('1'), entry('2', { changes: [] })], {}, ['Role/acme/job']],
    ['not if an apply has ended since', [entry('1'), entry('2', { changes: [], ended: 'now' })], {}, []],
    [
      'if only a part without it was applied since',
      [entry('1'), entry('2', { changes: [], ended: 'now', part: { selected: 1, of: 2 } })],
      {},
      ['Role/acme/job'],
    ],
    [
      'not if a part with it was applied since',
      [entry('1'), entry('2', { ...ended({ outcome: 'applied' }), part: { selected: 1, of: 2 } })],
      {},
      [],
    ],
    [
      'not if a part, and then the whole stack, was applied since',
      [
        entry('1'),
        entry('2', { changes: [], ended: 'now', part: { selected: 1, of: 2 } }),
        entry('3', { changes: [], ended: 'now' }),
      ],
      {},
      [],
    ],
    ['not if its own apply has ended', [entry('1', { ended: 'now' })], {}, []],
    ['if its outcome in the last apply is unknown', [entry('1', lost)], {}, ['Role/acme/job']],
    ['if it failed without a refusal', [entry('1', doubted)], {}, ['Role/acme/job']],
    ['not if it was refused', [entry('1', refused)], {}, []],
    [
      'not if its outcome is unknown, but an apply has ended since',
      [entry('1', lost), entry('2', { changes: [], ended: 'now' })],
      {},
      [],
    ],
    ['if it was applied, and its ledger not written', [entry('1', unrecorded)], {}, ['Role/acme/job']],
    [
      'if it was applied, and none of the last ledgers was written',
      [entry('1', unrecorded), entry('2', unrecorded)],
      {},
      ['Role/acme/job'],
    ],
    [
      'not if it was refused, and its ledger not written',
      [entry('1', { ...unrecorded, ...refused })],
      {},
      [],
    ],
    ['not if a ledger was written since', [entry('1', unrecorded), entry('2', refused)], {}, []],
    ['not if its unknown outcome was settled', [entry('1', { ...lost, settled: 'now' })], {}, []],
    ['not if another stack began it', [entry('1', { stack: 'yours' })], {}, []],
    ['not if its target was another place then', [entry('1', { targets: { acme: 'elsewhere' } })], {}, []],
    ['not if the place of its target was not recorded', [entry('1', { targets: {} })], {}, []],
    ['not if a later apply settled it', [entry('1', { settled: 'now' })], {}, []],
    ['not if a later apply was settled', [entry('1'), entry('2', { changes: [], settled: 'now' })], {}, []],
    [
      'if the last apply lists it as left open by earlier ones',
      [entry('1'), entry('2', { changes: [], ended: 'now', openCreations: [address] })],
      {},
      ['Role/acme/job'],
    ],
    [
      'not if such an entry was settled',
      [entry('2', { changes: [], ended: 'now', openCreations: [address], settled: 'now' })],
      {},
      [],
    ],
    [
      'not if the last apply lists nothing, and an earlier one did',
      [entry('1', { openCreations: [address], ended: 'now' }), entry('2', { changes: [], ended: 'now' })],
      {},
      [],
    ],
    [
      'not if an apply of a part has carried it out after it was listed',
      [
        entry('1', { changes: [], openCreations: [address], ended: 'now' }),
        entry('2', { ...ended({ outcome: 'applied' }), part: { selected: 1, of: 2 } }),
      ],
      {},
      [],
    ],
    ['not if the ledger is lost', [entry('1')], { known: false }, []],
    [
      'not if the ledger has records of all declared resources',
      [entry('1')],
      { records: new Map([[readAddress('Role/acme/job'), record()]]) },
      [],
    ],
  ])('%s', async (_, entries, ledger, expected) => {
    expect(await begun(entries, ledger)).toEqual(expected);
  });
});
