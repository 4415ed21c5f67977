/**
 * Reads the certificates and public keys of a config and finds those that are signed with SHA-1 or soon to expire. Nothing
 * throws: what cannot be read is undefined.
 */
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Path } from '../../model/json.ts';
import type { CheckContext, ResourceProblem } from '../../model/kind.ts';
import { counted, quoted } from '../../model/quoted.ts';
import type { Dialect } from '../../model/stack.ts';
import type { ConfigSpec } from './schema.ts';

export interface PemBlock {
  /** undefined when the text between the lines is not base64 */
  readonly bytes: Buffer | undefined;
  /** the text after the block */
  readonly rest: string;
}

/** Finds PEM blocks as the service does: a block begins at the start of a line (wire/cluster-auth 2.2). */
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

/** The public key in a block, or that of the certificate in it. */
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
 * The object identifier of the algorithm that a certificate is signed with, as hexadecimal digits; empty if it is not found.
 * In DER it follows the signed part of the certificate.
 */
function signatureAlgorithm({ raw }: X509Certificate): string {
  const signed = derValue(raw);
  const algorithm = signed && derValue(signed.subarray(derLength(signed)));
  const identifier = algorithm && derValue(algorithm);
  return identifier?.toString('hex') ?? '';
}

/** The value of the DER element at the start of the bytes. */
function derValue(bytes: Buffer): Buffer | undefined {
  const header = headerLength(bytes);
  return bytes.length < header ? undefined : bytes.subarray(header, derLength(bytes));
}

function headerLength(bytes: Buffer): number {
  const first = bytes[1] ?? 0;
  return first < 0x80 ? 2 : 2 + (first & 0x7f);
}

/** The length of the DER element at the start of the bytes, its header included. */
function derLength(bytes: Buffer): number {
  const header = headerLength(bytes);
  const size =
    header === 2 ? (bytes[1] ?? 0) : Number.parseInt(bytes.subarray(2, header).toString('hex'), 16);
  return header + size;
}

// The lint of a config's certificates, of the CA and of keys: it reports those that are signed with SHA-1 or expire soon.

const day = 86_400_000;

/** In milliseconds: a certificate that expires sooner is reported. */
const soon = 30 * day;

/** @param context.now milliseconds since 1970; absent: dates are not checked */
export function certificateProblems(
  spec: ConfigSpec,
  { dialect, now }: Pick<CheckContext, 'dialect' | 'now'>,
): ResourceProblem[] {
  return pemTexts(spec).flatMap(({ text, path }) =>
    pemBlocks(text).flatMap((block) => {
      const certificate = certificateIn(block);
      if (certificate === undefined) return [];
      return [
        ...weakSignature(certificate, path, dialect),
        ...(now === undefined ? [] : validity(certificate, path, now)),
      ];
    }),
  );
}

function pemTexts({ clusterCaCert: cert, pemKeys: keys }: ConfigSpec): { text: string; path: Path }[] {
  const elements = Array.isArray(keys)
    ? keys.map((key, index) => ({ text: String(key), path: ['pemKeys', String(index)] }))
    : [{ text: typeof keys === 'string' ? keys : '', path: ['pemKeys'] }];
  return [{ text: typeof cert === 'string' ? cert : '', path: ['clusterCaCert'] }, ...elements];
}

function weakSignature(
  certificate: X509Certificate,
  path: Path,
  { verifiesSha1 }: Dialect,
): ResourceProblem[] {
  if (!isSignedWithSha1(certificate)) return [];
  const why = verifiesSha1 ? 'which can be forged' : 'which services no longer accept';
  const message = `${titleOf(certificate)} is signed with SHA-1, ${why}`;
  return [lint('certificate-with-sha1', path, message, 'have its CA issue a new one, signed with SHA-256')];
}

function validity(certificate: X509Certificate, path: Path, now: number): ResourceProblem[] {
  const [from, to] = [certificate.validFromDate, certificate.validToDate];
  const problem = (when: string, fix: string) => [
    lint('certificate-expires', path, `${titleOf(certificate)} ${when}`, fix),
  ];
  if (now > to.getTime()) return problem(`expired on ${dateOf(to)}`, 'replace it');
  if (now < from.getTime())
    return problem(`is not valid before ${dateOf(from)}`, 'check the date, and the clock of this machine');
  const left = to.getTime() - now;
  if (left > soon) return [];
  const days = Math.floor(left / day);
  const when = days === 0 ? 'in less than a day' : `in ${counted(days, 'day')}`;
  return problem(`expires on ${dateOf(to)}, ${when}`, 'replace it before that day');
}

function lint(code: ResourceProblem['code'], path: Path, message: string, fix: string): ResourceProblem {
  return { code, severity: 'warning', path, message, fix };
}

/** `the certificate of "CN=cluster-ca"`. */
function titleOf({ subject = '' }: X509Certificate): string {
  return `the certificate of ${quoted(subject.replaceAll(/\s*\n\s*/g, ', '))}`;
}

function dateOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}
