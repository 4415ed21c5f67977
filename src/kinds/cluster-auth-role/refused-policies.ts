/** Policies that the service takes in a role, and refuses every login for. Pure. */
import type { Dialect } from '../../model/stack/target.ts';

/** Source: wire/cluster-auth 3. */
const reservedAsSpecified: ReadonlySet<string> = new Set(['response-wrapping', 'control-group']);

/** The first policy that no token of a login may have, as the role writes it, and why. The service compares lower case. */
export function refusedPolicy(
  policies: readonly string[],
  { reservedPolicies = reservedAsSpecified }: Pick<Dialect, 'reservedPolicies'>,
): { readonly policy: string; readonly why: string } | undefined {
  for (const policy of policies) {
    const name = policy.trim().toLowerCase();
    if (name === 'root') return { policy, why: 'no login gives a root token' };
    if (reservedPolicies.has(name)) return { policy, why: 'the service keeps it for itself' };
  }
  return undefined;
}
