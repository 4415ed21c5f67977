// What is a JWT at all, before anything is believed of it.
import { describe, expect, it } from 'vitest';
import { parseJwt } from '../../../src/cli/role-check/parse-jwt.ts';

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
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
  ])('is not %j', (text) => {
    expect(parseJwt(text)).toBeUndefined();
  });
});
