// Which texts are JWTs at all, before any claim is checked.
import { describe, expect, it } from 'vitest';
import { parseJwt } from '../../../src/commands/role-check/parse-jwt.ts';

const encoded = (text: string) => Buffer.from(text).toString('base64url');
const part = (value: unknown) => encoded(JSON.stringify(value));
const header = part({ alg: 'ES256' });
const claims = part({ sub: 'a' });
const signed = { protected: header, signature: 'c2ln' };

describe('a JWT', () => {
  it('has three parts, of which the last can be empty', () => {
    expect(parseJwt(`${header}.${claims}.c2ln`)).toMatchObject({
      algorithm: 'ES256',
      needsKeys: false,
      claims: { sub: 'a' },
    });
    expect(parseJwt(`${header}.${claims}.`)).toMatchObject({ signature: Buffer.from('') });
  });

  it('can have the same member in several objects, and texts that look like members', () => {
    const nested = { sub: 'a', more: [{ sub: 'b' }, { sub: '"sub":"c","sub":"d"' }], last: {} };
    expect(parseJwt(`${header}.${part(nested)}.c2ln`)).toMatchObject({ claims: nested });
  });

  it.each([
    '',
    'a.b.c',
    `${header}.${claims}`,
    `${header}.${claims}.c2ln.c2ln`,
    `${header}.${claims}.c2ln!`,
    `${header}.${claims}=a.c2ln`,
    JSON.stringify({ protected: header, payload: claims }),
    JSON.stringify({ protected: header, payload: claims, signature: 1 }),
    JSON.stringify({ payload: claims, signatures: [] }),
    JSON.stringify({ payload: claims, signatures: [signed, signed] }),
    JSON.stringify({ ...signed, payload: claims, header: { nonce: 'a' } }),
    `{"protected":"${header}","payload":"","payload":"${claims}","signature":"c2ln"}`,
    `${header}.${part(['a'])}.c2ln`,
    `${part({})}.${claims}.c2ln`,
    `${part({ alg: 1 })}.${claims}.c2ln`,
    `${part({ alg: 'ES256', kid: 1 })}.${claims}.c2ln`,
    `${part({ alg: 'ES256', jwk: { kty: 'oct', k: 'AAAA' } })}.${claims}.c2ln`,
    `${part({ alg: 'ES256', x5c: ['AAAA'] })}.${claims}.c2ln`,
    `${encoded('{"alg":"ES256","alg":"ES256"}')}.${claims}.c2ln`,
    `${header}.${encoded('{"a":{"sub":"a","s\\u0075b":"b"}}')}.c2ln`,
    `${header}.${encoded('{"exp":1e999}')}.c2ln`,
    `${header}.${Buffer.from('7b2261223a22ff227d', 'hex').toString('base64url')}.c2ln`,
  ])('is not %j', (text) => {
    expect(parseJwt(text)).toHaveProperty('problem');
  });

  it.each([
    ` ${header}.${claims}.c2ln\n`,
    `${header}.${claims}==.c2ln=`,
    JSON.stringify({ ...signed, payload: claims }),
    JSON.stringify({ payload: claims, signatures: [signed] }),
    JSON.stringify({ payload: claims, protected: '', header: { alg: 'ES256', nonce: '' }, signature: '' }),
  ])('in the form %j needs keys', (text) => {
    expect(parseJwt(text)).toMatchObject({ claims: { sub: 'a' }, needsKeys: true });
  });

  it.each([
    [{}, false],
    [{ b64: true }, false],
    [{ crit: null }, false],
    [{ crit: [] }, false],
    [{ crit: ['b64'], b64: true }, false],
    [{ crit: ['exp'] }, true],
    [{ crit: 'b64' }, true],
  ])('with %j in its header is checked for unknown extensions', (more, demandsExtension) => {
    const text = `${part({ alg: 'ES256', ...more })}.${claims}.c2ln`;
    expect(parseJwt(text)).toMatchObject({ demandsExtension });
  });

  it('has no claims if they are null', () => {
    expect(parseJwt(`${header}.${encoded('null')}.c2ln`)).toMatchObject({ claims: {} });
  });

  it('has a maximum length', () => {
    const jwt = (length: number) => `${header}.${part({ pad: 'x'.repeat(length) })}.c2ln`;
    expect(parseJwt(jwt(190_000))).not.toHaveProperty('problem');
    expect(parseJwt(jwt(200_000))).toHaveProperty('problem');
  });
});
