import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { camelCase, kebabCase, snakeCase } from '../../src/model/field.ts';

describe('names of the API and of manifests', () => {
  it.each([
    ['execution-mode', 'executionMode', kebabCase],
    ['vcs-repo', 'vcsRepo', kebabCase],
    ['delete-older-than-n-days', 'deleteOlderThanNDays', kebabCase],
    ['name', 'name', kebabCase],
    ['token_max_ttl', 'tokenMaxTtl', snakeCase],
    ['bound_service_account_namespace_selector', 'boundServiceAccountNamespaceSelector', snakeCase],
  ])('%s becomes %s, and back', (wire, field, back) => {
    expect(camelCase(wire)).toBe(field);
    expect(back(field)).toBe(wire);
  });

  it('are converted into each other by one rule, for any words', () => {
    const wordOf = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
    const words = fc.array(wordOf, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(words, (parts) => {
        expect(kebabCase(camelCase(parts.join('-')))).toBe(parts.join('-'));
        expect(snakeCase(camelCase(parts.join('_')))).toBe(parts.join('_'));
        expect(camelCase(parts.join('-'))).toBe(camelCase(parts.join('_')));
      }),
    );
  });
});
