import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { parseJwt } from '../../../../../src/server/cluster-auth/login/jwt/parse-jwt.ts';
import { fixtures } from '../../../../support/server/cluster-auth/replay/vectors.ts';

const part = (text: string) => Buffer.from(text).toString('base64url');
const jwt = (header: string, claims: string, signature = 'AAAA') =>
  `${part(header)}.${part(claims)}.${signature}`;
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });

it('reads the algorithm and the claims', () => {
  expect(parseJwt(jwt('{"alg":"ES256"}', '{"iss":"x","n":{"a":[1,{"b":2}]}}'))).toMatchObject({
    algorithm: 'ES256',
    claims: { iss: 'x', n: { a: [1, { b: 2 }] } },
    isSigned: true,
  });
});

it('takes quotes and colons within texts for what they are', () => {
  expect(parseJwt(jwt('{"alg":"ES256"}', '{"a":"b\\":\\"c:d","e":"\\\\"}'))?.claims).toEqual({
    a: 'b":"c:d',
    e: '\\',
  });
});

it.each([
  ['a claim twice', jwt('{"alg":"ES256"}', '{"aud":"a","aud":"b"}')],
  ['a claim twice, once with an escape', jwt('{"alg":"ES256"}', '{"aud":"a","a\\u0075d":"b"}')],
  ['a nested claim twice', jwt('{"alg":"ES256"}', '{"k":{"x":1,"x":2}}')],
  ['the algorithm twice', jwt('{"alg":"none","alg":"ES256"}', '{}')],
  ['no algorithm', jwt('{}', '{}')],
  ['an algorithm that is no text', jwt('{"alg":["ES256"]}', '{}')],
  ['a critical extension', jwt('{"alg":"ES256","crit":["x"]}', '{}')],
  ['a payload that is not encoded', jwt('{"alg":"ES256","b64":false}', '{}')],
  ['the name of a key that is no text', jwt('{"alg":"ES256","kid":7}', '{}')],
  ['a nonce that is no text', jwt('{"alg":"ES256","nonce":{}}', '{}')],
  ['a key that is none', jwt('{"alg":"ES256","jwk":{"kty":"nope"}}', '{}')],
  ['a key that is a text', jwt('{"alg":"ES256","jwk":"x"}', '{}')],
  ['a shared key', jwt('{"alg":"ES256","jwk":{"kty":"oct","k":"AA"}}', '{}')],
  [
    'a private key',
    jwt(JSON.stringify({ alg: 'ES256', jwk: pair.privateKey.export({ format: 'jwk' }) }), '{}'),
  ],
  ['a certificate that is none', jwt('{"alg":"ES256","x5c":["AAAA"]}', '{}')],
  ['certificates that are no list', jwt('{"alg":"ES256","x5c":"AAAA"}', '{}')],
  ['claims that are a list', jwt('{"alg":"ES256"}', '[]')],
  ['claims that are no JSON', jwt('{"alg":"ES256"}', '{')],
  ['a number without end', jwt('{"alg":"ES256"}', '{"exp":1e999}')],
  [
    'bytes that are no text',
    `${part('{"alg":"ES256"}')}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.AA`,
  ],
  ['padding', `${part('{"alg":"ES256"}')}=.${part('{}')}.AA`],
  ['a blank', ` ${jwt('{"alg":"ES256"}', '{}')}`],
  ['two parts', `${part('{"alg":"ES256"}')}.${part('{}')}`],
  ['four parts', `${jwt('{"alg":"ES256"}', '{}')}.AA`],
  ['a header without end', jwt(`{"alg":"ES256","x":"${'x'.repeat(300_000)}"}`, '{}')],
])('takes %s for no JWT', (_case, text) => {
  expect(parseJwt(text)).toBeUndefined();
});

it('reads a header that tells of keys, and uses none of them', () => {
  const certificate = fixtures().certs.server.certificate.replaceAll(/-----[A-Z ]+-----|\s/g, '');
  const header = {
    alg: 'ES256',
    kid: 'k',
    nonce: null,
    typ: 7,
    jwk: pair.publicKey.export({ format: 'jwk' }),
    x5c: [certificate],
  };
  expect(parseJwt(jwt(JSON.stringify(header), '{}'))?.algorithm).toBe('ES256');
  expect(parseJwt(jwt('{"alg":"ES256","kid":null,"jwk":null,"x5c":null}', '{}'))).toBeDefined();
});

it('knows a JWT without a signature', () => {
  expect(parseJwt(jwt('{"alg":"ES256"}', '{}', ''))?.isSigned).toBe(false);
});
