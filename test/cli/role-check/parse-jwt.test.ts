// What is a JWT at all, before anything is believed of it.
import { describe, expect, it } from 'vitest';
import { parseJwt } from '../../../src/cli/role-check/parse-jwt.ts';

const encoded = (text: string) => Buffer.from(text).toString('base64url');
const part = (value: unknown) => encoded(JSON.stringify(value));
const header = part({ alg: 'ES256' });
const claims = part({ sub: 'a' });

describe('a JWT', () => {
  it('has three parts, the last of them perhaps empty', () => {
    expect(parseJwt(`${header}.${claims}.c2ln`)).toMatchObject({
      algorithm: 'ES256',
      isSigned: true,
      claims: { sub: 'a' },
    });
    expect(parseJwt(`${header}.${claims}.`)).toMatchObject({ isSigned: false });
  });

  it('may have the same member in several objects, and texts that look like members', () => {
    const nested = { sub: 'a', more: [{ sub: 'b' }, { sub: '"sub":"c","sub":"d"' }], last: {} };
    expect(parseJwt(`${header}.${part(nested)}.c2ln`)).toMatchObject({ claims: nested });
  });

  it.each([
    '',
    'a.b.c',
    `${header}.${claims}`,
    `${header}.${claims}.c2ln.c2ln`,
    `${header}.${claims}.c2ln `,
    `${header}.${claims}==.c2ln`,
    `${header}.${part(['a'])}.c2ln`,
    `${part({})}.${claims}.c2ln`,
    `${part({ alg: 1 })}.${claims}.c2ln`,
    `${part({ alg: 'ES256', crit: ['b64'], b64: false })}.${claims}.c2ln`,
    `${part({ alg: 'ES256', b64: true })}.${claims}.c2ln`,
    `${encoded('{"alg":"ES256","alg":"ES256"}')}.${claims}.c2ln`,
    `${header}.${encoded('{"a":{"sub":"a","s\\u0075b":"b"}}')}.c2ln`,
    `${header}.${encoded('{"exp":1e999}')}.c2ln`,
    `${header}.${Buffer.from('7b2261223a22ff227d', 'hex').toString('base64url')}.c2ln`,
  ])('is not %j', (text) => {
    expect(parseJwt(text)).toHaveProperty('problem');
  });

  it('is not longer than any that is accepted', () => {
    const jwt = (length: number) => `${header}.${part({ pad: 'x'.repeat(length) })}.c2ln`;
    expect(parseJwt(jwt(190_000))).not.toHaveProperty('problem');
    expect(parseJwt(jwt(200_000))).toHaveProperty('problem');
  });
});
