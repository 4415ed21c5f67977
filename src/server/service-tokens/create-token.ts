/**
 * `auth/token/create`: a token that makes another (wire/cluster-auth 2.9).
 * Invariant: a child has no policy that its parent lacks, unless the parent may do everything, and it ends with the
 * parent; a token of limited use has no children.
 */
import { answerAuth, answerError } from '../cluster-auth/answer.ts';
import { SYSTEM_LIMITS } from '../cluster-auth/mounts.ts';
import {
  asBoolean,
  asDuration,
  asInteger,
  asList,
  asText,
  readFields,
  type SentFields,
} from '../cluster-auth/values/field-coercion.ts';
import type { ClusterAuthDialect } from '../dialects.ts';
import { DEFAULT_POLICY } from '../identity/built-in-policies.ts';
import { ROOT_POLICY } from '../identity/service-policies.ts';
import { newServiceToken } from '../identity/tokens.ts';
import type { ServiceHandler } from '../sys/service-call.ts';
import { type Lifetime, lifetimeOf } from './lifetime.ts';
import { authDocument } from './token-document.ts';
import { tokenPolicies } from './token-policies.ts';
import { findByAccessor, PLAIN_GRANT, type ServiceToken, storeToken } from './token-store.ts';

const FIELDS = {
  policies: asList,
  no_default_policy: asBoolean,
  no_parent: asBoolean,
  ttl: asDuration,
  period: asDuration,
  explicit_max_ttl: asDuration,
  num_uses: asInteger,
  renewable: asBoolean,
  display_name: asText,
} as const;

type Sent = SentFields<typeof FIELDS>;

/** `POST auth/token/create`: 200 with the child, a service token. */
export const createToken: ServiceHandler = ({ services, identity, namespace, body }) => {
  const parent = identity.token;
  const read = readFields(FIELDS, body);
  if (!read.ok) return answerError(400, read.problem);
  const sent = read.value;
  const policies = childPolicies(parent, sent);
  const refusal = refusalOf(parent, policies);
  if (refusal !== undefined) return answerError(400, refusal);
  const { clusterAuth } = services.dialects;
  const lifetime = childLifetime(policies, sent, clusterAuth);
  if (lifetime === undefined) return answerError(400, 'max TTL must be greater than zero');
  const { ttl, warnings } = lifetime;
  const [now, raw] = [services.now(), newServiceToken(clusterAuth.tokenPrefixes.service)];
  const isOrphan = sent.no_parent === true && parent.policies.includes(ROOT_POLICY);
  const grant = {
    ...PLAIN_GRANT,
    namespace,
    displayName: sent.display_name ? `token-${sent.display_name}` : 'token',
    policies,
    expiresAt: ttl === 0 ? null : new Date(now.getTime() + ttl * 1000),
    creationTtl: ttl,
    explicitMaxTtl: sent.explicit_max_ttl ?? 0,
    period: sent.period ?? 0,
    numUses: Number(sent.num_uses ?? 0),
    renewable: ttl > 0 && sent.renewable !== false,
    parent: isOrphan ? null : parent.accessor,
  };
  const child = findByAccessor(services.database, storeToken(services.database, raw, grant, now), now);
  if (child === undefined) return answerError(500, 'the token ended as it was made');
  return answerAuth(authDocument(child, raw, ttl), warnings);
};

function childPolicies(parent: ServiceToken, { policies = [], no_default_policy }: Sent): string[] {
  return tokenPolicies(policies.length === 0 ? parent.policies : policies, no_default_policy !== true);
}

function refusalOf(parent: ServiceToken, policies: readonly string[]): string | undefined {
  if (parent.type === 'batch') return 'batch tokens cannot create more tokens';
  if (parent.numUses > 0) return 'restricted use token cannot generate child tokens';
  const inherited = new Set([...parent.policies, DEFAULT_POLICY]);
  const isSubset = inherited.has(ROOT_POLICY) || policies.every((policy) => inherited.has(policy));
  return isSubset ? undefined : 'child policies must be subset of parent';
}

/** 0 is for ever: a token that may do everything lives so unless it is said otherwise. */
function childLifetime(
  policies: readonly string[],
  { ttl = 0, period = 0, explicit_max_ttl = 0 }: Sent,
  { formatDuration }: ClusterAuthDialect,
): Lifetime | undefined {
  if (policies.includes(ROOT_POLICY) && ttl === 0 && period === 0) return { ttl: 0, warnings: [] };
  const wishes = { increment: 0, ttl, period, maxTtl: 0, explicitMaxTtl: explicit_max_ttl };
  return lifetimeOf(wishes, SYSTEM_LIMITS, 0, formatDuration);
}
