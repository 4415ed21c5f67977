import { describe, expect, it } from 'vitest';
import { findHidden } from '../../src/manifest/yaml/hidden-parts.ts';
import { leadsToSecret, maskFrom, secretFields, secretNames } from '../../src/manifest/yaml/secret-fields.ts';
import { createSourceText } from '../../src/manifest/yaml/yaml-document.ts';
import { sampleKinds } from '../support/manifest/sample-kinds.ts';

const fields = secretFields(sampleKinds);

/** Every line of a text as an excerpt shows it. */
function shown(text: string): string[] {
  const source = createSourceText('a.yaml', text, (input) => findHidden(input, secretNames(sampleKinds)));
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return starts.map((start) => source.place(start, start + 1).text);
}

const mask = (line: string) => shown(line).join('\n');

describe('an excerpt', () => {
  it.each([
    ['    token: hvs.CAESIJ', '    token: ***'],
    ["    token: 'hvs.CAESIJ' # mine", '    token: ***'],
    ['- { name: a, token: abc, url: x }', '- { name: a, token: ***'],
    ['  audit-token: abc', '  audit-token: ***'],
    ['  authKey: abc', '  authKey: ***'],
    ['  auth_key: "abc"', '  auth_key: ***'],
    ['  "token": abc', '  "token": ***'],
    ['  url: https://me:pw@host/x', '  url: ***'],
    ['  urls: https://host/x', '  urls: ***'],
    ['  description: https://me:pw@host/x', '  description: https://***@host/x'],
    ['  description: https://host/x?key=abc', '  description: https://host/x?***'],
    ['  description: "see https://me:p w@host/x"', '  description: "see https://***@host/x"'],
    ['  toekn: abc', '  toekn: ***'],
    ['  "tok\\u0065n": abc', '  "tok\\u0065n": ***'],
    ['? token\n: abc', '? token\n: ***'],
    ['- { name: a, token: { abc } }', '- { name: a, token: { ***'],
    ['- { url: [abc], x: }', '- { url: [***'],
    ['token: !abc', 'token: ***'],
    ['mytoken: abc', 'mytoken: ***'],
    ['token: &abc x', 'token: &***'],
    ['token: { env: s3cr3t }', 'token: { env: ***'],
  ])('hides the secret of %s', (line, masked) => {
    expect(mask(line)).toBe(masked);
  });

  it.each([
    '    token: { env: ACME_TOKEN }',
    '    token:',
    '    token: # from the vault',
    'tokenPolicies: [a, b]',
    'tokenizer: a',
    'url: https://host:8200',
    'url: embedded',
    'ledger: { git: { remote: } }',
    'ledger: git',
  ])('shows %s', (line) => {
    expect(mask(line)).toBe(line);
  });

  it.each([
    ['a quote', 'token: "ab\n  c"\nnext: 1'],
    ['a plain text', 'token: ab\n  c\nnext: 1'],
    ['a block of text', 'token: |\n  ab\n  c\nnext: 1'],
    ['a list', 'token: [ab,\n  c]\nnext: 1'],
    ['a list in lines', 'token:\n- ab\n- c\nnext: 1'],
    ['a map of keys', 'token:\n  ab: 1\n  c: 2\nnext: 1'],
    ['the value of an alias', 'x: &a |\n  ab\n  c\ntoken: *a\nnext: 1'],
  ])('hides %s over several lines, and shows the next field', (_, text) => {
    const lines = shown(text);
    expect(lines.join('\n')).not.toMatch(/ab|\bc\b/);
    expect(lines.at(-1)).toBe('next: 1');
  });

  it.each([
    ['without a space after its colon', 'token:abc\nnext: 1'],
    ['without a colon', 'token abc\nnext: 1'],
    ['with an equals sign', 'token = abc\nnext: 1'],
    ['on a line that is not indented', 'token:\nabc\nnext: 1\n@'],
    ['in a quote that ends later', 'token: "x\n--- \nabc"\nnext: 1\n@'],
    ['in a bracket that ends later', 'token: [x,\nnext: [abc\n]]\nnext: 1\n@'],
    ['by an alias', 'x: &a abc\ntoken: *a\nnext: 1\n@'],
    ['misspelt', 'toekn: abc\nnext: 1\n@'],
    ['in braces', '- { token: abc }\n- { next: 1 }\n@'],
  ])('hides the secret of a text that is not YAML: %s', (_, text) => {
    const lines = shown(text);
    expect(lines.join('\n')).not.toContain('abc');
    expect(lines.join('\n')).toContain('next: 1');
  });

  it('can be cut after a key or at a value', () => {
    expect(maskFrom('  value: abc', 3, 'key')).toBe('  value: ***');
    expect(maskFrom('  value: abc', 10, 'value')).toBe('  value: ***');
    expect(maskFrom('  value', 3, 'key')).toBe('  ***');
    expect(maskFrom('  { token: ***', 30, 'value')).toBe('  { token: ***');
  });
});

it('the secret fields are those of the stack and those that a kind compares as secrets', () => {
  expect([...fields].sort()).toEqual(['auditToken', 'authKey', 'jwt', 'token']);
});

it('a path leads to a secret in any spelling', () => {
  expect(leadsToSecret(['spec', 'auth_key', 'value'], fields)).toBe(true);
  expect(leadsToSecret(['spec', 'targets', '0', 'audit-token'], fields)).toBe(true);
  expect(leadsToSecret(['spec', 'tokenPolicies'], fields)).toBe(false);
});
