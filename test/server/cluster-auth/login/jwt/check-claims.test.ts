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
  ['zeros, which count as absent', { exp: 0, iat: 0, nbf: 0 }, undefined],
  ['an expiry within the tolerance', { exp: NOW - 60, iat: 1 }, undefined],
  ['an expiry before the tolerance', { exp: NOW - 61, iat: 1 }, EXPIRED],
  ['a not-before time within the tolerance', { nbf: NOW + 60, exp: NOW + 99 }, undefined],
  ['a not-before time after the tolerance', { nbf: NOW + 61, exp: NOW + 99 }, EARLY],
  ['an issue time within the tolerance', { iat: NOW + 60, nbf: 1, exp: NOW + 99 }, undefined],
  ['an issue time after the tolerance', { iat: NOW + 61, nbf: 1, exp: NOW + 99 }, FUTURE],
  ['no expiry, 150 s after the issue time', { iat: NOW - 210 }, undefined],
  ['no expiry, more than 150 s after the issue time', { iat: NOW - 211 }, EXPIRED],
  ['only an expiry, 150 s before it', { exp: NOW + 210 }, undefined],
  ['only an expiry, more than 150 s before it', { exp: NOW + 211 }, EARLY],
  ['an expiry that no clock reaches', { exp: 1e300, iat: 1, nbf: 1 }, EXPIRED],
  ['an expiry in the far future', { exp: 9e18, iat: 1, nbf: 1 }, undefined],
  ['a not-before time that no clock reaches', { nbf: 1e300 }, EARLY],
  ['an expiry with a fraction', { exp: NOW - 60 + 0.9, iat: 1 }, undefined],
  ['null, which counts as absent', { exp: null, iat: null, nbf: null }, undefined],
])('checks a JWT with %s', (_case, claims, problem) => {
  expect(at(claims)).toBe(problem);
});

it.each([
  [{ exp: 'soon' }, 'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate'],
  [{ nbf: true }, 'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate'],
  [{ aud: 7 }, 'go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience'],
  [{ aud: ['a', 7] }, 'go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience'],
  [{ iss: 7 }, 'json: cannot unmarshal number into Go struct field Claims.iss of type string'],
  [{ sub: [] }, 'json: cannot unmarshal array into Go struct field Claims.sub of type string'],
])('refuses %j because of its type', (claims, problem) => {
  expect(at(claims)).toBe(problem);
});

it.each([
  [{ EXP: NOW - 100, iat: 1 }, EXPIRED],
  [{ Exp: NOW - 100, exp: NOW + 100, iat: 1 }, undefined],
  [{ exp: NOW - 100, Eſp: 1, iat: 1 }, EXPIRED],
  [{ Iſs: 7 }, 'json: cannot unmarshal number into Go struct field Claims.iss of type string'],
])('ignores the case of names, and uses the last of several in byte order: %j', (claims, problem) => {
  expect(at(claims)).toBe(problem);
});

it('accepts an audience that is a text', () => {
  expect(claimsProblem({ aud: 'a' }, { issuer: '', audience: 'a' }, 0)).toBeUndefined();
  expect(claimsProblem({ aud: 'ab' }, { issuer: '', audience: 'a' }, 0)).toMatch('audience');
});
