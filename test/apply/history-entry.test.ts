import { describe, expect, it } from 'vitest';
import { beginEntry, endEntry } from '../../src/apply/history-entry.ts';
import type { Change } from '../../src/model/change.ts';
import { samples } from '../support/sample-kinds/sample-kind.ts';
import { at, ledgerOf, record } from '../support/sample-kinds/sample-plan.ts';
import { change, plan } from '../support/report/small-plan.ts';

const head = {
  id: 'e1',
  run: { id: 'run-1', who: 'ann', where: 'here' },
  began: '2026-11-20T11:42:00.000Z',
};
const app = at('Parent', 'app');

const begin = (changes: readonly Change[], records: Parameters<typeof ledgerOf>[0] = {}) =>
  beginEntry(plan({ changes }), head, { ledger: ledgerOf(records), kinds: samples });

describe('the entry of an apply', () => {
  it('begins with what was planned, and no outcome', () => {
    const fields = [{ path: ['colour'], before: 'red', after: 'blue', shape: 'scalar' as const }];
    expect(begin([change({ address: app, fields })])).toEqual({
      version: 1,
      ...head,
      stack: 'nursery',
      digest: plan().digest,
      targets: { acme: 'workspaces acme at https://toys.test' },
      unchanged: plan().unchanged,
      changes: [
        { address: 'Parent/acme/app', action: 'update', reason: 'live differs from the manifest', fields },
      ],
    });
  });

  it('has of a secret only whether it is set, its version and its source', () => {
    const raw = { env: 'KEY', value: 'planted', set: true, version: 3 };
    const secret = { path: ['key'], before: 'planted', after: raw, shape: 'secret' as const };
    const entry = begin([change({ fields: [secret] })]);
    expect(JSON.stringify(entry)).not.toContain('planted');
    expect(entry.changes[0]?.fields).toMatchObject([
      { before: { set: true }, after: { set: true, version: 3, env: 'KEY' } },
    ]);
  });

  it('keeps the recorded fields of a deleted resource and its children, and of no other', () => {
    const records = {
      'Parent/acme/app': record({ fields: { colour: 'red', credential: { set: true, version: 1 } } }),
      'Child/acme/app': record({ fields: { colour: 'green' } }),
      'Parent/acme/other': record({ fields: { colour: 'grey' } }),
      'Child/acme/other': record({ fields: {} }),
    };
    const [gone, stays] = begin(
      [change({ address: app, action: 'delete' }), change({ address: at('Parent', 'other') })],
      records,
    ).changes;
    expect(gone?.was).toEqual({
      'Parent/acme/app': { colour: 'red' },
      'Child/acme/app': { colour: 'green' },
    });
    expect(stays).not.toHaveProperty('was');
  });

  it('ends with the outcome of each change, and the time', () => {
    const begun = begin([change({ address: app }), change({ address: at('Parent', 'other') })]);
    const outcome = {
      address: app,
      action: 'update' as const,
      kind: 'failed' as const,
      detail: 'said no',
      done: ['Parent/acme/app#paint'],
    };
    const ended = endEntry(begun, [outcome], '2026-11-20T11:43:00.000Z');
    expect(ended).toMatchObject({ id: 'e1', ended: '2026-11-20T11:43:00.000Z' });
    expect(ended.changes[0]).toMatchObject({ outcome: 'failed', detail: 'said no', done: outcome.done });
    expect(ended.changes[1]).not.toHaveProperty('outcome');
  });
});
