/**
 * How tokens are shown: in a lookup, and after a login, a creation or a renewal (wire/cluster-auth 2.9, 3).
 * Invariant: the raw token is shown only to its sender or receiver.
 */
import type { AuthDocument } from './answer.ts';
import type { ServiceToken } from './token-record.ts';

/** What a look-up answers. `id` is the raw token where the caller knows it, else empty. */
export function lookUpDocument(token: ServiceToken, id: string, now: Date): Record<string, unknown> {
  const { expiresAt, renewedAt } = token;
  return {
    accessor: shownAccessor(token),
    creation_time: Math.trunc(token.createdAt.getTime() / 1000),
    creation_ttl: token.creationTtl,
    display_name: token.displayName,
    entity_id: token.entityId,
    expire_time: expiresAt?.toISOString() ?? null,
    explicit_max_ttl: token.explicitMaxTtl,
    id,
    issue_time: token.createdAt.toISOString(),
    meta: token.meta,
    num_uses: token.usesLeft,
    orphan: token.parent === null,
    path: token.path,
    policies: token.policies,
    renewable: token.renewable,
    ttl: expiresAt === null ? 0 : Math.trunc((expiresAt.getTime() - now.getTime()) / 1000),
    type: token.type,
    ...(token.period > 0 ? { period: token.period } : {}),
    ...(token.boundCidrs.length > 0 ? { bound_cidrs: token.boundCidrs } : {}),
    ...(token.namespace === '' ? {} : { namespace_path: `${token.namespace}/` }),
    ...(renewedAt === null
      ? {}
      : {
          last_renewal: renewedAt.toISOString(),
          last_renewal_time: Math.trunc(renewedAt.getTime() / 1000),
        }),
  };
}

/** The `auth` of an answer that gives or renews a token. `ttl` is in seconds. */
export function authDocument(token: ServiceToken, raw: string, ttl: number): AuthDocument {
  return {
    client_token: raw,
    accessor: shownAccessor(token),
    policies: token.policies,
    ...(token.policies.length === 0 ? {} : { token_policies: token.policies }),
    metadata: token.meta,
    lease_duration: ttl,
    renewable: token.renewable,
    entity_id: token.entityId,
    token_type: token.type,
    orphan: token.parent === null,
    mfa_requirement: null,
    num_uses: token.numUses,
  };
}

function shownAccessor({ type, accessor }: ServiceToken): string {
  return type === 'batch' ? '' : accessor;
}
