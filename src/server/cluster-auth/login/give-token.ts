/**
 * The token of a login: the effect of a role's `token_…` fields (wire/cluster-auth 3).
 * Invariants: the mount's limits hold over the role's; no login makes a token that may do everything; one transaction.
 */
import { newId } from '../../identifiers.ts';
import { newServiceToken } from '../../identity/tokens.ts';
import { ROOT_POLICY } from '../../identity/service-policies.ts';
import { type Lifetime, lifetimeOf } from '../../service-tokens/lifetime.ts';
import { authDocument } from '../../service-tokens/token-document.ts';
import { tokenPolicies } from '../../service-tokens/token-policies.ts';
import {
  findByAccessor,
  storeToken,
  type TokenGrant,
  type TokenType,
} from '../../service-tokens/token-store.ts';
import { type AuthDocument, answerError, type SecretsAnswer } from '../answer.ts';
import { leaseLimitsOf, type Mount, mountOfId } from '../mounts.ts';
import type { Role } from '../role-fields.ts';
import type { CheckedAccount } from './check-account.ts';
import type { LoginCall } from './login-call.ts';
import type { ServiceAccount } from './jwt/service-account.ts';

/** A login that was found good. */
interface GoodLogin extends CheckedAccount {
  readonly role: Role;
  /** As the request wrote it. */
  readonly roleName: string;
}

type GivenToken =
  | { readonly auth: AuthDocument; readonly warnings: readonly string[] }
  | { readonly refused: SecretsAnswer };

/** Makes the token; the refusals are those of roles that nobody can log in with. */
export function giveToken(call: LoginCall, login: GoodLogin): GivenToken {
  const { services } = call;
  return services.database.transaction((): GivenToken => {
    const mount = mountOfId(services.database, call.mount.id);
    if (mount === undefined) return { refused: answerError(403, 'permission denied') };
    const { role } = login;
    const wishes = {
      increment: 0,
      ttl: role.token_ttl,
      period: role.token_period,
      maxTtl: role.token_max_ttl,
      explicitMaxTtl: role.token_explicit_max_ttl,
    };
    const { clusterAuth } = services.dialects;
    const lifetime = lifetimeOf(wishes, leaseLimitsOf(mount), 0, clusterAuth.durationFormat);
    if (lifetime === undefined) return { refused: answerError(500, 'max TTL must be greater than zero') };
    const policies = tokenPolicies(role.token_policies, !role.token_no_default_policy);
    if (policies.includes(ROOT_POLICY))
      return { refused: answerError(400, 'auth methods cannot create root tokens') };
    const reserved = policies.find((policy) => clusterAuth.reservedPolicies.includes(policy));
    if (reserved !== undefined) return { refused: answerError(400, `cannot assign policy "${reserved}"`) };
    const grant = grantOf(call, login, { mount, lifetime, policies });
    const [now, raw] = [services.now(), newServiceToken(clusterAuth.tokenPrefixes[grant.type])];
    const token = findByAccessor(services.database, storeToken(services.database, raw, grant, now), now);
    if (token === undefined) return { refused: answerError(500, 'the token ended as it was made') };
    return { auth: authDocument(token, raw, lifetime.ttl), warnings: lifetime.warnings };
  });
}

interface GrantTerms {
  readonly mount: Mount;
  readonly lifetime: Lifetime;
  readonly policies: readonly string[];
}

function grantOf(call: LoginCall, login: GoodLogin, terms: GrantTerms): TokenGrant {
  const { role, roleName, account } = login;
  const { mount, lifetime, policies } = terms;
  const type = typeOf(mount, role);
  const isBatch = type === 'batch';
  return {
    displayName: `${mount.path.replaceAll('/', '-')}-${account.namespace}-${account.name}`,
    policies,
    namespace: mount.namespace,
    type,
    path: `auth/${mount.path}/login`,
    meta: { role: roleName, ...metadataOf(account) },
    expiresAt: new Date(call.services.now().getTime() + lifetime.ttl * 1000),
    creationTtl: lifetime.ttl,
    explicitMaxTtl: isBatch ? 0 : role.token_explicit_max_ttl,
    period: isBatch ? 0 : role.token_period,
    numUses: isBatch ? 0 : Number(role.token_num_uses),
    boundCidrs: boundTo(call, role),
    renewable: !isBatch,
    entityId: entityOf(call, mount, login),
    mount: mount.id,
    role: roleName,
    parent: null,
  };
}

/** A mount that names a kind without `default-` gives that kind alone; else the role chooses. */
function typeOf({ settings }: Mount, { token_type }: Role): TokenType {
  const ofMount = settings.token_type ?? 'default-service';
  const chosen = ofMount.startsWith('default-') && token_type !== 'default' ? token_type : ofMount;
  return chosen.endsWith('batch') ? 'batch' : 'service';
}

function boundTo({ address }: LoginCall, role: Role): readonly string[] {
  return role.token_strictly_bind_ip === true && address !== undefined ? [address] : role.token_bound_cidrs;
}

function metadataOf(account: ServiceAccount): Readonly<Record<string, string>> {
  return {
    service_account_name: account.name,
    service_account_namespace: account.namespace,
    service_account_secret_name: account.secretName,
    service_account_uid: account.uid,
  };
}

/** The entity behind the alias: the same one at each login, with the metadata of the newest. */
function entityOf({ services }: LoginCall, mount: Mount, login: GoodLogin): string {
  const { alias, account, annotated } = login;
  const row = services.database.get<{ id: string }>(
    `INSERT INTO service_entities (id, mount, alias_name, alias_metadata, created_at)
     VALUES (:id, :mount, :alias, :metadata, :now)
     ON CONFLICT (mount, alias_name) DO UPDATE SET alias_metadata = excluded.alias_metadata
     RETURNING id`,
    {
      id: newId('entity'),
      mount: mount.id,
      alias,
      metadata: JSON.stringify({ ...annotated, ...metadataOf(account) }),
      now: services.now().toISOString(),
    },
  );
  return row?.id ?? '';
}
