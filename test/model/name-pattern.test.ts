import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesPattern } from '../../src/model/name-pattern.ts';

describe('a name pattern', () => {
  it.each([
    ['payments-api', 'payments-*', true],
    ['payments-', 'payments-*', true],
    ['payments', 'payments-*', false],
    ['ci', '*', true],
    ['', '*', true],
    ['a-b-c', 'a*b*c', true],
    ['ab', 'a*b*b', false],
    ['aba', 'aba*aba', false],
    ['app', 'app', true],
    ['App', 'app', false],
    ['', '', true],
  ])('says of "%s" against "%s": %s', (name, pattern, matches) => {
    expect(matchesPattern(name, pattern)).toBe(matches);
  });

  it('takes nothing but the star as special', () => {
    for (const pattern of ['a?c', 'a.c', '[a-c]', '{a,b}', '!a', 'a\\*'])
      expect(matchesPattern('abc', pattern)).toBe(false);
    expect(matchesPattern('a?c.[x]', 'a?c.[*]')).toBe(true);
  });

  it('matches whatever its stars are replaced with', () => {
    const piece = fc.string({ maxLength: 5 }).map((text) => text.replaceAll('*', ''));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(piece, fc.string({ maxLength: 5 })), { minLength: 1 }),
        piece,
        (parts, end) => {
          const pattern = `${parts.map(([fixed]) => `${fixed}*`).join('')}${end}`;
          const name = `${parts.map(([fixed, any]) => `${fixed}${any}`).join('')}${end}`;
          expect(matchesPattern(name, pattern)).toBe(true);
        },
      ),
    );
  });
});
