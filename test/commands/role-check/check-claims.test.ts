// How a role and a config check the registered claims of a JWT (wire/cluster-auth 3).
import { describe, expect, it } from 'vitest';
import {
  checkAudience,
  checkIssuer,
  checkTimes,
  checkTypes,
} from '../../../src/commands/role-check/claims.ts';
import type { Claims } from '../../../src/commands/role-check/parse-jwt.ts';
import { checkedConfig } from '../../../src/commands/role-check/rules.ts';

const now = 1_800_000_000;

describe('the times of a JWT', () => {
  it.each<[string, Claims, 'passed' | 'failed']>([
    ['an end that is a minute ago', { exp: now - 60 }, 'passed'],
    ['an end that is longer ago', { exp: now - 61 }, 'failed'],
    ['a beginning within a minute', { nbf: now + 60, exp: now + 900 }, 'passed'],
    ['a later beginning', { nbf: now + 61, exp: now + 900 }, 'failed'],
    ['a time of issue in the future', { iat: now + 61, nbf: now, exp: now + 900 }, 'failed'],
    ['no end, 150 s after the issue and the tolerance', { iat: now - 210 }, 'passed'],
    ['no end, a second later', { iat: now - 211 }, 'failed'],
    ['only an end far away, so that it begins 150 s before', { exp: now + 86_400 }, 'failed'],
    ['no time at all', {}, 'passed'],
    ['zeros, which count as missing', { exp: 0, nbf: 0, iat: 0 }, 'passed'],
    ['an end with a fraction', { iat: now, exp: now + 0.5 }, 'passed'],
    ['an end that is not a date', { iat: now, exp: 1e18 }, 'passed'],
    ['an end that the service cannot represent', { iat: now, exp: 1e19 }, 'failed'],
  ])('with %s', (_, claims, result) => {
    expect(checkTimes(claims, now * 1000)).toMatchObject({ name: 'times', result });
  });

  it('are reported in words when they do not hold', () => {
    const messageOf = (claims: Claims) => checkTimes(claims, now * 1000).message;
    expect(messageOf({ exp: now - 5400 })).toBe('the JWT expired 1h30m ago, at 2027-01-15T06:30:00Z');
    expect(messageOf({ exp: now - 864_000 })).toContain('the JWT expired 10 days ago');
    expect(messageOf({ nbf: now + 600, exp: now + 900 })).toBe(
      'the JWT is not valid before 2027-01-15T08:10:00Z, 10m from now',
    );
    expect(messageOf({ iat: 1e17, nbf: 1, exp: 2e17 })).toContain('issued in the future');
  });
});

describe('the audience of a JWT', () => {
  it.each<[string, unknown, 'passed' | 'failed']>([
    ['vault', ['other', 'vault'], 'passed'],
    ['vault', 'vault', 'passed'],
    ['vault', ['Vault'], 'failed'],
    ['vault', [], 'failed'],
    ['vault', undefined, 'failed'],
    ['', undefined, 'passed'],
    ['', ['anything'], 'passed'],
  ])('is checked: the role has "%s", and the JWT has %j', (wanted, aud, result) => {
    expect(checkAudience({ aud }, wanted)).toMatchObject({ result });
  });
});

describe('the issuer of a JWT', () => {
  const config = (spec: Parameters<typeof checkedConfig>[0], defaultIssuer = '') =>
    ({
      is: 'known',
      config: checkedConfig({ clusterHost: 'https://c', ...spec }, { defaultIssuer }),
    }) as const;

  it.each<[string, Parameters<typeof checkedConfig>[0], unknown, string]>([
    ['is compared if validation is on', { issuer: 'a', disableIssValidation: false }, 'a', 'passed'],
    ['is compared exactly', { issuer: 'a', disableIssValidation: false }, 'a/', 'failed'],
    ['must exist if validation is on', { issuer: 'a', disableIssValidation: false }, undefined, 'failed'],
    ['is not compared by default', { issuer: 'a' }, 'b', 'passed'],
    ['is not compared with an empty issuer', { issuer: '', disableIssValidation: false }, 'b', 'passed'],
  ])('%s', (_, spec, iss, result) => {
    expect(checkIssuer({ iss }, config(spec))).toMatchObject({ result });
  });

  it('is compared with the default issuer of the service if the config names none', () => {
    const empty = { disableIssValidation: false };
    expect(checkIssuer({ iss: 'a' }, config(empty, 'a'))).toMatchObject({ result: 'passed' });
    expect(checkIssuer({ iss: 'b' }, config(empty, 'a'))).toMatchObject({ result: 'failed' });
    expect(checkIssuer({ iss: 'b' }, config({}, 'a'))).toMatchObject({ result: 'passed' });
  });
});

describe('the types of claims', () => {
  it.each<[Claims, string]>([
    [{ exp: 'soon' }, 'the claim "exp" is not a number'],
    [{ aud: [1] }, 'the claim "aud" is neither a text nor a list of texts'],
    [{ aud: { a: 1 } }, 'the claim "aud" is neither a text nor a list of texts'],
    [{ iss: 1 }, 'the claim "iss" is not a text'],
  ])('are checked: %j', (claims, message) => {
    expect(checkTypes(claims)).toMatchObject({ result: 'failed', message });
  });

  it('may be missing, and may be null except for the audience', () => {
    expect(checkTypes({ aud: null })).toMatchObject({ result: 'failed' });
    expect(checkTypes({ exp: null, iss: null })).toMatchObject({ result: 'passed' });
  });
});
