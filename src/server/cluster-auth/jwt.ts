/**
 * The form and the registered claims of a JWT. Parsing verifies no signature (see public-keys.ts), and refuses what two parsers
 * could read differently, such as a repeated member.
 */
import { createPublicKey, X509Certificate } from 'node:crypto';
import { isObject, repeatsMembers } from './json-values.ts';
import { foldedName } from './label-selector.ts';

/** A parsed JWT, whose signature is not verified yet. */
export interface ParsedJwt {
  /** The `alg` of the header. */
  readonly algorithm: string;
  readonly claims: Members;
  readonly signature: Buffer;
  /** The bytes that the signature must match. */
  readonly signed: Buffer;
  /** Whether the header has an unknown critical extension. Then no key verifies the JWT. */
  readonly demandsExtension: boolean;
}

type Members = Readonly<Record<string, unknown>>;

/** No cluster issues longer JWTs, or would accept one in a header. */
const MAX_JWT_LENGTH = 256 * 1024;

/** The parsed JWT; undefined for an invalid one. More forms are valid if `hasKeys`: the config has keys to verify the JWT. */
export function parseJwt(text: string, hasKeys: boolean): ParsedJwt | undefined {
  if (text.length > MAX_JWT_LENGTH) return undefined;
  const parts = hasKeys ? inAnyForm(text.replaceAll(/[\t\n\f\r ]/g, '')) : compact(text);
  const claims = parts && jsonOf(parts.payload);
  if (parts === undefined || claims === undefined || (claims !== null && !isObject(claims))) return undefined;
  const { header, unprotected, payload, signature } = parts;
  const merged = { ...unprotected, ...header };
  const algorithm = merged['alg'];
  if (typeof algorithm !== 'string' || !isReadableHeader(merged) || unprotected['nonce']) return undefined;
  // With `b64: false`, the payload is signed without encoding (RFC 7797).
  const encoded = header['b64'] === false ? payload : Buffer.from(payload.toString('base64url'));
  return {
    algorithm,
    claims: claims ?? {},
    signature,
    signed: Buffer.concat([Buffer.from(`${parts.protectedPart.toString('base64url')}.`), encoded]),
    demandsExtension: isSet(unprotected['crit']) || !hasOnlyKnownExtensions(header['crit']),
  };
}

interface Parts {
  readonly protectedPart: Buffer;
  readonly header: Members;
  /** The unsigned header of a flattened JWS. */
  readonly unprotected: Members;
  readonly payload: Buffer;
  readonly signature: Buffer;
}

/** The parts of a compact or JSON form, with or without padding at the end of a part. */
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

/** Uses no regular expression, because one for the padding would take quadratic time. */
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

