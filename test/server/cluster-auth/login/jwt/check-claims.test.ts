import { expect, it } from 'vitest';
import { claimsProblem } from '../../../../../src/server/cluster-auth/jwt.ts';

const NOW = 1_000_000;
const ANY = { issuer: '', audience: '' };
const at = (claims: Record<string, unknown>) => claimsProblem(claims, ANY, NOW * 1000);

const EARLY = 'invalid not before (nbf) claim: token not yet valid';
const EXPIRED = 'invalid expiration time (exp) claim: token is expired';
const FUTURE = 'invalid issued at (iat) claim: token issued in the future';

it.each([
  ['no time at all', {}, undefined],
  ['zeros, which are none', { exp: 0, iat: 0, nbf: 0 }, undefined],
  ['an end within the tolerance', { exp: NOW - 60, iat: 1 }, undefined],
  ['an end before it', { exp: NOW - 61, iat: 1 }, EXPIRED],
  ['a beginning within the tolerance', { nbf: NOW + 60, exp: NOW + 99 }, undefined],
  ['a beginning behind it', { nbf: NOW + 61, exp: NOW + 99 }, EARLY],
  ['an issue within the tolerance', { iat: NOW + 60, nbf: 1, exp: NOW + 99 }, undefined],
  ['an issue behind it', { iat: NOW + 61, nbf: 1, exp: NOW + 99 }, FUTURE],
  ['no end: 150 s after the issue', { iat: NOW - 210 }, undefined],
  ['no end: more than that', { iat: NOW - 211 }, EXPIRED],
  ['an end alone: it begins 150 s before', { exp: NOW + 210 }, undefined],
  ['an end alone that is further', { exp: NOW + 211 }, EARLY],
  ['an end that no clock reaches', { exp: 1e300, iat: 1, nbf: 1 }, EXPIRED],
  ['an end that is far', { exp: 9e18, iat: 1, nbf: 1 }, undefined],
  ['a beginning that no clock reaches', { nbf: 1e300 }, EARLY],
  ['a fraction', { exp: NOW - 60 + 0.9, iat: 1 }, undefined],
  ['null, which is none', { exp: null, iat: null, nbf: null }, undefined],
])('with %s', (_case, claims, problem) => {
  expect(at(claims)).toBe(problem);
});

it.each([
  [{ exp: 'soon' }, 'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate'],
  [{ nbf: true }, 'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate'],
  [{ aud: 7 }, 'go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience'],
  [{ aud: ['a', 7] }, 'go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience'],
  [{ iss: 7 }, 'json: cannot unmarshal number into Go struct field Claims.iss of type string'],
  [{ sub: [] }, 'json: cannot unmarshal array into Go struct field Claims.sub of type string'],
])('refuses %j by its type', (claims, problem) => {
  expect(at(claims)).toBe(problem);
});

it.each([
  [{ EXP: NOW - 100, iat: 1 }, EXPIRED],
  [{ Exp: NOW - 100, exp: NOW + 100, iat: 1 }, undefined],
  [{ exp: NOW - 100, Eſp: 1, iat: 1 }, EXPIRED],
  [{ Iſs: 7 }, 'json: cannot unmarshal number into Go struct field Claims.iss of type string'],
])('reads names in any case, of several the last in the order of bytes: %j', (claims, problem) => {
  expect(at(claims)).toBe(problem);
});

it('takes an audience as a text, too', () => {
  expect(claimsProblem({ aud: 'a' }, { issuer: '', audience: 'a' }, 0)).toBeUndefined();
  expect(claimsProblem({ aud: 'ab' }, { issuer: '', audience: 'a' }, 0)).toMatch('audience');
});
