import fc from 'fast-check';
import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import type { FieldChange } from '../../../src/model/field.ts';
import type { HistoryChange } from '../../../src/model/ledger.ts';
import { renderRevert } from '../../../src/commands/history/revert-text.ts';
import { addressOf, entry } from '../../support/ledger/ledger-samples.ts';
import { readAddress } from '../../../src/model/address.ts';

const change = (about: Partial<HistoryChange>): HistoryChange => ({
  address: readAddress('Kind/acme/app'),
  action: 'update',
  reason: 'differs',
  outcome: 'applied',
  fields: [],
  ...about,
});

const field = (path: readonly string[], about: Partial<FieldChange> = {}): FieldChange => ({
  path,
  before: 'old',
  after: 'new',
  shape: 'scalar',
  ...about,
});

const revert = (...changes: readonly HistoryChange[]) =>
  renderRevert(entry('e1', { changes }), { outlives: (kind) => kind === 'Lasting' });

/** The documents of the text, without those that are only comments. */
const documents = (text: string) => loadAll(text).filter((document) => document !== null);

describe('reverting', () => {
  it('an update sets what it changed, with members and keys in their places, and nothing else', () => {
    const text = revert(
      change({
        fields: [
          field(['mode'], { before: null }),
          field(['repo', 'branch'], { before: 'main' }),
          field(['repo', 'path'], { before: [] }),
          field(['tags', '__proto__'], { before: 'x' }),
        ],
      }),
    );
    expect(documents(text)).toEqual([
      {
        apiVersion: 'trueup.dev/v1',
        kind: 'Kind',
        metadata: { name: 'app', target: 'acme' },
        spec: {
          mode: null,
          repo: { branch: 'main', path: [] },
          tags: JSON.parse('{"__proto__": "x"}'),
        },
      },
    ]);
  });

  it('a rename restores the name, with renamedFrom', () => {
    const text = revert(change({ fields: [field(['name'], { before: 'former', after: 'app' })] }));
    expect(documents(text)).toMatchObject([
      { metadata: { name: 'former', target: 'acme', renamedFrom: 'app' }, spec: {} },
    ]);
  });

  it('a value that is not known is reported, and not guessed', () => {
    const { before: _, ...added } = field(['added']);
    const text = revert(
      change({
        fields: [
          field(['key'], { shape: 'secret', before: { set: true, version: 1, env: 'KEY' } }),
          { ...added, path: ['list'], unknown: 'not returned by the service' },
          added,
        ],
      }),
    );
    expect(documents(text)).toEqual([]);
    expect(text).toContain(
      '# key cannot be taken back: it is a secret, and its former value is not kept; it was set (version 1, from env KEY)',
    );
    expect(text).toContain('# list cannot be taken back: its value before was not known (not returned');
    expect(text).toContain('# remove added: it did not exist before');
  });

  it('a release declares the resource again, and adopts it', () => {
    const was = { 'Kind/acme/app': { mode: 'old' }, 'Child/acme/app': { of: 'it' } };
    const text = revert(change({ action: 'release', fields: [field(['claim'])], was }));
    expect(documents(text)).toMatchObject([
      { kind: 'Kind', metadata: { name: 'app', adopt: true }, spec: { mode: 'old' } },
      { kind: 'Child', metadata: { name: 'app' }, spec: { of: 'it' } },
    ]);
  });

  it('an adoption says how to release the resource, with its former values', () => {
    const text = revert(change({ action: 'adopt', fields: [field(['claim']), field(['mode'])] }));
    expect(text).toContain(
      'to give it up again, set these back and declare "onRemove: release", apply, then remove',
    );
    expect(documents(text)).toMatchObject([{ spec: { mode: 'old' } }]);
  });

  it('the deletion of a resource without a record leaves nothing to declare', () => {
    const text = revert(change({ action: 'delete', was: {} }));
    expect(text).toContain('# its settings are not known either');
    expect(documents(text)).toEqual([]);
  });

  it('a change that was made in part, or perhaps, is marked', () => {
    const [partly, perhaps] = [
      revert(change({ outcome: 'failed', done: ['Kind/acme/app#update'], fields: [field(['a'])] })),
      revert(change({ outcome: 'unknown', fields: [field(['a'])] })),
    ];
    expect(partly).toContain('was updated, in part: check it before you take it back');
    expect(perhaps).toContain('was updated, perhaps: check it before you take it back');
  });

  it.each(['failed', 'skipped', 'stale', 'unchanged'] as const)(
    'a change that was %s has no effect',
    (outcome) => {
      expect(revert(change({ outcome, fields: [field(['a'])] }))).toContain('# it changed nothing');
    },
  );
});

it('the text is YAML with any values before, and nothing in it can move a cursor', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, fc.jsonValue(), text, (key, value, name) => {
      const before = JSON.parse(JSON.stringify(value));
      const address = addressOf(name);
      const rendered = revert(change({ address, fields: [field(['tags', key], { before })] }));
      expect(rendered.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      expect(documents(rendered)).toMatchObject([
        { metadata: { name }, spec: JSON.parse(JSON.stringify({ tags: { [key]: before } })) },
      ]);
    }),
  );
});
