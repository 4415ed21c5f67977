import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseJwt as parse } from '../../../../../src/server/cluster-auth/jwt.ts';
import { fixtures } from '../../../../support/server/cluster-auth/replay/vectors.ts';

const parseJwt = (text: string) => parse(text, false);
const part = (text: string) => Buffer.from(text).toString('base64url');
const jwt = (header: string, claims: string, signature = 'AAAA') =>
  `${part(header)}.${part(claims)}.${signature}`;
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });

it('reads the algorithm and the claims', () => {
  expect(parseJwt(jwt('{"alg":"ES256"}', '{"iss":"x","n":{"a":[1,{"b":2}]}}'))).toMatchObject({
    algorithm: 'ES256',
    claims: { iss: 'x', n: { a: [1, { b: 2 }] } },
    signature: Buffer.from('AAAA', 'base64url'),
  });
});

it('reads quotes and colons inside of texts', () => {
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
  ['an algorithm that is not a text', jwt('{"alg":["ES256"]}', '{}')],
  ['a key id that is not a text', jwt('{"alg":"ES256","kid":7}', '{}')],
  ['a nonce that is not a text', jwt('{"alg":"ES256","nonce":{}}', '{}')],
  ['an invalid key', jwt('{"alg":"ES256","jwk":{"kty":"nope"}}', '{}')],
  ['a key that is a text', jwt('{"alg":"ES256","jwk":"x"}', '{}')],
  ['a shared key', jwt('{"alg":"ES256","jwk":{"kty":"oct","k":"AA"}}', '{}')],
  [
    'a private key',
    jwt(JSON.stringify({ alg: 'ES256', jwk: pair.privateKey.export({ format: 'jwk' }) }), '{}'),
  ],
  ['an invalid certificate', jwt('{"alg":"ES256","x5c":["AAAA"]}', '{}')],
  ['certificates that are not a list', jwt('{"alg":"ES256","x5c":"AAAA"}', '{}')],
  ['claims that are a list', jwt('{"alg":"ES256"}', '[]')],
  ['claims that are not JSON', jwt('{"alg":"ES256"}', '{')],
  ['an infinite number', jwt('{"alg":"ES256"}', '{"exp":1e999}')],
  [
    'bytes that are not UTF-8',
    `${part('{"alg":"ES256"}')}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.AA`,
  ],
  ['padding', `${part('{"alg":"ES256"}')}=.${part('{}')}.AA`],
  ['a blank', ` ${jwt('{"alg":"ES256"}', '{}')}`],
  ['two parts', `${part('{"alg":"ES256"}')}.${part('{}')}`],
  ['four parts', `${jwt('{"alg":"ES256"}', '{}')}.AA`],
  ['a very long header', jwt(`{"alg":"ES256","x":"${'x'.repeat(300_000)}"}`, '{}')],
])('refuses %s', (_case, text) => {
  expect(parseJwt(text)).toBeUndefined();
});

it('reads a header with keys, and does not use them', () => {
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

it('reads a JWT without a signature', () => {
  expect(parseJwt(jwt('{"alg":"ES256"}', '{}', ''))?.signature).toHaveLength(0);
});

it('reads null claims as absent', () => {
  expect(parseJwt(jwt('{"alg":"ES256"}', 'null'))?.claims).toEqual({});
});

it.each([
  [{}, false],
  [{ crit: [] }, false],
  [{ crit: null }, false],
  [{ crit: ['b64'], b64: true }, false],
  [{ crit: ['x'], x: 1 }, true],
  [{ crit: ['b64', 'exp'] }, true],
  [{ crit: 'b64' }, true],
])('reports whether a header requires an extension: %j', (more, demands) => {
  expect(parseJwt(jwt(JSON.stringify({ alg: 'ES256', ...more }), '{}'))?.demandsExtension).toBe(demands);
});

it('uses the unencoded payload for the signature if the header requires it', () => {
  const signed = (header: string) => parseJwt(jwt(header, '{}'))?.signed.toString();
  const encoded = '{"alg":"ES256","b64":true}';
  expect(signed(encoded)).toBe(`${part(encoded)}.${part('{}')}`);
  const plain = '{"alg":"ES256","b64":false}';
  expect(signed(plain)).toBe(`${part(plain)}.{}`);
});

describe('other forms', () => {
  const header = part('{"alg":"ES256"}');
  const json = { protected: header, payload: part('{"iss":"x"}'), signature: 'AAAA' };
  const { payload, ...signature } = json;
  const forms: readonly (readonly [what: string, text: string])[] = [
    ['white space at its ends and inside', ` \t${header}.${json.payload}\r\n.AA AA\n\f`],
    ['padding', `${header}=.${json.payload}==.AAAA====`],
    ['a flattened JWS in JSON', JSON.stringify(json, undefined, 2)],
    ['a general JWS in JSON with one signature', JSON.stringify({ payload, signatures: [signature] })],
    [
      'a JWS whose algorithm is not protected',
      JSON.stringify({ ...json, protected: '', header: { alg: 'ES256' } }),
    ],
  ];

  it.each(forms)('are read if the signature is to be verified: %s', (_what, text) => {
    expect(parse(text, true)).toMatchObject({ algorithm: 'ES256', claims: { iss: 'x' } });
  });

  it.each(forms)('are refused if the signature is not to be verified: %s', (_what, text) => {
    expect(parse(text, false)).toBeUndefined();
  });

  it.each([
    ['two signatures', { payload, signatures: [signature, signature] }],
    ['a nonce that is not protected', { ...json, header: { nonce: 'n' } }],
    ['no payload', signature],
    ['a payload that is not a text', { ...json, payload: {} }],
    ['an unprotected header that is a list', { ...json, header: [] }],
  ])('are invalid with %s', (_what, value) => {
    expect(parse(JSON.stringify(value), true)).toBeUndefined();
  });

  it('are invalid with a vertical tab, a no-break space or a byte order mark', () => {
    for (const sign of ['\v', '\u00a0', '\ufeff'])
      expect(parse(`${sign}${header}.${json.payload}.AAAA`, true)).toBeUndefined();
  });

  it('may require an extension in an unprotected header', () => {
    const text = JSON.stringify({ ...json, header: { crit: ['b64'] } });
    expect(parse(text, true)?.demandsExtension).toBe(true);
  });

  it('are refused immediately if their padding is very long', () => {
    expect(parse(`${'='.repeat(200_000)}x.${json.payload}.AAAA`, true)).toBeUndefined();
  });
});
