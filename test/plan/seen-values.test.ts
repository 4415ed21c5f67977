// Which live values of undeclared fields are kept: none that are defaults, and only a digest of a secret.
import { expect, it } from 'vitest';
import { list, scalar, stringMap, text } from '../../src/compare/comparisons.ts';
import type { FieldTable } from '../../src/model/field.ts';
import { undeclaredIn } from '../../src/plan/compare-resource.ts';

const fields: FieldTable = {
  loud: { compare: scalar, default: false },
  note: { compare: text, default: null },
  steps: { compare: list, default: [] },
  labels: { compare: stringMap, default: {} },
};

const seen = (spec: Parameters<typeof undeclaredIn>[1]) => undeclaredIn(fields, spec, { loud: true });

it('Declared fields and defaults are left out', () => {
  expect(seen({ loud: false, note: null, steps: ['a'], labels: {} })).toEqual({ steps: ['a'] });
});

it.each([
  [
    'a password in an address',
    'https://root:hunter2@db.example.com/x',
    /^https:\/\/\*\*\*@db\.example\.com\/x \(sha256 \w{16}\)$/,
  ],
  [
    'a query parameter of an address',
    'https://db.example.com/?key=hunter2',
    /^https:\/\/db\.example\.com\/\?\*\*\* \(sha256 \w{16}\)$/,
  ],
  [
    'a private key',
    'see -----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----',
    /^see \*\*\* \(sha256 \w{16}\)$/,
  ],
])('Only a digest of %s is kept, in texts, lists, and names and values of maps', (_, secret, kept) => {
  const found = seen({ note: secret, steps: [secret], labels: { [secret]: secret } });
  const labels = found['labels'] as Record<string, string>;
  const texts = [found['note'], (found['steps'] as string[])[0], ...Object.entries(labels).flat()];
  expect(texts).toHaveLength(4);
  for (const each of texts) expect(each).toMatch(kept);
  expect(JSON.stringify(found)).not.toContain('hunter2');
});

it('Another secret in the same place is another value', () => {
  const of = (password: string) => seen({ labels: { [`https://root:${password}@db.example.com`]: 'x' } });
  expect(of('hunter2')).not.toEqual(of('hunter3'));
  expect(of('hunter2')).toEqual(of('hunter2'));
});
