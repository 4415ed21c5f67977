/** Reads the PEM texts of a config: certificates and public keys. Nothing throws: what cannot be read is undefined. */
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

export interface PemBlock {
  /** undefined when the text between the lines is no base64 */
  readonly bytes: Buffer | undefined;
  /** the text behind the block */
  readonly rest: string;
}

/** As the service finds them: a block begins at the start of a line (wire/cluster-auth 2.2). */
const BLOCK = /^-----BEGIN ([A-Z0-9 ]+)-----\s+([A-Za-z0-9+/=\s]+)-----END \1-----/gm;

/** Finds the PEM blocks of a text by their BEGIN and END lines. */
export function pemBlocks(text: string): PemBlock[] {
  return [...text.matchAll(BLOCK)].map((match) => {
    const [whole, , body = ''] = match;
    return { bytes: decode(body), rest: text.slice(match.index + whole.length) };
  });
}

export function certificateIn({ bytes }: PemBlock): X509Certificate | undefined {
  return bytes && attempt(() => new X509Certificate(bytes));
}

/** The key itself, or that of a certificate. */
export function publicKeyIn(block: PemBlock): KeyObject | undefined {
  const { bytes } = block;
  const key = bytes && attempt(() => createPublicKey({ key: bytes, format: 'der', type: 'spki' }));
  return key ?? attempt(() => certificateIn(block)?.publicKey);
}

function decode(body: string): Buffer | undefined {
  const text = body.replaceAll(/\s/g, '');
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
    ? Buffer.from(text, 'base64')
    : undefined;
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Object identifiers of signatures with SHA-1, as hexadecimal digits: RSA (two of them), ECDSA, DSA. */
const sha1: ReadonlySet<string> = new Set([
  '2a864886f70d010105',
  '2b0e03021d',
  '2a8648ce3d0401',
  '2a8648ce380403',
]);

/** Whether the certificate was signed with SHA-1. */
export function isSignedWithSha1(certificate: X509Certificate): boolean {
  return sha1.has(signatureAlgorithm(certificate));
}

/**
 * The object identifier of the algorithm that a certificate is signed with, as hexadecimal digits; empty where it is not found.
 * It stands behind the signed part of the certificate, in DER.
 */
function signatureAlgorithm({ raw }: X509Certificate): string {
  const signed = derValue(raw);
  const algorithm = signed && derValue(signed.subarray(derLength(signed)));
  const identifier = algorithm && derValue(algorithm);
  return identifier?.toString('hex') ?? '';
}

/** The value of the element at the start of the bytes. */
function derValue(bytes: Buffer): Buffer | undefined {
  const header = headerLength(bytes);
  return bytes.length < header ? undefined : bytes.subarray(header, derLength(bytes));
}

function headerLength(bytes: Buffer): number {
  const first = bytes[1] ?? 0;
  return first < 0x80 ? 2 : 2 + (first & 0x7f);
}

/** The length of the element at the start of the bytes, its header included. */
function derLength(bytes: Buffer): number {
  const header = headerLength(bytes);
  const size =
    header === 2 ? (bytes[1] ?? 0) : Number.parseInt(bytes.subarray(2, header).toString('hex'), 16);
  return header + size;
}
