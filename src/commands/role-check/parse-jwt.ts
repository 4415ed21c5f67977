/**
 * Parses a JWT: its form, header and claims, and checks its signature. Like the service, it refuses ambiguous texts, such as a member
 * that occurs twice (wire/cluster-auth 3).
 */
import {
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  verify as verifyBytes,
  X509Certificate,
} from 'node:crypto';
import {
  certificateIn,
  isSignedWithSha1,
  pemBlocks,
  publicKeyIn,
} from '../../kinds/cluster-auth-config/certificates.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { LoginCheck } from '../../model/login-check.ts';
import { failed, ofConfig, open, passed, shown } from './results.ts';
import type { KnownConfig } from './rules.ts';

/** Claims as the JWT has them, of any type. */
export type Claims = Readonly<Record<string, unknown>>;

export interface ParsedJwt {
  readonly algorithm: string;
  readonly claims: Claims;
  readonly signature: Buffer;
  /** the bytes that the signature has to be made for */
  readonly signed: Buffer;
  /** whether the header demands an extension that the service does not know: then no key verifies the JWT */
  readonly demandsExtension: boolean;
  /** whether the service accepts this form only with `pemKeys` in its config */
  readonly needsKeys: boolean;
}

/** Why a text is not a JWT, as a clause. */
interface NoJwt {
  readonly problem: string;
}

/** In characters. */
const longest = 256 * 1024;

const wrongForm = 'the text is not a JWT: three parts of base64url, the first two of them JSON';

export function parseJwt(text: string): ParsedJwt | NoJwt {
  if (text.length > longest) {
    const problem = `the text is longer than any JWT that is accepted: ${text.length} characters of ${longest}`;
    return { problem };
  }
  const read = readParts(looseParts(text.replaceAll(/[\t\n\f\r ]/g, '')));
  return 'problem' in read ? read : { ...read, needsKeys: 'problem' in readParts(compactParts(text)) };
}

/** The three parts in base64url, and the unprotected header of a JWS in JSON. */
interface Parts {
  readonly head: string;
  readonly body: string;
  readonly signature: string;
  readonly unprotected: JsonObject;
}

/** Three parts with dots between them. */
function compactParts(text: string): Parts | undefined {
  const [head, body, signature, ...more] = text.split('.');
  if (head === undefined || body === undefined || signature === undefined || more.length > 0)
    return undefined;
  return { head, body, signature, unprotected: {} };
}

/** The parts of a compact JWT, or of a JWS in JSON with one signature; both may have padding. */
function looseParts(text: string): Parts | undefined {
  if (!text.startsWith('{')) return withoutPadding(compactParts(text));
  const value = parse(text);
  if (!isJsonObject(value) || repeatsMember(text)) return undefined;
  const { signatures, payload: body } = value;
  const several = Array.isArray(signatures) ? signatures : [value];
  const [one] = several;
  if (several.length !== 1 || !isJsonObject(one)) return undefined;
  const { protected: head, signature, header: unprotected = {} } = one;
  if (typeof head !== 'string' || typeof body !== 'string' || typeof signature !== 'string') return undefined;
  return isJsonObject(unprotected) ? withoutPadding({ head, body, signature, unprotected }) : undefined;
}

function withoutPadding(parts: Parts | undefined): Parts | undefined {
  if (parts === undefined) return undefined;
  const [head = '', body = '', signature = ''] = [parts.head, parts.body, parts.signature].map((part) => {
    const end = [...part].findLastIndex((sign) => sign !== '=');
    return part.slice(0, end + 1);
  });
  return { ...parts, head, body, signature };
}

