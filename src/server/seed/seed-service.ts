/**
 * What a seed says of the secrets service: mounts, policies and tokens.
 * Invariant: durations and times were checked by read-seed.ts; here they only become numbers.
 */
import { CLUSTER_AUTH_METHOD, storeMount } from '../cluster-auth/mounts.ts';
import { canonicalBlocks } from '../cluster-auth/values/address-blocks.ts';
import { hashToken } from '../identity/tokens.ts';
import { tokenPolicies } from '../service-tokens/token-policies.ts';
import { PLAIN_GRANT, storeToken } from '../service-tokens/token-store.ts';
import { expiryOf, secondsOf } from './seed-context.ts';
import type { PolicySeed, ServiceTokenSeed } from './seed.ts';
import type { Seeding } from './seeding.ts';

/** A cluster-auth mount in the root namespace; one that is there stays as it is. */
export function applyMount({ database, now, isNew }: Seeding, path: string): void {
  if (!isNew('mount', path)) return;
  storeMount(database, { namespace: '', path, type: CLUSTER_AUTH_METHOD, settings: {} }, now);
}

/** A policy of the root namespace, its name in lower case, as the API keeps it; one of the same name is replaced. */
export function applyPolicy({ database, isNew }: Seeding, policy: PolicySeed): void {
  const name = policy.name.toLowerCase();
  if (!isNew('policy', name)) return;
  database.run(
    `INSERT INTO service_policies (namespace, name, rules, source) VALUES ('', :name, :rules, '')
     ON CONFLICT (namespace, name) DO UPDATE SET rules = excluded.rules, source = ''`,
    { name, rules: JSON.stringify(policy.rules) },
  );
}

/** A token of the root namespace. Without a ttl, a period or an end it lives for ever, and is not renewed. */
export function applyServiceToken({ database, now, isNew }: Seeding, seed: ServiceTokenSeed): void {
  if (!isNew('service-token', hashToken(seed.token))) return;
  const period = secondsOf(seed.period);
  const explicitMaxTtl = secondsOf(seed['explicit-max-ttl']);
  const end = expiryOf(seed) ?? undefined;
  const boundCidrs = canonicalBlocks(seed['bound-cidrs'] ?? []);
  const asked = period || secondsOf(seed.ttl) || explicitMaxTtl;
  const capped = explicitMaxTtl > 0 ? Math.min(asked, explicitMaxTtl) : asked;
  const creationTtl = end === undefined ? capped : Math.trunc((end.getTime() - now.getTime()) / 1000);
  const lasting = end ?? (capped > 0 ? new Date(now.getTime() + capped * 1000) : null);
  storeToken(
    database,
    seed.token,
    {
      ...PLAIN_GRANT,
      displayName: seed.name ?? 'seeded',
      policies: tokenPolicies(seed.policies, false),
      type: seed.type ?? 'service',
      expiresAt: lasting,
      creationTtl,
      explicitMaxTtl,
      period,
      numUses: seed['num-uses'] ?? 0,
      boundCidrs: boundCidrs.ok ? boundCidrs.value : [],
      renewable: seed.renewable ?? (lasting !== null && seed.type !== 'batch'),
      meta: seed.meta ?? null,
    },
    now,
  );
}
