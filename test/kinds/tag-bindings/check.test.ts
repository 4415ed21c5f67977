import { describe, expect, it } from 'vitest';
import { tagBindings as kind } from '../../../src/kinds/tag-bindings/index.ts';
import type { Spec } from '../../../src/model/resource.ts';
import { declare } from '../../support/services/workspaces/plan-organization.ts';
import { knownDialect } from '../../support/kinds/known-dialect.ts';

function findings(spec: Spec): string[] {
  const others = {
    declared: () => undefined,
    target: { name: 'acme', service: 'workspaces', url: 'embedded', dialect: 'neutral' },
    dialect: knownDialect('workspaces'),
  } as const;
  const found = kind.check?.(declare('TagBindings', 'app', spec), others) ?? [];
  return found.map(({ code, path, severity }) => `${severity} ${code} at ${path.join(' ')}`);
}

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '1']));

describe('Tag bindings are refused when', () => {
  it.each<[string, Spec, readonly string[]]>([
    [
      'there are ten, because one place is for the ownership tag',
      { tags: many(10) },
      ['error too-many-tags at tags'],
    ],
    [
      'a key is the one of the ownership tag',
      { tags: { 'trueup-stack': 'x' } },
      ['error claim-as-tag at tags trueup-stack'],
    ],
    ['a key has a reserved prefix', { tags: { 'hc:a': 'x' } }, ['error reserved-tag at tags hc:a']],
    [
      'a key has the longer reserved prefix',
      { tags: { 'hcp:a': 'x' } },
      ['error reserved-tag at tags hcp:a'],
    ],
    ['a key has a space', { tags: { 'a b': 'x' } }, ['error bad-tag at tags a b']],
    ['a key is empty', { tags: { '': 'x' } }, ['error bad-tag at tags ']],
    ['a key is too long', { tags: { ['k'.repeat(129)]: 'x' } }, [`error bad-tag at tags ${'k'.repeat(129)}`]],
    ['a value is too long', { tags: { a: 'v'.repeat(257) } }, ['error bad-tag at tags a']],
    ['a value has a slash', { tags: { a: 'x/y' } }, ['error bad-tag at tags a']],
  ])('%s', (_, spec, expected) => expect(findings(spec)).toEqual(expected));
});

describe('Tag bindings are fine when', () => {
  it.each<[string, Spec]>([
    ['there are nine', { tags: many(9) }],
    ['they use all that the service allows', { tags: { 'aZ0_.=+-@:': 'aZ0_.=+-@:', empty: '', none: null } }],
    ['they are as long as the service allows', { tags: { ['k'.repeat(128)]: 'v'.repeat(256) } }],
    ['there are none', { tags: {} }],
    ['they are null', { tags: null }],
  ])('%s', (_, spec) => expect(findings(spec)).toEqual([]));

  it('one is declared and kept, with a warning', () => {
    expect(findings({ tags: { 'cost-a': 'x' }, keep: ['b', 'cost-*'] })).toEqual([
      'warning kept-and-declared at tags cost-a',
    ]);
  });
});