function readParts(parts: Parts | undefined): Omit<ParsedJwt, 'needsKeys'> | NoJwt {
  const [head, body, signature] =
    parts === undefined ? [] : [parts.head, parts.body, parts.signature].map(bytesOf);
  if (parts === undefined || head === undefined || body === undefined || signature === undefined)
    return { problem: wrongForm };
  const header = head.length === 0 ? { members: {} } : readPart(head, 'header');
  if ('problem' in header) return header;
  const claims = readPart(body, 'claims');
  if ('problem' in claims) return claims;
  const { unprotected } = parts;
  const merged = { ...unprotected, ...header.members };
  const { alg } = merged;
  if (typeof alg !== 'string') return { problem: wrongForm };
  if (!isReadableHeader(merged)) return { problem: 'the header of the JWT holds a key that cannot be read' };
  if ((unprotected['nonce'] ?? '') !== '') return { problem: 'a header that is not signed has a nonce' };
  const payload = header.members['b64'] === false ? body : Buffer.from(body.toString('base64url'));
  return {
    algorithm: alg,
    claims: claims.members,
    signature,
    signed: Buffer.concat([Buffer.from(`${head.toString('base64url')}.`), payload]),
    demandsExtension: demandsExtension(header.members['crit']) || (unprotected['crit'] ?? null) !== null,
  };
}

/** The service knows only one extension, `b64`: whether the payload is encoded. */
function demandsExtension(critical: Json | undefined = null): boolean {
  if (critical === null) return false;
  return !Array.isArray(critical) || critical.some((name) => name !== 'b64');
}

function bytesOf(part: string): Buffer | undefined {
  return /^[\w-]*$/.test(part) && part.length % 4 !== 1 ? Buffer.from(part, 'base64url') : undefined;
}

/** The members of a part. Claims that are `null` count as an empty object. */
function readPart(bytes: Buffer, name: 'header' | 'claims'): { readonly members: JsonObject } | NoJwt {
  const json = decode(bytes);
  const value = json === undefined ? undefined : parse(json);
  if (value === null && name === 'claims') return { members: {} };
  if (json === undefined || !isJsonObject(value) || !isOfFiniteNumbers(value)) return { problem: wrongForm };
  return repeatsMember(json) ? { problem: `the JWT has a member twice in its ${name}` } : { members: value };
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parse(json: string): Json | undefined {
  try {
    return JSON.parse(json) as Json;
  } catch {
    return undefined;
  }
}

/** Whether all numbers are finite. `JSON.parse` reads a number that is too large as infinity, which is not a number of JSON. */
function isOfFiniteNumbers(value: Json): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isOfFiniteNumbers);
}

/** The name of a member, another text, or the beginning or end of an object. */
const tokens = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|([{}])/g;

/** Whether any object in the text has two members of the same name. @param json valid JSON */
function repeatsMember(json: string): boolean {
  const objects: Set<string>[] = [];
  for (const [, text = '', colon, bracket] of json.matchAll(tokens)) {
    if (bracket === '{') objects.push(new Set());
    else if (bracket === '}') objects.pop();
    if (colon === undefined) continue;
    const [name, names] = [JSON.parse(text) as string, objects.at(-1)];
    if (names?.has(name)) return true;
    names?.add(name);
  }
  return false;
}

// Checks the keys in the header of a JWT. The service does not use them, but refuses a header that it cannot read
// (wire/cluster-auth 3).

const curves = ['P-256', 'P-384', 'P-521', 'Ed25519'];

/** Members that are `null` count as missing. */
function isReadableHeader(header: JsonObject): boolean {
  const { kid, nonce, jwk, x5c } = header;
  return (
    [kid, nonce].every((text = null) => text === null || typeof text === 'string') &&
    isKey(jwk) &&
    isChain(x5c)
  );
}

/** Whether the member is missing, or is a public key: not a private and not a shared key. */
function isKey(jwk: Json = null): boolean {
  if (jwk === null) return true;
  if (!isJsonObject(jwk) || jwk['d'] !== undefined) return false;
  const isKnown = jwk['kty'] === 'RSA' || curves.includes(String(jwk['crv']));
  return isKnown && canRead(() => createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }));
}

function isChain(chain: Json = null): boolean {
  if (chain === null) return true;
  const isCertificate = (link: Json) =>
    typeof link === 'string' && canRead(() => new X509Certificate(Buffer.from(link, 'base64')));
  return Array.isArray(chain) && chain.every(isCertificate);
}

function canRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

// Checks whether one of the config's keys signed a JWT. Each key is tried only with the algorithms of its type, so that a public key is
// never used as a shared secret.

