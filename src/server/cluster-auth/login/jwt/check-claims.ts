/**
 * The registered claims of a JWT: who issued it, for whom, and when it is valid (wire/cluster-auth 3).
 * Invariant: pure; the text of the first claim that does not hold, in the original's order.
 */
import { type Claims, claimsIn } from './named-claims.ts';

/** What the config and the role want of a JWT. Empty texts want nothing. */
interface ExpectedClaims {
  readonly issuer: string;
  readonly audience: string;
}

/** With a form of their own, in the order in which they are decoded, and texts. */
const TIMES = ['exp', 'iat', 'nbf'];
const TEXTS = ['iss', 'jti', 'sub'];

/** How far the clocks of two machines may differ, in seconds. */
const CLOCK_SKEW = 60;

/** The first second, since 1970, for which the services have no number any more: they take it for long past. */
const NO_SECOND = 2 ** 63 - 62_135_596_800;

/** How long a JWT lives, in seconds, that does not say so. */
const ASSUMED_LIFETIME = 150;

/** Why the claims do not hold; undefined when they do. `now` is in milliseconds since 1970. */
export function claimsProblem(all: Claims, expected: ExpectedClaims, now: number): string | undefined {
  const claims = claimsIn(all, ['aud', ...TIMES, ...TEXTS]);
  const unreadable = unreadableClaim(claims);
  if (unreadable !== undefined) return unreadable;
  if (expected.issuer !== '' && claims['iss'] !== expected.issuer) return 'invalid issuer (iss) claim';
  if (expected.audience !== '' && !audiencesOf(claims).includes(expected.audience))
    return 'invalid audience (aud) claim: audience claim does not match any expected audience';
  return timeProblem(claims, now / 1000);
}

/** Claims of a type that they cannot have: in the order in which they are decoded, those with forms of their own first. */
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
 * A time that is missing follows from the others: the end from the later beginning, the beginning from the issue, or
 * from the end. A JWT without any time never ends: those of old secrets are such.
 */
function timeProblem(claims: Claims, now: number): string | undefined {
  const issued = wholeSeconds(claims['iat']);
  const givenStart = wholeSeconds(claims['nbf']);
  const givenEnd = wholeSeconds(claims['exp']);
  if (issued === 0 && givenStart === 0 && givenEnd === 0) return undefined;
  const end = givenEnd === 0 ? Math.max(issued, givenStart) + ASSUMED_LIFETIME : givenEnd;
  const start = givenStart || issued || end - ASSUMED_LIFETIME;
  if (now + CLOCK_SKEW < start) return 'invalid not before (nbf) claim: token not yet valid';
  if (now - CLOCK_SKEW > end || end >= NO_SECOND)
    return 'invalid expiration time (exp) claim: token is expired';
  if (now + CLOCK_SKEW < issued) return 'invalid issued at (iat) claim: token issued in the future';
  return undefined;
}

/** Zero is the same as missing. */
function wholeSeconds(value: unknown): number {
  return typeof value === 'number' ? Math.trunc(value) : 0;
}
