/**
 * The keys and certificates of a config, and whether one of them signed a JWT (wire/cluster-auth 2.2). Reading never throws: it
 * returns a usable key, or an error for the client. A key is tried only for the algorithms of its type.
 */
import { constants, createPublicKey, type KeyObject, verify, X509Certificate } from 'node:crypto';
import type { KeyRules } from '../kernel/dialects.ts';
import type { ParsedJwt } from './jwt.ts';

/** Curves that the service knows. */
const CURVES = new Set(['secp224r1', 'prime256v1', 'secp384r1', 'secp521r1']);

/** The key in a text, or why it cannot be used. */
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

/** Whether the service's library can read a key of this type. */
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

// Whether one of the config's keys signed a JWT.
// Invariant: the key decides the algorithm, not the JWT: a key is tried only for the algorithms of its kind,
// so that a public key never serves as a shared secret.

interface Algorithm {
  readonly keyType: 'rsa' | 'ec' | 'ed25519';
  /** The curve of an elliptic key. */
  readonly curve?: string;
  readonly hash?: string;
  readonly isPss?: boolean;
  /** Whether the JWT of a service account may be signed with it. Other algorithms are verified, then refused as `unexpected`. */
  readonly isAccepted: boolean;
}

const rsa = (hash: string): Algorithm => ({ keyType: 'rsa', hash, isAccepted: true });
const pss = (hash: string): Algorithm => ({ keyType: 'rsa', hash, isPss: true, isAccepted: false });
const ec = (hash: string, curve: string): Algorithm => ({ keyType: 'ec', hash, curve, isAccepted: true });

/** Algorithms that are not in this table are refused as `forged`. */
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

/** `forged`: no key of the config verifies it; `unexpected`: the algorithm is not accepted; `unsigned`: the signature is empty. */
export type SignatureVerdict = 'good' | 'forged' | 'unexpected' | 'unsigned';

/**
 * Verifies the signature. If the config has no keys, only the token review decides whether the JWT is genuine; its algorithm must be
 * an accepted one in any case (wire/cluster-auth 3).
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

// The keys of a config's PEM texts.
// Invariant: reading never throws; a text without a usable key gives no key, so that it verifies nothing.

/** The keys of all elements; those of SHA-1 certificates only if the dialect trusts them. */
function verifyingKeys(pemKeys: readonly string[], rules: KeyRules): KeyObject[] {
  return pemKeys.flatMap((pem) => {
    if (!rules.trustsSha1 && isSha1Certificate(pem)) return [];
    const read = publicKeyIn(pem, rules);
    return 'key' in read ? read.key : [];
  });
}

// Certificates that were signed with SHA-1: deprecated, and not trusted at a login in newer releases (wire/cluster-auth 2.2).
// Invariant: reading never throws.

/** Whether the text is a certificate that was signed with SHA-1, which can be forged. */
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

/** A certificate is a sequence: the signed content, the algorithm (a sequence that begins with its identifier), and the signature. */
function signatureAlgorithm(der: Buffer): string {
  const certificate = contentsAt(der, 0);
  const signed = contentsAt(der, certificate.start);
  const algorithm = contentsAt(der, signed.end);
  const identifier = contentsAt(der, algorithm.start);
  return der.subarray(identifier.start, identifier.end).toString('hex');
}

/** Start and end of the contents of the DER element at an offset, in a valid certificate. */
function contentsAt(der: Buffer, offset: number): { start: number; end: number } {
  const first = der[offset + 1] ?? 0;
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const start = offset + 2 + lengthBytes;
  const length = lengthBytes === 0 ? first : der.readUIntBE(offset + 2, lengthBytes);
  return { start, end: start + length };
}

// Why bytes are not a certificate, with the errors of the service's library, which name the first malformed part.

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const EXPLICIT_VERSION = 0xa0;

/** An element of DER: all of its bytes, its content, and the bytes after it. */
interface Element {
  readonly whole: Buffer;
  readonly content: Buffer;
  readonly rest: Buffer;
}

function certificateProblem(der: Buffer): string {
  return `x509: ${malformedPart(der)}`;
}

function malformedPart(der: Buffer): string {
  const outer = element(der, SEQUENCE);
  if (outer === undefined) return 'malformed certificate';
  if (outer.rest.length > 0) return 'trailing data';
  const signed = element(outer.content, SEQUENCE);
  if (signed === undefined) return 'malformed tbs certificate';
  const version = element(signed.content, EXPLICIT_VERSION);
  const serial = element(version?.rest ?? signed.content, INTEGER);
  if (serial === undefined) return 'malformed serial number';
  const inner = element(serial.rest, SEQUENCE);
  if (inner === undefined) return 'malformed signature algorithm identifier';
  const algorithm = element(signed.rest, SEQUENCE);
  if (algorithm === undefined) return 'malformed algorithm identifier';
  if (!inner.whole.equals(algorithm.whole))
    return "inner and outer signature algorithm identifiers don't match";
  return 'malformed certificate';
}

/** The element of this tag at the start of the bytes; lengths are definite and in their shortest form, as DER requires. */
function element(bytes: Buffer, tag: number): Element | undefined {
  const first = bytes[1];
  if (bytes[0] !== tag || first === undefined) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || lengthBytes > 4 || bytes.length < 2 + lengthBytes) return undefined;
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  const start = 2 + lengthBytes;
  if (bytes.length < start + length || (lengthBytes > 0 && length < 0x80)) return undefined;
  return {
    whole: bytes.subarray(0, start + length),
    content: bytes.subarray(start, start + length),
    rest: bytes.subarray(start + length),
  };
}

// PEM blocks in a text, as the service's library finds them.
// Invariant: a malformed block is skipped, and the search continues after it.

interface PemBlock {
  readonly type: string;
  readonly bytes: Buffer;
  /** The text after the block. */
  readonly rest: string;
}

const BEGIN = /(?:^|\n)-----BEGIN ([^\n]*)/g;

/** The first complete block; undefined if no block is complete. */
export function firstPemBlock(text: string): PemBlock | undefined {
  for (const begin of text.matchAll(BEGIN)) {
    const type = /^(.*)-----[ \t\r]*$/.exec(begin[1] ?? '')?.[1];
    if (type === undefined) continue;
    const block = blockAfter(type, text.slice(begin.index + begin[0].length));
    if (block !== undefined) return block;
  }
  return undefined;
}

function blockAfter(type: string, text: string): PemBlock | undefined {
  const body = text.replace(/^\n(?:[^\n:]*:[^\n]*\n)*/, '\n');
  const end = body.indexOf('\n-----END ');
  if (end === -1) return undefined;
  const [, endLine = '', rest = ''] = /^\n-----END ([^\n]*)\n?(.*)$/s.exec(body.slice(end)) ?? [];
  if (!endLine.startsWith(`${type}-----`) || endLine.slice(type.length + 5).trim() !== '') return undefined;
  const bytes = strictBase64(body.slice(0, end).replaceAll(/[ \t\r\n]/g, ''));
  return bytes && { type, bytes, rest };
}

function strictBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}
