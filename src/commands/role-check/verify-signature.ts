/**
 * Whether one of the config's keys signed a JWT. Each key is tried only with the algorithms of its type, so a public key is
 * never taken for a shared secret.
 */
import { type KeyObject, verify as verifyBytes } from 'node:crypto';
import type { LoginCheck } from '../../model/login-check.ts';
import {
  certificateIn,
  isSignedWithSha1,
  pemBlocks,
  publicKeyIn,
} from '../../kinds/cluster-auth-config/certificates.ts';
import { failed, ofConfig, open, passed, shown } from './results.ts';
import type { KnownConfig } from './rules.ts';
import type { ParsedJwt } from './parse-jwt.ts';

/** By algorithm: the hash, and the curve that an elliptic key must have. */
const algorithms: ReadonlyMap<string, { readonly hash: string; readonly curve?: string }> = new Map([
  ['RS256', { hash: 'sha256' }],
  ['RS384', { hash: 'sha384' }],
  ['RS512', { hash: 'sha512' }],
  ['ES256', { hash: 'sha256', curve: 'prime256v1' }],
  ['ES384', { hash: 'sha384', curve: 'secp384r1' }],
  ['ES512', { hash: 'sha512', curve: 'secp521r1' }],
]);
const accepted = [...algorithms.keys()];

/** The service uses no shorter RSA key, in bits. */
const shortestKey = 1024;

/** Source: wire/cluster-auth 3. */
export function checkSignature(jwt: ParsedJwt, known: KnownConfig): LoginCheck {
  const { algorithm, signature } = jwt;
  if (!accepted.includes(algorithm)) {
    const message = `the JWT is signed with ${shown(algorithm)}, and only ${accepted.join(', ')} are accepted`;
    return failed('signature', message, 'use a JWT that the cluster itself issued for a service account');
  }
  if (signature.length === 0) {
    const fix = 'use the JWT as the cluster issued it';
    return failed('signature', 'the JWT has no signature', fix);
  }
  if (known.is !== 'known')
    return open(
      'signature',
      `the JWT is signed with ${shown(algorithm)}; no config is known to verify it with`,
    );
  const { pemKeys } = known.config;
  if (pemKeys.length === 0)
    return open('signature', 'the config has no "pemKeys": the cluster alone decides whether it is genuine');
  if (jwt.demandsExtension) {
    const message = 'the header of the JWT has "crit" with an extension that the service does not know';
    return failed('signature', message, 'use the JWT as the cluster issued it');
  }
  return verifyWith(pemKeys, jwt);
}

function verifyWith(pemKeys: readonly string[], jwt: ParsedJwt): LoginCheck {
  const verdicts = pemKeys.map((pem) => verify(pem, jwt));
  const { length } = pemKeys;
  if (verdicts.includes('good'))
    return passed(
      'signature',
      `${length === 1 ? 'the key' : `one of ${length} keys`} in "pemKeys" verifies it`,
    );
  if (verdicts.includes('sha1')) {
    const message =
      'only the key of a certificate that was signed with SHA-1 verifies it, and newer releases of the service refuse those';
    return open('signature', message);
  }
  const unusable = verdicts.filter((verdict) => verdict === 'unusable').length;
  if (unusable > 0) {
    const which = `${unusable} of ${length} elements of "pemKeys"`;
    return open('signature', `${which} cannot be used here, and no other one verifies the JWT`);
  }
  const keys =
    length === 1 ? 'the key in "pemKeys" does not verify' : `none of ${length} keys in "pemKeys" verifies`;
  const message = `${keys} the JWT: another cluster issued it, or it was changed`;
  const fix =
    'add the public key of the cluster that issued the JWT to "pemKeys" of the config, each key as a separate element';
  return failed('signature', message, fix, ofConfig('pemKeys'));
}

type Verdict = 'good' | 'bad' | 'sha1' | 'unusable';

function verify(pem: string, jwt: ParsedJwt): Verdict {
  // The service also reads the first block of an element only.
  const [block] = pemBlocks(pem);
  const key = block && publicKeyIn(block);
  if (block === undefined || key === undefined) return 'unusable';
  // Such a key cannot have made this signature, whatever the header says.
  const isRsa = jwt.algorithm.startsWith('RS');
  if (key.asymmetricKeyType !== (isRsa ? 'rsa' : 'ec')) return 'bad';
  if (isRsa && (key.asymmetricKeyDetails?.modulusLength ?? 0) < shortestKey) return 'unusable';
  if (!isSignedWith(key, jwt)) return 'bad';
  const certificate = certificateIn(block);
  return certificate !== undefined && isSignedWithSha1(certificate) ? 'sha1' : 'good';
}

function isSignedWith(key: KeyObject, { algorithm, signed, signature }: ParsedJwt): boolean {
  const { hash, curve } = algorithms.get(algorithm) ?? {};
  if (key.asymmetricKeyDetails?.namedCurve !== curve) return false;
  return verifyBytes(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
}
