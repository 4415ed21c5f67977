/**
 * PEM text of a config: the CA certificate and the keys that verify JWT signatures.
 * Invariant: reading PEM never throws; a text is a usable key or has a sentence for the client
 * (wire/cluster-auth 2.2).
 */
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

const PEM_BLOCK = /-----BEGIN ([^-\n]+)-----\s+([A-Za-z0-9+/=\s]+)-----END \1-----/;

/** Whether there is a PEM block at all; the original looks no further into a CA certificate either. */
export function containsPemBlock(text: string): boolean {
  return PEM_BLOCK.test(text);
}

/** Why the first PEM block of `text` is no key for verifying JWTs; undefined when it is one. */
export function publicKeyProblem(text: string): string | undefined {
  const encoded = PEM_BLOCK.exec(text)?.[2];
  if (encoded === undefined) return 'data does not contain any valid RSA or ECDSA public keys';
  const key = publicKeyIn(Buffer.from(encoded, 'base64'));
  if (key === undefined) return 'x509: malformed certificate';
  if (key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'ec') return undefined;
  return 'data does not contain any valid RSA or ECDSA public keys';
}

function publicKeyIn(der: Buffer): KeyObject | undefined {
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
