import { expect, it } from 'vitest';

import {
  accessRules,
  type PolicyCapability,
  type PolicyRule,
} from '../../../src/server/cluster-auth/policy-rules.ts';

const allows = (rules: readonly PolicyRule[], capability: PolicyCapability, path: string) =>
  accessRules(rules).allows(capability, path);

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

it('applies the most specific rule, in any order of the rules', () => {
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

it.each([
  ['the one with the later first wildcard', 'auth/k8s/+', 'auth/+/config'],
  ['the one with the later first wildcard of any kind', 'auth/k8s/*', 'auth/+/config'],
  ['the one without * at its end', 'auth/+/config', 'auth/+/con*'],
  ['the one with + instead of *', 'auth/k8s/+', 'auth/k8s/*'],
  ['the one with fewer +', 'auth/+/config', 'auth/+/+'],
  ['the longer one', 'auth/+/conf*', 'auth/+/con*'],
  ['the one that sorts last', '+/k8s/+/x', '+/+/rol/x', 'auth/k8s/rol/x'],
])('of two paths with wildcards, only %s applies', (_which, winner, loser, path = 'auth/k8s/config') => {
  const rules = [rule(winner, 'read'), rule(loser, 'update', 'delete')];
  for (const order of [rules, rules.toReversed()]) {
    expect([...accessRules(order).grantedOn(path)]).toEqual(['read']);
  }
});

it('lets a more specific rule take away what a more general one grants', () => {
  const rules = [rule('auth/*', 'update', 'delete', 'read'), rule('auth/+/role/admin', 'read')];
  for (const order of [rules, rules.toReversed()])
    expect([...accessRules(order).grantedOn('auth/k8s/role/admin')]).toEqual(['read']);
});

it.each([
  [{ 'auth/k8s/role/': 'deny', 'auth/k8s/role': 'list' }, []],
  [{ 'auth/k8s/role/': 'deny', 'auth/*': 'list' }, []],
  [{ 'auth/k8s/role': 'deny', 'auth/k8s/role/*': 'list' }, []],
  [{ 'auth/+/role': 'list', 'auth/k8s/role/x': 'read' }, ['list']],
  // A + also matches the empty segment after the last slash.
  [{ 'auth/k8s/role/+': 'deny', 'auth/*': 'list' }, []],
  [{ 'auth/k8s/role/+': 'list', 'auth/*': 'deny' }, ['list']],
  [{ 'auth/k8s/role/*': 'deny', 'auth/k8s/*': 'list' }, []],
] as const)('the rules %j grant a list the capabilities %j', (written, granted) => {
  const rules = Object.entries(written).map(([path, capability]) => rule(path, capability));
  for (const order of [rules, rules.toReversed()]) {
    const found = [...accessRules(order).grantedOn('auth/k8s/role/')];
    expect(found.filter((capability) => capability !== 'deny')).toEqual(granted);
  }
});

it('combines the capabilities of the same path, and deny wins', () => {
  const both = [rule('auth/k8s/config', 'read'), rule('auth/k8s/config', 'update')];
  expect(allows(both, 'read', 'auth/k8s/config')).toBe(true);
  expect(allows(both, 'update', 'auth/k8s/config')).toBe(true);
  expect(allows([...both, rule('auth/k8s/config', 'deny')], 'read', 'auth/k8s/config')).toBe(false);
});

it.each([
  ['auth/k8s/', { 'auth/k8s/config': 'read' }, true],
  ['auth/k8s/', { 'auth/*': 'read' }, true],
  ['auth/k8s/', { 'auth/+/role': 'read' }, true],
  ['auth/k8s/', { 'auth/+': 'read' }, true],
  ['auth/k8s/', { '+/k8s/*': 'read' }, true],
  ['auth/k8s/', { 'auth/k8s/config': 'deny' }, false],
  ['auth/k8s/', { 'auth/*': 'read', 'auth/k8s/*': 'deny' }, false],
  ['auth/k8s/', { 'auth/*': 'deny', 'auth/k8s/role/x': 'read' }, true],
  ['auth/k8s/', { 'auth/k8sx/config': 'read', 'sys/+/role': 'read' }, false],
  ['auth/a/b/', { 'auth/+/role': 'read' }, false],
] as const)('at or below %s the rules %j grant any access: %s', (path, written, expected) => {
  const rules = Object.entries(written).map(([each, capability]) => rule(each, capability));
  expect(accessRules(rules).grantsBelow(path)).toBe(expected);
});

it.each([
  [{ allowed: { ttl: ['1h', '30*'] } }, { ttl: '1h' }, true],
  [{ allowed: { ttl: ['1h', '30*'] } }, { TTL: '30m' }, true],
  [{ allowed: { ttl: ['1h'] } }, { ttl: '2h' }, false],
  [{ allowed: { ttl: ['1h'] } }, { period: '1h' }, false],
  [{ allowed: { ttl: ['1h'] } }, {}, true],
  [{ allowed: { ttl: ['1h'], '*': [] } }, { period: '2h' }, true],
  [{ allowed: { ttl: [] } }, { ttl: 5 }, true],
  [{ allowed: { '*': ['x'] } }, { ttl: 5 }, true],
  [{ denied: { ttl: [] } }, { ttl: '1h' }, false],
  [{ denied: { ttl: ['*h'] } }, { ttl: '1h' }, false],
  [{ denied: { ttl: ['*h'] } }, { ttl: '1m' }, true],
  [{ denied: { '*': [] } }, { ttl: '1m' }, false],
  [{ denied: { '*': [] } }, {}, true],
  [{ denied: { ttl: [true] } }, { ttl: true }, false],
  [{ required: ['TTL'] }, { ttl: '1h' }, true],
  [{ required: ['ttl'] }, {}, false],
])('the parameters %j permit %j: %s', (parameters, sent, expected) => {
  const rules = [{ ...rule('auth/k8s/role/x', 'update', 'list'), ...parameters }];
  expect(accessRules(rules).allows('update', 'auth/k8s/role/x', sent)).toBe(expected);
  expect(accessRules(rules).allows('list', 'auth/k8s/role/x', sent)).toBe(true);
});

it('combines the parameters of the same path, and an empty list allows all values', () => {
  const rules = [
    { ...rule('x', 'update'), allowed: { ttl: ['1h'], audience: ['a'] }, required: ['ttl'] },
    { ...rule('x', 'update'), allowed: { ttl: ['2h'], audience: [] }, required: ['audience'] },
  ];
  const may = (sent: object) => accessRules(rules).allows('update', 'x', { ...sent });
  expect(may({ ttl: '2h', audience: 'any' })).toBe(true);
  expect(may({ ttl: '3h', audience: 'any' })).toBe(false);
  expect(may({ ttl: '1h' })).toBe(false);
});
