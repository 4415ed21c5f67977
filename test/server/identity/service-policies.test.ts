import { expect, it } from 'vitest';

import { allows, type PolicyRule } from '../../../src/server/identity/service-policies.ts';

const rule = (path: string, ...capabilities: PolicyRule['capabilities']): PolicyRule => ({
  path,
  capabilities,
});

it('denies what no rule grants', () => {
  expect(allows([], 'read', 'auth/k8s/config')).toBe(false);
  expect(allows([rule('auth/k8s/config', 'read')], 'update', 'auth/k8s/config')).toBe(false);
  expect(allows([rule('auth/k8s/config', 'read')], 'read', 'auth/k8s/configs')).toBe(false);
});

it.each([
  ['auth/k8s/role/web', 'auth/k8s/role/web', true],
  ['auth/k8s/role/*', 'auth/k8s/role/web', true],
  ['auth/k8s/role/*', 'auth/k8s/role', false],
  ['auth/k8s/role/web*', 'auth/k8s/role/web-2', true],
  ['auth/+/role/web', 'auth/k8s/role/web', true],
  ['auth/+/role/web', 'auth/a/b/role/web', false],
  ['auth/+/role/*', 'auth/k8s/role/a/b', true],
  ['*', 'anything/at/all', true],
  ['auth/k8s/r.le/web', 'auth/k8s/role/web', false],
  ['auth/k8s/*/web', 'auth/k8s/role/web', false],
])('matches the pattern %s with %s: %s', (pattern, path, expected) => {
  expect(allows([rule(pattern, 'read')], 'read', path)).toBe(expected);
});

it('follows the most precise rule, whichever comes first', () => {
  const rules = [
    rule('auth/*', 'read', 'update'),
    rule('auth/k8s/*', 'read'),
    rule('auth/k8s/config', 'deny'),
    rule('auth/+/role', 'list'),
  ];
  for (const order of [rules, rules.toReversed()]) {
    expect(allows(order, 'update', 'auth/other/config')).toBe(true);
    expect(allows(order, 'update', 'auth/k8s/role/web')).toBe(false);
    expect(allows(order, 'read', 'auth/k8s/role/web')).toBe(true);
    expect(allows(order, 'read', 'auth/k8s/config')).toBe(false);
  }
});

it('adds up capabilities of the same path, and lets deny win', () => {
  const both = [rule('auth/k8s/config', 'read'), rule('auth/k8s/config', 'update')];
  expect(allows(both, 'read', 'auth/k8s/config')).toBe(true);
  expect(allows(both, 'update', 'auth/k8s/config')).toBe(true);
  expect(allows([...both, rule('auth/k8s/config', 'deny')], 'read', 'auth/k8s/config')).toBe(false);
});
