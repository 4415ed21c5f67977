/**
 * The form of a JWT: three parts of base64url, with a header and claims that are JSON objects.
 * Invariants: nothing is believed here, a signature is checked elsewhere; what two readers could take for different
 * things (a member twice) is no JWT at all. The library that verifies signatures takes more forms than the one that only
 * reads: a JWS in JSON, padding, and white space, which counts for nothing (wire/cluster-auth 3).
 */
import { isObject } from '../../values/is-object.ts';
import { repeatsMembers } from '../../values/repeated-members.ts';
import { isReadableHeader } from './readable-header.ts';

/** A JWT that can be read; who signed it, if anyone, is not known yet. */
export interface ParsedJwt {
  /** The `alg` of the header. */
  readonly algorithm: string;
  readonly claims: Members;
  readonly signature: Buffer;
  /** What the signature has to be of. */
  readonly signed: Buffer;
  /** Whether the header calls an extension critical that nobody here knows: then no key verifies it. */
  readonly demandsExtension: boolean;
}

type Members = Readonly<Record<string, unknown>>;

/** No cluster issues longer ones, and none would take one as a header. */
const LONGEST_JWT = 256 * 1024;

/** Reads the JWT, or gives undefined for what is none. `verifies` says that there are keys to verify it with. */
export function parseJwt(text: string, verifies: boolean): ParsedJwt | undefined {
  if (text.length > LONGEST_JWT) return undefined;
  const parts = verifies ? inAnyForm(text.replaceAll(/[\t\n\f\r ]/g, '')) : compact(text);
  const claims = parts && jsonOf(parts.payload);
  if (parts === undefined || claims === undefined || (claims !== null && !isObject(claims))) return undefined;
  const { header, unprotected, payload, signature } = parts;
  const merged = { ...unprotected, ...header };
  const algorithm = merged['alg'];
  if (typeof algorithm !== 'string' || !isReadableHeader(merged) || unprotected['nonce']) return undefined;
  const encoded = header['b64'] === false ? payload : Buffer.from(payload.toString('base64url'));
  return {
    algorithm,
    claims: claims ?? {},
    signature,
    signed: Buffer.concat([Buffer.from(`${parts.protectedPart.toString('base64url')}.`), encoded]),
    demandsExtension: isSet(unprotected['crit']) || !isKnownExtensions(header['crit']),
  };
}

interface Parts {
  readonly protectedPart: Buffer;
  readonly header: Members;
  /** What a flattened JWS says outside of what is signed. */
  readonly unprotected: Members;
  readonly payload: Buffer;
  readonly signature: Buffer;
}

/** Padding at the end of a part is allowed. */
function inAnyForm(text: string): Parts | undefined {
  const members = text.startsWith('{') ? jsonOf(Buffer.from(text)) : undefined;
  if (members === undefined) return compact(text.split('.').map(unpadded).join('.'));
  if (!isObject(members)) return undefined;
  const { signatures, ...flattened } = members;
  if (!isSet(signatures)) return partsOf(withoutPadding(flattened));
  const [signature, ...more] = Array.isArray(signatures) ? signatures : [];
  return isObject(signature) && more.length === 0
    ? partsOf(withoutPadding({ ...signature, payload: members['payload'] }))
    : undefined;
}

function withoutPadding(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      typeof value === 'string' ? unpadded(value) : value,
    ]),
  );
}

/** By hand: an expression for padding at the end looks again at all that follows each sign of it. */
function unpadded(part: string): string {
  let end = part.length;
  while (part[end - 1] === '=') end -= 1;
  return part.slice(0, end);
}

function compact(text: string): Parts | undefined {
  const [header, payload, signature, ...more] = text.split('.');
  return more.length > 0 ? undefined : partsOf({ protected: header, payload, signature });
}

function partsOf(members: Members): Parts | undefined {
  const [protectedPart, payload, signature] = ['protected', 'payload', 'signature'].map((name) =>
    decoded(members[name]),
  );
  if (protectedPart === undefined || payload === undefined || signature === undefined) return undefined;
  const header = protectedPart.length === 0 ? {} : jsonOf(protectedPart);
  const unprotected = members['header'] ?? {};
  return isObject(header) && isObject(unprotected)
    ? { protectedPart, header, unprotected, payload, signature }
    : undefined;
}

function decoded(part: unknown): Buffer | undefined {
  const isEncoded = typeof part === 'string' && /^[A-Za-z0-9_-]*$/.test(part) && part.length % 4 !== 1;
  return isEncoded ? Buffer.from(part, 'base64url') : undefined;
}

/** The JSON value that bytes hold; undefined for none, and for one that has a member twice. */
function jsonOf(bytes: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return hasRealNumbers(value) && !repeatsMembers(text, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** JSON has numbers that are no numbers any more once they are read, such as `1e999`. */
function hasRealNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(hasRealNumbers);
}

function isKnownExtensions(critical: unknown): boolean {
  return !isSet(critical) || (Array.isArray(critical) && critical.every((name) => name === 'b64'));
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
