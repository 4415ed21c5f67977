/**
 * The keys of a config that verify the signatures of JWTs.
 * Invariant: reading them never throws; a text is a usable key or has a sentence for the client
 * (wire/cluster-auth 2.2).
 */
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

import type { KeyRules } from '../../dialects.ts';
import { certificateProblem } from './certificate-problem.ts';
import { firstPemBlock } from './pem-blocks.ts';

/** Curves that the service knows. */
const CURVES = new Set(['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1']);

/** The key in a text, or why there is none that can be used. */
export function publicKeyIn(
  text: string,
  rules: KeyRules,
): { readonly key: KeyObject } | { readonly problem: string } {
  const block = firstPemBlock(text);
  if (block === undefined) return { problem: rules.noKey };
  if (rules.alone && block.rest.trim() !== '')
    return { problem: 'unexpected trailing data after parsed PEM block' };
  const key = keyOf(block.bytes);
  if (key === undefined || !isKnown(key)) return { problem: certificateProblem(block.bytes) };
  return rules.types.includes(key.asymmetricKeyType ?? '') ? { key } : { problem: rules.noKey };
}

/** Whether the service's library can read such a key at all, whatever it is used for then. */
function isKnown({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (type === 'ec') return CURVES.has(details?.namedCurve ?? '');
  return type === 'rsa' || type === 'dsa' || type === 'ed25519' || type === 'x25519';
}

function keyOf(der: Buffer): KeyObject | undefined {
  return (
    attempt(() => createPublicKey({ key: der, format: 'der', type: 'spki' })) ??
    attempt(() => new X509Certificate(der).publicKey)
  );
}

function attempt(read: () => KeyObject): KeyObject | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
