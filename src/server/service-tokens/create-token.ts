/**
 * `auth/token/create`: a token that makes another (wire/cluster-auth 2.9).
 * Invariants: what the child may have, child-rules.ts decides; unless it is an orphan, it ends with its parent, can be
 * used only from where its parent can, and is of the same entity.
 */
import { answerAuth, answerError, type SecretsAnswer } from '../cluster-auth/answer.ts';
import { SYSTEM_LIMITS } from '../cluster-auth/mounts.ts';
import { readFields } from '../cluster-auth/values/field-coercion.ts';
import type { ClusterAuthDialect } from '../dialects.ts';
import { ROOT_POLICY } from '../identity/service-policies.ts';
import { newServiceToken } from '../identity/tokens.ts';
import type { ServiceCall, ServiceHandler } from '../sys/service-call.ts';
import { CHILD_FIELDS, childPolicies, childRefusal, type ChildWish, parentRefusal } from './child-rules.ts';
import { type Lifetime, lifetimeOf } from './lifetime.ts';
import { authDocument } from './token-document.ts';
import {
  findByAccessor,
  findToken,
  forgetToken,
  PLAIN_GRANT,
  storeToken,
  type TokenGrant,
} from './token-store.ts';

const PATH = 'auth/token/create';

/** `POST auth/token/create`: 200 with the child. */
export const createToken: ServiceHandler = (call) =>
  call.services.database.transaction((): SecretsAnswer => {
    const { services, identity, namespace, body } = call;
    const read = readFields(CHILD_FIELDS, body);
    const barred = parentRefusal(identity.token);
    if (barred !== undefined) return answerError(400, barred);
    if (!read.ok) return answerError(400, read.problem);
    const isSudo = identity.can('sudo', PATH);
    const { reservedPolicies } = services.dialects.clusterAuth;
    const wish: ChildWish = { parent: identity.token, sent: read.value, namespace, isSudo, reservedPolicies };
    const policies = childPolicies(wish);
    const refusal = childRefusal(wish, policies);
    if (refusal !== undefined) return answerError(400, refusal);
    const lifetime = childLifetime(policies, wish, services.dialects.clusterAuth);
    if (lifetime === undefined) return answerError(400, 'max TTL must be greater than zero');
    if (lifetime.ttl === 0 && identity.token.expiresAt !== null)
      return answerError(400, 'expiring root tokens cannot create non-expiring root tokens');
    return storeChild(call, wish, { ...lifetime, policies });
  });

interface ChildTerms extends Lifetime {
  readonly policies: readonly string[];
}

function storeChild({ services }: ServiceCall, wish: ChildWish, terms: ChildTerms): SecretsAnswer {
  const { database, dialects } = services;
  const now = services.now();
  const grant = grantOf(wish, terms, now);
  const raw = wish.sent.id || newServiceToken(dialects.clusterAuth.tokenPrefixes[grant.type]);
  if (findToken(database, raw, now) !== undefined)
    return answerError(400, 'cannot create a token with a duplicate ID');
  // One that was spelt so before is over, and what it made must not come back.
  forgetToken(database, raw);
  const child = findByAccessor(database, storeToken(database, raw, grant, now), now);
  if (child === undefined) return answerError(500, 'the token ended as it was made');
  return answerAuth(authDocument(child, raw, terms.ttl), terms.warnings);
}

function grantOf({ parent, sent, namespace }: ChildWish, terms: ChildTerms, now: Date): TokenGrant {
  const { ttl, policies } = terms;
  const isBatch = sent.type === 'batch';
  const inherited = { parent: parent.accessor, boundCidrs: parent.boundCidrs, entityId: parent.entityId };
  return {
    ...PLAIN_GRANT,
    namespace,
    type: isBatch ? 'batch' : 'service',
    path: PATH,
    meta: sent.meta ?? null,
    displayName: sent.display_name ? `token-${sent.display_name}` : 'token',
    policies,
    expiresAt: ttl === 0 ? null : new Date(now.getTime() + ttl * 1000),
    creationTtl: ttl,
    explicitMaxTtl: sent.explicit_max_ttl ?? 0,
    period: sent.period ?? 0,
    numUses: Number(sent.num_uses ?? 0),
    renewable: ttl > 0 && !isBatch && sent.renewable !== false,
    ...(sent.no_parent === true ? {} : inherited),
  };
}

/** 0 is for ever: a token that may do everything lives so unless it is said otherwise. */
function childLifetime(
  policies: readonly string[],
  { sent: { ttl = 0, period = 0, explicit_max_ttl = 0 } }: ChildWish,
  { durationFormat }: ClusterAuthDialect,
): Lifetime | undefined {
  if (policies.includes(ROOT_POLICY) && ttl === 0 && period === 0)
    return { ttl: explicit_max_ttl, warnings: [] };
  const wishes = { increment: 0, ttl, period, maxTtl: 0, explicitMaxTtl: explicit_max_ttl };
  return lifetimeOf(wishes, SYSTEM_LIMITS, 0, durationFormat);
}
