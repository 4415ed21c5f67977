/**
 * JWTs that an attacker makes from a valid one to log in as another account: by all known attacks, and by random changes of
 * bytes. The result can by chance be the valid JWT again.
 */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { publicKeyOf } from './issuing-cluster.ts';

export interface Parts {
  readonly header: string;
  readonly claims: string;
  readonly signature: string;
}

/** Header and claims decoded as texts, and the encoded signature. */
export function partsOf(jwt: string): Parts {
  const [header = '', claims = '', signature = ''] = jwt.split('.');
  return { header: decoded(header), claims: decoded(claims), signature };
}

function decoded(part: string): string {
  return Buffer.from(part, 'base64url').toString('utf8');
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function joined({ header, claims, signature }: Parts): string {
  return `${encoded(header)}.${encoded(claims)}.${signature}`;
}

type Mutation = (jwt: string) => string;

const attacker = {
  'P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

const algorithm = fc.constantFrom(
  ...['none', 'None', 'NONE', '', 'HS256', 'HS384', 'HS512', 'RS256', 'RS512', 'PS256', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'ES256K', 'EdDSA', 'Ed25519', 'dir', 'RSA-OAEP'],
);

const memberValue = fc.constantFrom<unknown>(
  'x',
  7,
  -1,
  4e9,
  1e308,
  true,
  null,
  [],
  ['x'],
  {},
  'service',
  [7],
);

const claimName = fc.constantFrom(
  ...['sub', 'iss', 'aud', 'exp', 'nbf', 'iat', 'kubernetes.io', 'kubernetes.io/serviceaccount/namespace'],
  ...['kubernetes.io/serviceaccount/service-account.name', '__proto__', 'Exp', 'toString'],
);

/** Replaces the account of the JWT by the one that an attacker wants. */
const asAdmin = (claims: string) => claims.replaceAll('"api"', '"admin"').replaceAll(':api"', ':admin"');

function withHeader(
  jwt: string,
  change: (header: Record<string, unknown>) => unknown,
  claims = (text: string) => text,
) {
  const parts = partsOf(jwt);
  const header = { ...(JSON.parse(parts.header) as Record<string, unknown>) };
  return { ...parts, header: JSON.stringify(change(header)), claims: claims(parts.claims) };
}

/** Signs again. @param make the signature of an input */
function resigned(parts: Parts, make: (input: string) => Buffer): string {
  const input = `${encoded(parts.header)}.${encoded(parts.claims)}`;
  return `${input}.${make(input).toString('base64url')}`;
}

/** Uses the public key as a shared secret of HMAC, with and without its last line break. */
const confusedKey = fc
  .tuple(fc.constantFrom('sha256', 'sha384', 'sha512'), fc.constantFrom('RS256', 'ES256'), fc.boolean())
  .map(
    ([hash, key, trimmed]): Mutation =>
      (jwt) => {
        const pem = publicKeyOf(key);
        const parts = withHeader(jwt, (header) => ({ ...header, alg: hash.replace('sha', 'HS') }), asAdmin);
        return resigned(parts, (input) =>
          createHmac(hash, trimmed ? pem.trim() : pem)
            .update(input)
            .digest(),
        );
      },
  );

const unsigned = fc.tuple(algorithm, fc.constantFrom('', 'AA', 'kept')).map(
  ([alg, signature]): Mutation =>
    (jwt) => {
      const parts = withHeader(jwt, (header) => ({ ...header, alg }), asAdmin);
      return joined({ ...parts, signature: signature === 'kept' ? parts.signature : signature });
    },
);

/** Signs with a key of the attacker, and puts that key into the header. */
const ownKey = fc
  .tuple(
    fc.constantFrom('P-256', 'P-384', 'rsa'),
    fc.constantFrom('ES256', 'ES384', 'RS256'),
    fc.constantFrom('jwk', 'x5c', 'jku', 'kid', 'x5u'),
  )
  .map(
    ([key, alg, member]): Mutation =>
      (jwt) => {
        const { publicKey, privateKey } = attacker[key as keyof typeof attacker];
        const value = member === 'jwk' ? publicKey.export({ format: 'jwk' }) : 'http://127.0.0.1:1/keys';
        const parts = withHeader(
          jwt,
          (header) => ({ ...header, alg, [member]: member === 'x5c' ? [value] : value }),
          asAdmin,
        );
        const hash = alg === 'ES384' ? 'sha384' : 'sha256';
        return resigned(parts, (input) =>
          sign(hash, Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }),
        );
      },
  );

/** Signatures of zeros with a valid length, which some libraries accept. */
const emptySignature = fc.constantFrom(64, 96, 132, 256).map(
  (length): Mutation =>
    (jwt) => {
      const parts = partsOf(jwt);
      return joined({
        ...parts,
        claims: asAdmin(parts.claims),
        signature: Buffer.alloc(length).toString('base64url'),
      });
    },
);

const changedClaim = fc.tuple(claimName, memberValue).map(
  ([name, value]): Mutation =>
    (jwt) => {
      const parts = partsOf(jwt);
      const members = Object.entries(JSON.parse(parts.claims) as Record<string, unknown>);
      const changed = Object.fromEntries([...members.filter(([key]) => key !== name), [name, value]]);
      return joined({ ...parts, claims: JSON.stringify(changed) });
    },
);

/** Repeats a member before or after the real one. */
const repeated = fc.tuple(fc.constantFrom('header', 'claims'), claimName, memberValue, fc.boolean()).map(
  ([part, name, value, isFirst]): Mutation =>
    (jwt) => {
      const parts = partsOf(jwt);
      const member = `${JSON.stringify(part === 'header' ? 'alg' : name)}:${JSON.stringify(value) ?? 'null'}`;
      const text = parts[part as 'header' | 'claims'];
      const doubled = isFirst ? `{${member},${text.slice(1)}` : `${text.slice(0, -1)},${member}}`;
      return joined({ ...parts, [part]: doubled });
    },
);

const strangeHeader = fc
  .constantFrom<Record<string, unknown>>(
    { padding: 'x'.repeat(300_000) },
    { crit: ['exp'], exp: 0 },
    { crit: [] },
    { b64: false, crit: ['b64'] },
    { zip: 'DEF' },
    { typ: 7 },
    { alg: ['ES256'] },
    { alg: { toString: 'ES256' } },
    { kid: '../../../../dev/null' },
  )
  .map(
    (members): Mutation =>
      (jwt) =>
        joined(withHeader(jwt, (header) => ({ ...header, ...members }))),
  );

/** Inserts texts that are not base64url. */
const insertedText = fc
  .tuple(fc.nat(), fc.constantFrom('=', '+', '/', ' ', '\n', '.', '..', '\0', 'é', '%41', '\u2028'))
  .map(
    ([at, text]): Mutation =>
      (jwt) => {
        const place = at % (jwt.length + 1);
        return jwt.slice(0, place) + text + jwt.slice(place);
      },
  );

const changedBytes = fc
  .array(fc.tuple(fc.nat(), fc.constantFrom(...'AZaz09-_')), { minLength: 1, maxLength: 3 })
  .map(
    (changes): Mutation =>
      (jwt) =>
        changes.reduce((text, [at, letter]) => {
          const place = at % text.length;
          return text.slice(0, place) + letter + text.slice(place + 1);
        }, jwt),
  );

const shortened = fc.tuple(fc.nat(), fc.nat()).map(
  ([from, to]): Mutation =>
    (jwt) =>
      jwt.slice(from % 40, jwt.length - (to % 90)),
);

const reordered = fc.constantFrom([1, 0, 2], [0, 1], [0, 1, 2, 2], [2, 1, 0], [0, 0, 2], [0, 1, 1]).map(
  (order): Mutation =>
    (jwt) => {
      const parts = jwt.split('.');
      return order.map((index) => parts[index]).join('.');
    },
);

/** One mutation, or two after another. */
export const mutation: fc.Arbitrary<Mutation> = fc
  .array(
    fc.oneof(
      ...[confusedKey, unsigned, ownKey, emptySignature, changedClaim, repeated],
      ...[strangeHeader, insertedText, changedBytes, shortened, reordered],
    ),
    { minLength: 1, maxLength: 2 },
  )
  .map((mutations) => (jwt: string) => mutations.reduce(mutate, jwt));

/** If a JWT is too broken for a mutation, it stays unchanged. */
function mutate(jwt: string, mutation: Mutation): string {
  try {
    return mutation(jwt);
  } catch {
    return jwt;
  }
}
