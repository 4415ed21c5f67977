import { describe, expect, it } from 'vitest';
import { leadsToSecret, maskFrom, maskSecrets, secretFields } from '../../src/manifest/mask-secrets.ts';
import { toyKinds } from './toy-kinds.ts';

const fields = secretFields(toyKinds);
const mask = maskSecrets(fields);

describe('an excerpt', () => {
  it.each([
    ['    token: hvs.CAESIJ', '    token: ***'],
    ["    token: 'hvs.CAESIJ' # mine", '    token: ***'],
    ['- { name: a, token: abc, url: x }', '- { name: a, token: ***'],
    ['  audit-token: abc', '  audit-token: ***'],
    ['  gateKey: abc', '  gateKey: ***'],
    ['  gate_key: "abc"', '  gate_key: ***'],
    ['  "token": abc', '  "token": ***'],
    ['  url: https://me:pw@host/x', '  url: https://***@host/x'],
  ])('hides the secret of %s', (line, masked) => {
    expect(mask(line)).toBe(masked);
  });

  it.each([
    '    token: { env: ACME_TOKEN }',
    '    token:',
    '    token: # from the vault',
    'tokenPolicies: [a, b]',
    'mytoken: a',
    'url: https://host/x',
  ])('shows %s', (line) => {
    expect(mask(line)).toBe(line);
  });

  it('can be cut behind a key or at a value', () => {
    expect(maskFrom('  value: abc', 3, 'key')).toBe('  value: ***');
    expect(maskFrom('  value: abc', 10, 'value')).toBe('  value: ***');
    expect(maskFrom('  value', 3, 'key')).toBe('  ***');
  });
});

it('the secret fields are those of the stack and those that a kind compares as secrets', () => {
  expect([...fields].sort()).toEqual(['auditToken', 'gateKey', 'jwt', 'token']);
});

it('a path leads to a secret in whatever spelling', () => {
  expect(leadsToSecret(['spec', 'gate_key', 'value'], fields)).toBe(true);
  expect(leadsToSecret(['spec', 'targets', '0', 'audit-token'], fields)).toBe(true);
  expect(leadsToSecret(['spec', 'tokenPolicies'], fields)).toBe(false);
});
