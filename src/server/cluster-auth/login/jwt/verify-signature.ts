/**
 * Whether one of the config's keys signed a JWT.
 * Invariant: the key says what a signature may be, not the JWT: a key is tried only for the algorithms of its own kind,
 * so that a public key never serves as a shared secret.
 */
import { compactVerify } from 'jose';

import type { ParsedJwt } from './parse-jwt.ts';
import type { KeyRules } from '../../../dialects.ts';
import { verifyingKeys } from './verifying-keys.ts';

/** What a service account's JWT may be signed with. */
const ACCEPTED = new Set(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512']);

/** What is read and then refused by name; anything else is no signature at all. */
const REFUSED_BY_NAME = new Set(['PS256', 'PS384', 'PS512', 'EdDSA']);

/** `forged`: no key of ours, or nothing that could be a signature; `unexpected` and `unsigned`: refused by name. */
export type SignatureVerdict = 'good' | 'forged' | 'unexpected' | 'unsigned';

/**
 * Judges the signature. Without keys it is not verified, and the token review alone decides; the algorithm must be an
 * accepted one all the same (wire/cluster-auth 3).
 * @param pemKeys PEM texts of public keys and certificates
 */
export async function judgeSignature(
  jwt: ParsedJwt,
  pemKeys: readonly string[],
  rules: KeyRules,
): Promise<SignatureVerdict> {
  const { algorithm, isSigned } = jwt;
  if (!ACCEPTED.has(algorithm) && !REFUSED_BY_NAME.has(algorithm)) return 'forged';
  if (pemKeys.length > 0 && !(await isSignedByOneOf(jwt, pemKeys, rules))) return 'forged';
  if (!isSigned) return 'unsigned';
  return ACCEPTED.has(algorithm) ? 'good' : 'unexpected';
}

async function isSignedByOneOf(
  { text, algorithm }: ParsedJwt,
  pemKeys: readonly string[],
  rules: KeyRules,
): Promise<boolean> {
  for (const key of verifyingKeys(pemKeys, rules)) {
    try {
      await compactVerify(text, key, { algorithms: [algorithm] });
      return true;
    } catch {
      // Another key may have signed it.
    }
  }
  return false;
}
