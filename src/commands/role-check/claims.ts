/**
 * Reads which service account a JWT is for. JWTs from secrets have flat claims, projected JWTs have one object, whose members win over
 * the flat claims. Pure. Source: wire/cluster-auth 3.
 */
import { serviceAccountClaims as root } from '../../api/dialects.ts';
import { formatDuration } from '../../model/duration.ts';
import type { LoginCheck } from '../../model/login-check.ts';
import { quoted } from '../../model/quoted.ts';
import type { Claims } from './parse-jwt.ts';
import { failed, ofConfig, ofRole, open, passed, shown, shownList } from './results.ts';
import type { KnownConfig } from './rules.ts';

/** A member is empty if the JWT does not have it. */
export interface ServiceAccount {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** Either the account, or a clause about the first claim of a wrong type. */
type ReadAccount = { readonly account: ServiceAccount } | { readonly problem: string };

export function readServiceAccount(claims: Claims): ReadAccount {
  const reader = new ClaimReader();
  const flat = {
    namespace: reader.text(claims, `${root}/serviceaccount/namespace`),
    name: reader.text(claims, `${root}/serviceaccount/service-account.name`),
    uid: reader.text(claims, `${root}/serviceaccount/service-account.uid`),
  };
  // Of these two, only the types are checked.
  reader.text(claims, `${root}/serviceaccount/secret.name`);
  reader.list(claims, 'aud');
  const nested = reader.object(claims, root);
  const named = nested && reader.object(nested, 'serviceaccount', `${root}.serviceaccount`);
  const pod = nested && reader.object(nested, 'pod', `${root}.pod`);
  for (const member of ['name', 'uid']) if (pod) reader.text(pod, member, `${root}.pod.${member}`);
  const account = {
    ...flat,
    ...(nested && { namespace: reader.text(nested, 'namespace', `${root}.namespace`) }),
    ...(named && {
      name: reader.text(named, 'name', `${root}.serviceaccount.name`),
      uid: reader.text(named, 'uid', `${root}.serviceaccount.uid`),
    }),
  };
  return reader.problem === undefined ? { account } : { problem: reader.problem };
}

/** Reads members and keeps the first problem. */
class ClaimReader {
  problem: string | undefined;

  text(claims: Claims, name: string, path = name): string {
    const value = claimNamed(claims, name) ?? '';
    if (typeof value === 'string') return value;
    this.#note(`the claim ${quoted(path)} is not a text`);
    return '';
  }

  list(claims: Claims, name: string): void {
    if (!Array.isArray(claimNamed(claims, name) ?? [])) this.#note(`the claim ${quoted(name)} is not a list`);
  }

  object(claims: Claims, name: string, path = name): Claims | undefined {
    const value = claimNamed(claims, name) ?? undefined;
    if (value === undefined) return undefined;
    if (isObject(value)) return value;
    this.#note(`the claim ${quoted(path)} is not an object`);
    return undefined;
  }

