/**
 * What a signature covers, as canonical JSON, and the file that keeps it with the signature. A file may come from anybody who can
 * push: only the members that the signature covers are read.
 */
import { createHash } from 'node:crypto';
import type { GuardId } from '../model/guard.ts';
import { canonicalText, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { idOfKey, isPolicyKey } from './guard-keys.ts';

/** The namespace of our signatures: a signature for another purpose does not count. */
export const approvalNamespace = 'trueup-approval@v1';

/** How long an approval may be valid, in milliseconds. */
export const longestValidity = 30 * 86_400_000;

/** What a person signs. */
export interface SignedApproval {
  readonly version: 1;
  /** the name of the stack */
  readonly stack: string;
  /** the remote, without scheme and login: `git.example.com/acme/infra` */
  readonly repository: string;
  /** the path of the stack file, below the root of the repository */
  readonly path: string;
  readonly digest: string;
  /** the full id of the head commit that was reviewed */
  readonly commit: string;
  /** sorted: ids of guards, and for policies the keys of their messages */
  readonly acknowledged: readonly string[];
  /** RFC 3339 */
  readonly at: string;
  /** RFC 3339: when it expires */
  readonly until: string;
}

export interface StoredApproval {
  readonly approval: SignedApproval;
  /** armored, as ssh-keygen writes it */
  readonly signature: string;
}

/** The exact text that is signed. */
export function signedText(approval: SignedApproval): string {
  return canonicalText({ ...approval });
}

export function acknowledgedIds({ acknowledged }: Pick<SignedApproval, 'acknowledged'>): GuardId[] {
  return [...new Set(acknowledged.map(idOfKey))] as GuardId[];
}

export function formatApproval({ approval, signature }: StoredApproval): string {
  return `${JSON.stringify({ approval, signature }, null, 2)}\n`;
}

const digestPattern = /^[0-9a-f]{32}$/;
const commitIdPattern = /^([0-9a-f]{40}|[0-9a-f]{64})$/;
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Each member with its check. Other members are not allowed, so that nothing is read that an older trueup would not understand. */
const members: Readonly<Record<keyof SignedApproval, (value: Json) => boolean>> = {
  version: (value) => value === 1,
  stack: isText,
  repository: isText,
  path: isText,
  digest: (value) => isText(value) && digestPattern.test(value),
  commit: (value) => isText(value) && commitIdPattern.test(value),
  acknowledged: (value) =>
    Array.isArray(value) &&
    value.every((one: Json) => isText(one) && (/^[a-z-]+$/.test(one) || isPolicyKey(one))),
  at: isTime,
  until: isTime,
};

function isText(value: Json): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= 4096;
}

function isTime(value: Json): boolean {
  return isText(value) && momentPattern.test(value) && !Number.isNaN(Date.parse(value));
}

/**
 * @param text from a place that anybody may have written
 * @returns `newer` for an approval of a later version of trueup, undefined for anything else
 */
export function parseApproval(text: string): StoredApproval | 'newer' | undefined {
  const value = parsed(text);
  const approval = value?.['approval'];
  const signature = value?.['signature'];
  if (!isJsonObject(approval) || typeof signature !== 'string') return undefined;
  const { version } = approval;
  if (typeof version === 'number' && version > 1) return 'newer';
  const names = Object.keys(members) as (keyof SignedApproval)[];
  const hasNoOthers = Object.keys(approval).length === names.length;
  const areValid = names.every(
    (name) => Object.hasOwn(approval, name) && members[name](approval[name] ?? null),
  );
  if (!hasNoOthers || !areValid || publicKeyOf(signature) === undefined) return undefined;
  // Safe: each member was checked.
  return { approval: approval as unknown as SignedApproval, signature };
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The maximal length of an armored signature. A certificate in it has several keys and signatures, some kilobytes at most. */
const maxSignature = 32_768;

/**
 * The public key, or the certificate, that an armored SSH signature names as its signer: base64, as in a file of keys.
 * Source: PROTOCOL.sshsig of OpenSSH, "Armored format" and "Blob format"
 * @returns undefined for any other text
 */
export function publicKeyOf(signature: string): string | undefined {
  if (signature.length > maxSignature) return undefined;
  const armored =
    /^-----BEGIN SSH SIGNATURE-----\r?\n([A-Za-z0-9+/=\r\n]+)\r?\n-----END SSH SIGNATURE-----\s*$/;
  const blob = Buffer.from(armored.exec(signature)?.[1] ?? '', 'base64');
  const start = 14;
  if (blob.length < start || blob.toString('latin1', 0, 6) !== 'SSHSIG' || blob.readUInt32BE(6) !== 1)
    return undefined;
  const length = blob.readUInt32BE(10);
  return length === 0 || start + length > blob.length
    ? undefined
    : blob.subarray(start, start + length).toString('base64');
}

/** The fingerprint of a key, as ssh-keygen and code hosts show it. @param key base64 */
export function fingerprintOfKey(key: string): string {
  const hash = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64');
  return `SHA256:${hash.replace(/=+$/, '')}`;
}