/** By algorithm: the hash, and the curve that an elliptic key must have. */
const algorithms: ReadonlyMap<string, { readonly hash: string; readonly curve?: string }> = new Map([
  ['RS256', { hash: 'sha256' }],
  ['RS384', { hash: 'sha384' }],
  ['RS512', { hash: 'sha512' }],
  ['ES256', { hash: 'sha256', curve: 'prime256v1' }],
  ['ES384', { hash: 'sha384', curve: 'secp384r1' }],
  ['ES512', { hash: 'sha512', curve: 'secp521r1' }],
]);
const accepted = [...algorithms.keys()];

/** In bits: the service does not use shorter RSA keys. */
const shortestKey = 1024;

/** Source: wire/cluster-auth 3. */
export function checkSignature(jwt: ParsedJwt, known: KnownConfig): LoginCheck {
  const { algorithm, signature } = jwt;
  if (!accepted.includes(algorithm)) {
    const message = `the JWT is signed with ${shown(algorithm)}, and only ${accepted.join(', ')} are accepted`;
    return failed('signature', message, 'use a JWT that the cluster itself issued for a service account');
  }
  if (signature.length === 0) {
    const fix = 'use the JWT as the cluster issued it';
    return failed('signature', 'the JWT has no signature', fix);
  }
  if (known.is !== 'known')
    return open(
      'signature',
      `the JWT is signed with ${shown(algorithm)}; no config is known to verify it with`,
    );
  const { pemKeys } = known.config;
  if (pemKeys.length === 0)
    return open('signature', 'the config has no "pemKeys": the cluster alone decides whether it is genuine');
  if (jwt.demandsExtension) {
    const message = 'the header of the JWT has "crit" with an extension that the service does not know';
    return failed('signature', message, 'use the JWT as the cluster issued it');
  }
  return verifyWith(pemKeys, jwt);
}

function verifyWith(pemKeys: readonly string[], jwt: ParsedJwt): LoginCheck {
  const verdicts = pemKeys.map((pem) => verify(pem, jwt));
  const { length } = pemKeys;
  if (verdicts.includes('good'))
    return passed(
      'signature',
      `${length === 1 ? 'the key' : `one of ${length} keys`} in "pemKeys" verifies it`,
    );
  if (verdicts.includes('sha1')) {
    const message =
      'only the key of a certificate that was signed with SHA-1 verifies it, and newer releases of the service refuse those';
    return open('signature', message);
  }
  const unusable = verdicts.filter((verdict) => verdict === 'unusable').length;
  if (unusable > 0) {
    const which = `${unusable} of ${length} elements of "pemKeys"`;
    return open('signature', `${which} cannot be used here, and no other one verifies the JWT`);
  }
  const keys =
    length === 1 ? 'the key in "pemKeys" does not verify' : `none of ${length} keys in "pemKeys" verifies`;
  const message = `${keys} the JWT: another cluster issued it, or it was changed`;
  const fix =
    'add the public key of the cluster that issued the JWT to "pemKeys" of the config, each key as a separate element';
  return failed('signature', message, fix, ofConfig('pemKeys'));
}

type Verdict = 'good' | 'bad' | 'sha1' | 'unusable';

function verify(pem: string, jwt: ParsedJwt): Verdict {
  // Like the service, reads only the first block of an element.
  const [block] = pemBlocks(pem);
  const key = block && publicKeyIn(block);
  if (block === undefined || key === undefined) return 'unusable';
  // A key of another type cannot have made this signature, regardless of the algorithm that the header names.
  const isRsa = jwt.algorithm.startsWith('RS');
  if (key.asymmetricKeyType !== (isRsa ? 'rsa' : 'ec')) return 'bad';
  if (isRsa && (key.asymmetricKeyDetails?.modulusLength ?? 0) < shortestKey) return 'unusable';
  if (!isSignedWith(key, jwt)) return 'bad';
  const certificate = certificateIn(block);
  return certificate !== undefined && isSignedWithSha1(certificate) ? 'sha1' : 'good';
}

function isSignedWith(key: KeyObject, { algorithm, signed, signature }: ParsedJwt): boolean {
  const { hash, curve } = algorithms.get(algorithm) ?? {};
  if (key.asymmetricKeyDetails?.namedCurve !== curve) return false;
  return verifyBytes(hash, signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
}