/** The JSON value of some bytes; undefined for invalid JSON, and for a value that has a member twice. */
function jsonOf(bytes: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return hasFiniteNumbers(value) && !repeatsMembers(text, value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether all numbers in the value are finite: one such as `1e999` became infinite when it was parsed. */
function hasFiniteNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(hasFiniteNumbers);
}

function hasOnlyKnownExtensions(critical: unknown): boolean {
  return !isSet(critical) || (Array.isArray(critical) && critical.every((name) => name === 'b64'));
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

// Keys in the header of a JWT (wire/cluster-auth 3).
// Invariant: keys in a header are never used, but one that cannot be read makes the JWT invalid.

const CURVES = ['P-256', 'P-384', 'P-521', 'Ed25519'];

/** Whether the members of the header that the service reads have the right types; null counts as absent. */
function isReadableHeader(header: Readonly<Record<string, unknown>>): boolean {
  const isText = (name: string) => typeof (header[name] ?? '') === 'string';
  return isText('kid') && isText('nonce') && isPublicKey(header['jwk']) && isChain(header['x5c']);
}

/** Whether the key is public and can be read, or is absent. A private or symmetric key is invalid. */
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

// The registered claims of a JWT: issuer, audience, and when it is valid (wire/cluster-auth 3).
// Invariant: pure; the error is that of the first invalid claim, in the order of the real service.

/** The claims that the config and the role require of a JWT. An empty text requires nothing. */
interface ExpectedClaims {
  readonly issuer: string;
  readonly audience: string;
}

/** Claims that are times, and claims that are texts, in the order in which the service decodes them. */
const TIMES = ['exp', 'iat', 'nbf'];
const TEXTS = ['iss', 'jti', 'sub'];

/** How far the clocks of two machines may differ, in seconds. */
const CLOCK_SKEW = 60;

/** The first second since 1970 that the real services cannot represent: they take it for a time long past. */
const FIRST_INVALID_SECOND = 2 ** 63 - 62_135_596_800;

/** The default lifetime of a JWT, in seconds. */
const DEFAULT_LIFETIME = 150;

/** The error of the first invalid claim; undefined when all are valid. `now` is in milliseconds since 1970. */
export function claimsProblem(all: Claims, expected: ExpectedClaims, now: number): string | undefined {
  const claims = claimsIn(all, ['aud', ...TIMES, ...TEXTS]);
  const unreadable = unreadableClaim(claims);
  if (unreadable !== undefined) return unreadable;
  if (expected.issuer !== '' && claims['iss'] !== expected.issuer) return 'invalid issuer (iss) claim';
  if (expected.audience !== '' && !audiencesOf(claims).includes(expected.audience))
    return 'invalid audience (aud) claim: audience claim does not match any expected audience';
  return timeProblem(claims, now / 1000);
}

/** The error of the first claim of a wrong type, in the order in which the service decodes them: the text claims come last. */
function unreadableClaim(claims: Claims): string | undefined {
  const audience = claims['aud'];
  const isAudience =
    audience === undefined ||
    typeof audience === 'string' ||
    (Array.isArray(audience) && audience.every((each) => typeof each === 'string'));
  if (!isAudience) return 'go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience';
  const isTime = (name: string) => ['number', 'undefined'].includes(typeof (claims[name] ?? undefined));
  if (!TIMES.every(isTime)) return 'go-jose/go-jose/jwt: expected number value to unmarshal NumericDate';
  const mistyped = TEXTS.find((name) => typeof (claims[name] ?? '') !== 'string');
  if (mistyped === undefined) return undefined;
  return `json: cannot unmarshal ${jsonKind(claims[mistyped])} into Go struct field Claims.${mistyped} of type string`;
}

function jsonKind(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? 'array' : typeof value;
}

function audiencesOf(claims: Claims): readonly unknown[] {
  const audience = claims['aud'];
  return Array.isArray(audience) ? audience : [audience];
}

/**
 * The error of the first time that is invalid at `now`, in seconds since 1970. Missing times are derived: the end from the later of
 * `nbf` and `iat`; the start from `iat`, else from the end. A JWT without any time, as in old secrets, never expires.
 */
function timeProblem(claims: Claims, now: number): string | undefined {
  const issued = wholeSeconds(claims['iat']);
  const givenStart = wholeSeconds(claims['nbf']);
  const givenEnd = wholeSeconds(claims['exp']);
  if (issued === 0 && givenStart === 0 && givenEnd === 0) return undefined;
  const end = givenEnd === 0 ? Math.max(issued, givenStart) + DEFAULT_LIFETIME : givenEnd;
  const start = givenStart || issued || end - DEFAULT_LIFETIME;
  if (now + CLOCK_SKEW < start) return 'invalid not before (nbf) claim: token not yet valid';
  if (now - CLOCK_SKEW > end || end >= FIRST_INVALID_SECOND)
    return 'invalid expiration time (exp) claim: token is expired';
  if (now + CLOCK_SKEW < issued) return 'invalid issued at (iat) claim: token issued in the future';
  return undefined;
}

/** The time in whole seconds; 0 if it is missing. */
function wholeSeconds(value: unknown): number {
  return typeof value === 'number' ? Math.trunc(value) : 0;
}

// The claims of a JWT by name: the service's libraries accept names in any case.

export type Claims = Readonly<Record<string, unknown>>;

/** The claim with exactly this name, else one whose name differs only in case. */
export function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return Object.entries(claims).find(([each]) => foldedName(each) === foldedName(name))?.[1];
}

/** The claims by name in lower case. If names differ only in case, the last one in byte order counts. */
function claimsIn(claims: Claims, names: readonly string[]): Record<string, unknown> {
  const sorted = Object.entries(claims).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    sorted.flatMap(([each, value]) => {
      const name = foldedName(each);
      return names.includes(name) ? [[name, value]] : [];
    }),
  );
}
