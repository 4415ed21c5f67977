import { describe, expect, test } from 'vitest';
import { beginEntry, endEntry } from '../../src/apply/history-entry.ts';
import type { Change } from '../../src/model/plan/change.ts';
import { toys } from '../support/toys/toy-kind.ts';
import { at, ledgerOf, record } from '../support/toys/toy-plan.ts';
import { change, plan } from '../support/report/small-plan.ts';

const head = {
  id: 'e1',
  run: { id: 'run-1', who: 'ann', where: 'here' },
  began: '2026-11-20T11:42:00.000Z',
};
const home = at('House', 'home');

const begin = (changes: readonly Change[], records: Parameters<typeof ledgerOf>[0] = {}) =>
  beginEntry(plan({ changes }), head, { ledger: ledgerOf(records), kinds: toys });

describe('the entry of an apply', () => {
  test('begins with what was planned, and no outcome', () => {
    const fields = [{ path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' as const }];
    expect(begin([change({ address: home, fields })])).toEqual({
      version: 1,
      ...head,
      stack: 'nursery',
      digest: plan().digest,
      targets: { acme: 'workspaces acme at https://toys.test' },
      changes: [
        { address: 'House/acme/home', action: 'update', reason: 'live differs from the manifest', fields },
      ],
    });
  });

  test('never holds more of a secret than that it is set, its version and its source', () => {
    const raw = { env: 'KEY', value: 'planted', set: true, version: 3 };
    const secret = { path: ['key'], before: 'planted', after: raw, shape: 'secret' as const };
    const entry = begin([change({ fields: [secret] })]);
    expect(JSON.stringify(entry)).not.toContain('planted');
    expect(entry.changes[0]?.fields).toMatchObject([
      { before: { set: true }, after: { set: true, version: 3, env: 'KEY' } },
    ]);
  });

  test('keeps what the ledger knew of a resource that goes, its parts too, and of no other', () => {
    const records = {
      'House/acme/home': record({ fields: { colour: 'red', code: { set: true, version: 1 } } }),
      'Garden/acme/home': record({ fields: { colour: 'green' } }),
      'House/acme/other': record({ fields: { colour: 'grey' } }),
      'Garden/acme/other': record({ fields: {} }),
    };
    const [gone, stays] = begin(
      [change({ address: home, action: 'delete' }), change({ address: at('House', 'other') })],
      records,
    ).changes;
    expect(gone?.was).toEqual({
      'House/acme/home': { colour: 'red' },
      'Garden/acme/home': { colour: 'green' },
    });
    expect(stays).not.toHaveProperty('was');
  });

  test('ends with what became of each change, and when', () => {
    const begun = begin([change({ address: home }), change({ address: at('House', 'other') })]);
    const outcome = {
      address: home,
      action: 'update' as const,
      kind: 'failed' as const,
      detail: 'said no',
      done: ['House/acme/home#paint'],
    };
    const ended = endEntry(begun, [outcome], '2026-11-20T11:43:00.000Z');
    expect(ended).toMatchObject({ id: 'e1', ended: '2026-11-20T11:43:00.000Z' });
    expect(ended.changes[0]).toMatchObject({ outcome: 'failed', detail: 'said no', done: outcome.done });
    expect(ended.changes[1]).not.toHaveProperty('outcome');
  });
});
