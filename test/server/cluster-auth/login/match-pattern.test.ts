import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesPattern } from '../../../../src/server/cluster-auth/check-account.ts';

it.each([
  ['api', 'api', true],
  ['api', 'api2', false],
  ['*', '', true],
  ['web-*', 'web-', true],
  ['w*1', 'web-1', true],
  ['w*1', 'w', false],
  ['*a*b*', 'xaxbx', true],
  ['*a*b*', 'xbxax', false],
  ['ab*ba', 'aba', false],
  ['web-?', 'web-1', false],
  ['WEB', 'web', false],
  ['a.c', 'abc', false],
  ['', 'a', false],
])('the pattern %j matches the name %j: %j', (pattern, name, isMatch) => {
  expect(matchesPattern([pattern], name)).toBe(isMatch);
  expect(matchesPattern(['no', pattern], name)).toBe(isMatch);
});

it('matches no name with an empty list', () => {
  expect(matchesPattern([], '')).toBe(false);
});

it('matches any text in place of the stars', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1 }), fc.array(fc.string()), (pieces, fillings) => {
      const plain = pieces.map((piece) => piece.replaceAll('*', '-'));
      const name = plain.reduce((text, piece, index) => `${text}${fillings[index] ?? ''}${piece}`);
      expect(matchesPattern([plain.join('*')], name)).toBe(true);
    }),
  );
});
