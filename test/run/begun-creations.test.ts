/** What the history proves of applies that never ended. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { begunChanges } from '../../src/run/open-entries.ts';
import { localLedger } from '../../src/ledger/local-ledger.ts';
import type { HistoryChange, HistoryEntry, Ledger } from '../../src/model/ledger.ts';
import { formatIdentity, identityOf } from '../../src/model/stack.ts';
import { samples } from '../support/sample-kinds/sample-kind.ts';
import { at, desired, ledgerOf, record, stack, target } from '../support/sample-kinds/sample-plan.ts';
import { readAddress } from '../../src/model/address.ts';
import { temporaryFolder } from '../support/rig/temporary-folder.ts';

const here = formatIdentity(identityOf(target));
const job = at('Role', 'job');

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

/** An apply that has ended, with this outcome of what it was creating. */
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

describe('a creation counts as begun', () => {
  it.each<[string, readonly HistoryEntry[], Partial<Ledger>, string[]]>([
    ['when the last apply never ended', [entry('1')], {}, ['Role/acme/job']],
    ['when none of the last ones did', [entry('1'), entry('2', { changes: [] })], {}, ['Role/acme/job']],
    ['not when an apply has ended since', [entry('1'), entry('2', { changes: [], ended: 'now' })], {}, []],
    [
      'when only a part without it was applied since',
      [entry('1'), entry('2', { changes: [], ended: 'now', part: { selected: 1, of: 2 } })],
      {},
      ['Role/acme/job'],
    ],
    [
      'not when a part with it was applied since',
      [entry('1'), entry('2', { ...ended({ outcome: 'applied' }), part: { selected: 1, of: 2 } })],
      {},
      [],
    ],
    [
      'not when a part, and then the whole, was applied since',
      [
        entry('1'),
        entry('2', { changes: [], ended: 'now', part: { selected: 1, of: 2 } }),
        entry('3', { changes: [], ended: 'now' }),
      ],
      {},
      [],
    ],
    ['not when it has an end itself', [entry('1', { ended: 'now' })], {}, []],
    ['when the last one that ended was told nothing of it', [entry('1', lost)], {}, ['Role/acme/job']],
    ['when its answer was no refusal', [entry('1', doubted)], {}, ['Role/acme/job']],
    ['not when it was refused', [entry('1', refused)], {}, []],
    ['not when one has ended since', [entry('1', lost), entry('2', { changes: [], ended: 'now' })], {}, []],
    ['when it was made, and its ledger not written', [entry('1', unrecorded)], {}, ['Role/acme/job']],
    [
      'when none of the last ledgers was',
      [entry('1', unrecorded), entry('2', unrecorded)],
      {},
      ['Role/acme/job'],
    ],
    [
      'not when it was refused, and its ledger not written',
      [entry('1', { ...unrecorded, ...refused })],
      {},
      [],
    ],
    ['not when a ledger was written since', [entry('1', unrecorded), entry('2', refused)], {}, []],
    ['not when that is settled', [entry('1', { ...lost, settled: 'now' })], {}, []],
    ['not when another stack began it', [entry('1', { stack: 'yours' })], {}, []],
    ['not when its target was another place then', [entry('1', { targets: { acme: 'elsewhere' } })], {}, []],
    ['not when nobody kept where its target was', [entry('1', { targets: {} })], {}, []],
    ['not when a later apply has settled it', [entry('1', { settled: 'now' })], {}, []],
    ['not when a later one is settled', [entry('1'), entry('2', { changes: [], settled: 'now' })], {}, []],
    ['not when the ledger is lost', [entry('1')], { known: false }, []],
    [
      'not when the ledger knows everything that is declared',
      [entry('1')],
      { records: new Map([[readAddress('Role/acme/job'), record()]]) },
      [],
    ],
  ])('%s', async (_, entries, ledger, expected) => {
    expect(await begun(entries, ledger)).toEqual(expected);
  });
});
