/**
 * What the header of a JWT may say of keys (wire/cluster-auth 3).
 * Invariant: no key out of a header is ever used; one that cannot be read makes the JWT unreadable all the same.
 */
import { createPublicKey, X509Certificate } from 'node:crypto';
import { isObject } from '../../values/is-object.ts';

const CURVES = ['P-256', 'P-384', 'P-521', 'Ed25519'];

/** Whether all members of the header that are read have their types; null counts as none. */
export function isReadableHeader(header: Readonly<Record<string, unknown>>): boolean {
  const isText = (name: string) => typeof (header[name] ?? '') === 'string';
  return isText('kid') && isText('nonce') && isPublicKey(header['jwk']) && isChain(header['x5c']);
}

/** A private key, or one that is shared, is none. */
function isPublicKey(jwk: unknown = null): boolean {
  if (jwk === null) return true;
  if (!isObject(jwk) || 'd' in jwk || (jwk['kty'] !== 'RSA' && !CURVES.includes(String(jwk['crv']))))
    return false;
  return canBeRead(() => createPublicKey({ key: jwk, format: 'jwk' }));
}

function isChain(chain: unknown = null): boolean {
  if (chain === null) return true;
  return (
    Array.isArray(chain) &&
    chain.every(
      (link) => typeof link === 'string' && canBeRead(() => new X509Certificate(Buffer.from(link, 'base64'))),
    )
  );
}

function canBeRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
