/** Names of claims: the service takes them in any case (wire/cluster-auth 3). */
import type { Claims } from './parse-jwt.ts';

/** The claim of this name; else one whose name differs in case alone. */
export function claimNamed(claims: Claims, name: string): unknown {
  const exact = Object.hasOwn(claims, name) ? name : undefined;
  const found = exact ?? Object.keys(claims).find((each) => sameName(each) === sameName(name));
  return found === undefined ? undefined : claims[found];
}

/** The registered claims under their own names; of several spellings the service keeps the last in the order of bytes. */
export function registeredClaims(claims: Claims): Claims {
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(claims).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    if (registered.has(sameName(name))) found[sameName(name)] = value;
  return found;
}

const registered: ReadonlySet<string> = new Set(['aud', 'exp', 'iat', 'iss', 'jti', 'nbf', 'sub']);

/** Two letters beyond ASCII have a letter of ASCII as their other case. */
function sameName(name: string): string {
  return name.replaceAll('\u017f', 's').replaceAll('\u212a', 'k').toLowerCase();
}