  #note(problem: string): void {
    this.problem ??= problem;
  }
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Names of claims. The service ignores their case (wire/cluster-auth 3).

/** The claim with this name, else one whose name differs only in case. */
function claimNamed(claims: Claims, name: string): unknown {
  const exact = Object.hasOwn(claims, name) ? name : undefined;
  const found = exact ?? Object.keys(claims).find((each) => foldedName(each) === foldedName(name));
  return found === undefined ? undefined : claims[found];
}

/** The registered claims under their standard names. If a name has several spellings, the service uses the last in the order of bytes. */
export function registeredClaims(claims: Claims): Claims {
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(claims).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    if (registered.has(foldedName(name))) found[foldedName(name)] = value;
  return found;
}

const registered: ReadonlySet<string> = new Set(['aud', 'exp', 'iat', 'iss', 'jti', 'nbf', 'sub']);

/** The name without case, for comparisons. Two letters outside of ASCII (long s, Kelvin sign) are case variants of ASCII letters. */
function foldedName(name: string): string {
  return name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase();
}

// Checks the registered claims of a JWT: their types, the issuer, the audience, and the times. Pure. Source: wire/cluster-auth 3.

/** How far the clocks of two machines may differ, in seconds. */
const clockSkew = 60;

/** The lifetime of a JWT without a beginning or an end, in seconds. */
const assumedLifetime = 150;

const anotherJwt = 'use a JWT that the cluster itself issued for a service account';

/** In seconds since 1970: from this time on, the number overflows in the service, so the time counts as past. */
const overflowTime = 2 ** 63 - 62_135_596_800;

/** The types of the registered claims. If one is wrong, the service refuses to read the claims. */
export function checkTypes(claims: Claims): LoginCheck {
  const { aud } = claims;
  const oddTime = ['exp', 'iat', 'nbf'].find((name) => !isOptional(claims[name], 'number'));
  const oddText = ['iss', 'jti', 'sub'].find((name) => !isOptional(claims[name], 'string'));
  if (aud !== undefined && typeof aud !== 'string' && !isTexts(aud))
    return failed('claims', 'the claim "aud" is neither a text nor a list of texts', anotherJwt);
  if (oddTime !== undefined)
    return failed('claims', `the claim ${quoted(oddTime)} is not a number`, anotherJwt);
  if (oddText !== undefined)
    return failed('claims', `the claim ${quoted(oddText)} is not a text`, anotherJwt);
  return passed('claims', 'the registered claims have the types that they must have');
}

/** The service compares no issuer if the config has none and the dialect has no default (wire/cluster-auth 1.7). */
export function checkIssuer({ iss }: Claims, known: KnownConfig): LoginCheck {
  if (known.is !== 'known') return open('issuer', 'no config is known that would name an issuer');
  const { issuer } = known.config;
  if (issuer === '') return passed('issuer', 'the config compares no issuer');
  if (iss === issuer) return passed('issuer', `the issuer is ${shown(issuer)}`);
  const found =
    typeof iss === 'string' ? `the issuer of the JWT is ${shown(iss)}` : 'the JWT names no issuer';
  const fix = `set "issuer" of the config to that of the JWT, or "disableIssValidation: true"`;
  return failed('issuer', `${found}, and the config wants ${shown(issuer)}`, fix, ofConfig('issuer'));
}

/** @param audience of the role; empty for any */
export function checkAudience({ aud }: Claims, audience: string): LoginCheck {
  if (audience === '') return passed('audience', 'the role admits any audience');
  const audiences = isTexts(aud) ? aud : typeof aud === 'string' ? [aud] : [];
  if (audiences.includes(audience)) return passed('audience', `the JWT is for ${shown(audience)}`);
  const found =
    audiences.length === 0 ? 'the JWT names no audience' : `the JWT is for ${shownList(audiences)}`;
  const fix = `request the JWT for the audience ${shown(audience)}, or set "audience" of the role to one of the JWT`;
  return failed('audience', `${found}, and the role wants ${shown(audience)}`, fix, ofRole('audience'));
}

/**
 * A missing end is computed from the beginning, and a missing beginning from the time of issue or the end. A JWT without any time never
 * ends, such as the JWTs of secrets.
 * @param now in milliseconds since 1970
 */
export function checkTimes(claims: Claims, now: number): LoginCheck {
  const [issued, starts, ends] = [seconds(claims['iat']), seconds(claims['nbf']), seconds(claims['exp'])];
  if (issued === 0 && starts === 0 && ends === 0)
    return passed('times', 'the JWT has no times: it never ends');
  const end = ends || Math.max(issued, starts) + assumedLifetime;
  const start = starts || issued || end - assumedLifetime;
  const at = Math.floor(now / 1000);
  const clockFix = 'check the clocks of this machine and of the cluster, or wait';
  if (at + clockSkew < start)
    return failed(
      'times',
      `the JWT is not valid before ${moment(start)}, ${span(start - at)} from now`,
      clockFix,
    );
  if (at - clockSkew > end) {
    const given = ends === 0 ? ' (it names no end: 150 s after its beginning)' : '';
    const message = `the JWT expired ${span(at - end)} ago, at ${moment(end)}${given}`;
    return failed('times', message, 'request a fresh JWT');
  }
  if (end >= overflowTime)
    return failed(
      'times',
      `the JWT ends at ${moment(end)}, which the service cannot represent`,
      'request a fresh JWT',
    );
  if (at + clockSkew < issued)
    return failed('times', `the JWT was issued in the future, at ${moment(issued)}`, clockFix);
  return passed('times', `the JWT is valid for another ${span(Math.max(0, end - at))}`);
}

/** The seconds of a time claim. Zero and a missing claim are the same. */
function seconds(value: unknown): number {
  return typeof value === 'number' ? Math.trunc(value) : 0;
}

/** ISO 8601, or the number if it is too large for a date. */
function moment(at: number): string {
  const date = new Date(at * 1000);
  return Number.isNaN(date.getTime()) ? `${at} s after 1970` : date.toISOString().replace('.000', '');
}

/** A duration for people; from two days on, in whole days. */
function span(length: number): string {
  const day = 86_400;
  return length < 2 * day ? formatDuration(length) : `${Math.floor(length / day)} days`;
}

function isOptional(value: unknown, type: 'number' | 'string'): boolean {
  return value === undefined || value === null || typeof value === type;
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
