/** The claims of a JWT by name: the service's libraries take names in any case. */
import { foldedName } from './label-selector.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** The claim of exactly this name, else one whose name differs only in case. */
export function claimOf(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return Object.entries(claims).find(([each]) => foldedName(each) === foldedName(name))?.[1];
}

/** The claims by name, in lower case; of names that differ only in case, the last one in byte order counts. */
export function claimsIn(claims: Claims, names: readonly string[]): Record<string, unknown> {
  const sorted = Object.entries(claims).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    sorted.flatMap(([each, value]) => {
      const name = foldedName(each);
      return names.includes(name) ? [[name, value]] : [];
    }),
  );
}
