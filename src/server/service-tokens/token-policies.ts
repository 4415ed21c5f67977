/** Which policies a token gets out of those that somebody wrote down (wire/cluster-auth 3). */
import { DEFAULT_POLICY } from '../identity/built-in-policies.ts';
import { ROOT_POLICY } from '../identity/service-policies.ts';

/** In lower case, sorted, each once, with `default` unless it is not wanted; `root` stands alone. */
export function tokenPolicies(written: readonly string[], addDefault: boolean): string[] {
  const policies = new Set(
    written.map((policy) => policy.trim().toLowerCase()).filter((policy) => policy !== ''),
  );
  if (policies.has(ROOT_POLICY)) return [ROOT_POLICY];
  if (addDefault) policies.add(DEFAULT_POLICY);
  return [...policies].toSorted();
}
