/**
 * Certificates that were signed with SHA-1: deprecated, and no help at a login from a release on (wire/cluster-auth 2.2).
 * Invariant: reading never throws; what is no certificate is not such a one.
 */
import { X509Certificate } from 'node:crypto';

import { firstPemBlock } from './pem-blocks.ts';

/** Whether the text is a certificate that was signed with SHA-1, which can be forged by now. */
export function isSha1Certificate(pem: string): boolean {
  const block = firstPemBlock(pem);
  if (block === undefined || !isCertificate(block.bytes)) return false;
  return SHA1_ALGORITHMS.has(signatureAlgorithm(block.bytes));
}

/** The contents of the object identifiers for RSA, DSA and ECDSA with SHA-1, in hex. */
const SHA1_ALGORITHMS = new Set(['2a864886f70d010105', '2a8648ce380403', '2a8648ce3d0401']);

function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).raw.length > 0;
  } catch {
    return false;
  }
}

/** A certificate is a sequence of what is signed, the algorithm's sequence, which begins with its identifier, and the signature. */
function signatureAlgorithm(der: Buffer): string {
  const certificate = contentsAt(der, 0);
  const signed = contentsAt(der, certificate.start);
  const algorithm = contentsAt(der, signed.end);
  const identifier = contentsAt(der, algorithm.start);
  return der.subarray(identifier.start, identifier.end).toString('hex');
}

/** Where the contents of the DER element at an offset start and end, in a certificate that was found to be one. */
function contentsAt(der: Buffer, offset: number): { start: number; end: number } {
  const first = der[offset + 1] ?? 0;
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const start = offset + 2 + lengthBytes;
  const length = lengthBytes === 0 ? first : der.readUIntBE(offset + 2, lengthBytes);
  return { start, end: start + length };
}
