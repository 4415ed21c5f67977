/** Policies that the service takes in a role, and refuses every login for. Pure. */

/** Why no login gives them, as a clause (wire/cluster-auth 3). */
const reasons: ReadonlyMap<string, string> = new Map([
  ['root', 'no login gives a root token'],
  ['response-wrapping', 'the service keeps it for itself'],
  ['control-group', 'the service keeps it for itself'],
]);

/** The first policy that no token of a login may have, as the role writes it, and why. The service compares lower case. */
export function refusedPolicy(
  policies: readonly string[],
): { readonly policy: string; readonly why: string } | undefined {
  for (const policy of policies) {
    const why = reasons.get(policy.trim().toLowerCase());
    if (why !== undefined) return { policy, why };
  }
  return undefined;
}
