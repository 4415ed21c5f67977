import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesPattern, patternsOverlap } from '../../src/model/name-pattern.ts';

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
  ])('decides for "%s" against "%s": %s', (name, pattern, matches) => {
    expect(matchesPattern(name, pattern)).toBe(matches);
  });

  it('treats only the star as special', () => {
    for (const pattern of ['a?c', 'a.c', '[a-c]', '{a,b}', '!a', 'a\\*'])
      expect(matchesPattern('abc', pattern)).toBe(false);
    expect(matchesPattern('a?c.[x]', 'a?c.[*]')).toBe(true);
  });

  it('matches any text in place of its stars', () => {
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

describe('two name patterns', () => {
  it.each([
    ['payments-*', 'payments-api', true],
    ['payments-*', 'billing-*', false],
    ['payments-*', '*-api', true],
    ['payments-*', 'pay*', true],
    ['*-api', '*-web', false],
    ['*-api', 'api', false],
    ['a*a', 'a', false],
    ['a*b', 'b*a', false],
    ['*', '', true],
    ['', '', true],
    ['PAYMENTS-*', 'payments-api', true],
    ['Ci', 'cI', true],
  ])('such as "%s" and "%s" may match the same name: %s', (one, other, overlap) => {
    expect(patternsOverlap(one, other)).toBe(overlap);
    expect(patternsOverlap(other, one)).toBe(overlap);
  });

  it('overlap exactly when there is a text that both match', () => {
    // A text that both match has at most as many letters as both patterns together.
    const texts = textsUpTo(8);
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 5 });
    fc.assert(
      fc.property(pattern, pattern, (one, other) => {
        fc.pre((one + other).replaceAll('*', '').length <= 8);
        const common = texts.some((text) => matchesPattern(text, one) && matchesPattern(text, other));
        expect(patternsOverlap(one, other)).toBe(common);
      }),
      { numRuns: 1000 },
    );
  });
});

/** Every text of "a" and "b" up to this length. */
function textsUpTo(length: number): string[] {
  if (length === 0) return [''];
  const shorter = textsUpTo(length - 1);
  const longest = shorter.filter((text) => text.length === length - 1);
  return [...shorter, ...longest.flatMap((text) => [`${text}a`, `${text}b`])];
}
