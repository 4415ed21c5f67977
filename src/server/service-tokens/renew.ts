/**
 * How long a renewal lets a token live (wire/cluster-auth 3).
 * Invariant: a token of a login reads its role again, so the new lifetimes hold, and without the role it is not renewed;
 * its policies, addresses and uses stay as they were given out.
 */
import { leaseLimitsOf, mountOfId, SYSTEM_LIMITS } from '../cluster-auth/mounts.ts';
import { storedRole } from '../cluster-auth/role.ts';
import type { Coerced } from '../cluster-auth/values/field-coercion.ts';
import type { Services } from '../services.ts';
import { type LeaseLimits, type Lifetime, lifetimeOf, type LifetimeWishes } from './lifetime.ts';
import type { ServiceToken } from './token-store.ts';

/** The lifetime from now on, or why there is none. `increment` is what the request asks for, in seconds. */
export function renewedLifetime(
  services: Services,
  token: ServiceToken,
  increment: number,
): Coerced<Lifetime> {
  const source = lifetimeSource(services, token);
  if (!source.ok) return source;
  const age = Math.trunc((services.now().getTime() - token.createdAt.getTime()) / 1000);
  const wishes = { ...source.value.wishes, increment, explicitMaxTtl: token.explicitMaxTtl };
  const { durationFormat } = services.dialects.clusterAuth;
  const lifetime = lifetimeOf(wishes, source.value.limits, age, durationFormat);
  return lifetime === undefined
    ? { ok: false, problem: 'past the max TTL, cannot renew' }
    : { ok: true, value: lifetime };
}

interface LifetimeSource {
  readonly wishes: Pick<LifetimeWishes, 'ttl' | 'period' | 'maxTtl'>;
  readonly limits: LeaseLimits;
}

function lifetimeSource(services: Services, token: ServiceToken): Coerced<LifetimeSource> {
  if (token.mount === null) {
    const wishes = { ttl: token.creationTtl, period: token.period, maxTtl: 0 };
    return { ok: true, value: { wishes, limits: SYSTEM_LIMITS } };
  }
  const mount = mountOfId(services.database, token.mount);
  const role = storedRole(services.database, token.mount, token.role);
  if (mount === undefined || role === undefined)
    return { ok: false, problem: `role ${token.role} does not exist during renewal` };
  if (!role.ok) return role;
  const { token_ttl: ttl, token_period: period, token_max_ttl: maxTtl } = role.value;
  const wishes = { ttl, period, maxTtl };
  return { ok: true, value: { wishes, limits: leaseLimitsOf(mount) } };
}
