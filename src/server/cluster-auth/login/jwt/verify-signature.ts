/**
 * Whether one of the config's keys signed a JWT.
 * Invariant: the key says what a signature may be, not the JWT: a key is tried only for the algorithms of its own kind,
 * so that a public key never serves as a shared secret.
 */
import { constants, type KeyObject, verify } from 'node:crypto';

import type { KeyRules } from '../../../dialects.ts';
import type { ParsedJwt } from './parse-jwt.ts';
import { verifyingKeys } from './verifying-keys.ts';

interface Algorithm {
  readonly keyType: 'rsa' | 'ec' | 'ed25519';
  /** Of an elliptic key. */
  readonly curve?: string;
  readonly hash?: string;
  readonly isPss?: boolean;
  /** Whether a service account's JWT may be signed with it; others are read, and then refused by name. */
  readonly isAccepted: boolean;
}

const rsa = (hash: string): Algorithm => ({ keyType: 'rsa', hash, isAccepted: true });
const pss = (hash: string): Algorithm => ({ keyType: 'rsa', hash, isPss: true, isAccepted: false });
const ec = (hash: string, curve: string): Algorithm => ({ keyType: 'ec', hash, curve, isAccepted: true });

/** Anything else is no signature at all. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['RS256', rsa('sha256')],
  ['RS384', rsa('sha384')],
  ['RS512', rsa('sha512')],
  ['ES256', ec('sha256', 'prime256v1')],
  ['ES384', ec('sha384', 'secp384r1')],
  ['ES512', ec('sha512', 'secp521r1')],
  ['PS256', pss('sha256')],
  ['PS384', pss('sha384')],
  ['PS512', pss('sha512')],
  ['EdDSA', { keyType: 'ed25519', isAccepted: false }],
]);

/** `forged`: no key of ours, or nothing that could be a signature; `unexpected` and `unsigned`: refused by name. */
export type SignatureVerdict = 'good' | 'forged' | 'unexpected' | 'unsigned';

/**
 * Judges the signature. Without keys it is not verified, and the token review alone decides; the algorithm must be an
 * accepted one all the same (wire/cluster-auth 3).
 * @param pemKeys PEM texts of public keys and certificates
 */
export function verifySignature(
  jwt: ParsedJwt,
  pemKeys: readonly string[],
  rules: KeyRules,
): SignatureVerdict {
  const algorithm = ALGORITHMS.get(jwt.algorithm);
  if (algorithm === undefined) return 'forged';
  const isVerified =
    pemKeys.length === 0 ||
    (!jwt.demandsExtension && verifyingKeys(pemKeys, rules).some((key) => isSignedWith(jwt, algorithm, key)));
  if (!isVerified) return 'forged';
  if (jwt.signature.length === 0) return 'unsigned';
  return algorithm.isAccepted ? 'good' : 'unexpected';
}

function isSignedWith({ signed, signature }: ParsedJwt, algorithm: Algorithm, key: KeyObject): boolean {
  const { keyType, curve, hash, isPss = false } = algorithm;
  if (key.asymmetricKeyType !== keyType || key.asymmetricKeyDetails?.namedCurve !== curve) return false;
  const form = isPss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }
    : { dsaEncoding: 'ieee-p1363' as const };
  return verify(hash, signed, { key, ...form }, signature);
}
