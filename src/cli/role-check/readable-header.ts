/**
 * What the header of a JWT may say of keys. The service uses none of them, but refuses a header that it cannot read
 * (wire/cluster-auth 3).
 */
import { createPublicKey, type JsonWebKey, X509Certificate } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';

const curves = ['P-256', 'P-384', 'P-521', 'Ed25519'];

/** Null counts as nothing said. */
export function isReadableHeader(header: JsonObject): boolean {
  const { kid, nonce, jwk, x5c } = header;
  return (
    [kid, nonce].every((text = null) => text === null || typeof text === 'string') &&
    isKey(jwk) &&
    isChain(x5c)
  );
}

/** A public key; neither a private one nor one that is shared. */
function isKey(jwk: Json = null): boolean {
  if (jwk === null) return true;
  if (!isJsonObject(jwk) || jwk['d'] !== undefined) return false;
  const isKnown = jwk['kty'] === 'RSA' || curves.includes(String(jwk['crv']));
  return isKnown && works(() => createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }));
}

function isChain(chain: Json = null): boolean {
  if (chain === null) return true;
  const isCertificate = (link: Json) =>
    typeof link === 'string' && works(() => new X509Certificate(Buffer.from(link, 'base64')));
  return Array.isArray(chain) && chain.every(isCertificate);
}

function works(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
